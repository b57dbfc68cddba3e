/*
 * What the recorded system knows of a record, field by field.
 */
#ifndef PERFLUA_MACHINE_FIELDS_H
#define PERFLUA_MACHINE_FIELDS_H

#include "symbols/lines/lines.h"
#include "places.h"

/*
 * What is asked of a record; PD_NIL if it is not known. Its text ends with a NUL; it is the
 * machine's or the binary's, the same of the same name; or the value's own; or the resolver's
 * until it is asked again (PD_M_STACK …). PD_M_MAP becomes a view of the record. PD_M_INLINED
 * is for pm_inlined.
 */
void pm_field(struct pm_resolver *resolver, const struct pd_record *rec,
	      const struct pd_asked *asked, struct pd_value *out);

/*
 * What pm_field says of PD_M_COMM, by the shortest way: a resolver keeps the names of the
 * threads it met, and from when to when they hold. `out` is untouched if the record has no
 * thread.
 */
void pm_comm(struct pm_resolver *resolver, const struct pd_record *rec, struct pd_value *out);

/* The name of a thread of a recording, and when it has it. */
struct pm_called {
	uint64_t key;	     /* pm_key_of */
	uint64_t taken;	     /* the machine's, then, and one; 0: free */
	uint64_t from, last; /* the times that it holds in */
	struct pd_text text; /* the machine's; p is NULL: it has none, or it is not known */
};

/*
 * The same for whoever has read tid and time of the record. NULL: pm_comm says it. It is the
 * resolver's until it is asked for another thread's; as long as the machine takes nothing in it
 * holds for records of the same recording.
 */
const struct pm_called *pm_comm_then(struct pm_resolver *resolver, const struct pd_record *rec,
				     int32_t tid, uint64_t time);

/* The functions inlined at the address that is asked for, innermost first; their number. */
size_t pm_inlined(struct pm_resolver *resolver, const struct pd_record *rec,
		  const struct pd_asked *asked, const struct ps_line **lines);

/* A member of pd_view_map of a map; field is PD_M_MAP_…. */
void pm_map_member(const struct pm_map *map, uint32_t field, struct pd_value *out);

/*
 * The call chain of a sample in one string, as one of these fields has it. Ends with a NUL; the
 * resolver's until the next one. False: it has no ip, or no memory.
 *
 * PD_M_STACK: caller first, joined by ";". A frame without a symbol is the name of its binary
 * in brackets, or [unknown]. PD_M_ANNOTATED_STACK: the same with _[k] behind the names of the
 * kernel's frames, a guest's and a hypervisor's too, and _[j] behind those of code made at run
 * time. PD_M_FRAMES: with binaries, callee first: for each frame perf's letter for its cpumode,
 * the binary's name, a tab, the function or else another tab and the address in the binary, a
 * line feed. The first is that of ip, also where the call chain does not begin with it.
 */
bool pm_chain_text(struct pm_resolver *resolver, const struct pd_record *rec,
		   enum pd_machine_field field, struct pd_text *out);

/*
 * Makes the text of a tracepoint's sample as perf script shows it, in the version of perf that
 * `text` (enum pd_perf_text) is of. It ends with a NUL and is the resolver's until the next
 * one. Returns false if the sample is of no tracepoint whose format is known, or without
 * memory.
 */
bool pm_message(struct pm_resolver *resolver, const struct pd_record *rec, unsigned text,
		struct pd_text *out);

/*
 * Returns whether the binary of that name stands for code made at run time: a map file of
 * perf's, or what `perf inject --jit` writes.
 */
bool pm_is_jit_name(const char *name);

/*
 * Writes the name that a frame has in PD_M_STACK to `to`, without a NUL: of `symbol`, or if
 * that is not known (p is NULL) of the binary, or if nothing was mapped (NULL) PM_UNKNOWN.
 * Returns its size; with `to` NULL nothing is written, and it is at most what is returned.
 */
size_t pm_frame_name(struct pd_text symbol, const char *binary, char *to);

/* The letter that a frame is annotated with; '\0': with none. */
char pm_stack_letter(const struct pm_place *place, enum pd_cpumode mode);

/*
 * What one frame is in these: its name, with a letter unless that is '\0', and its line. The
 * resolver's until it is asked again for anything. False: no memory.
 */
bool pm_stack_name(struct pm_resolver *resolver, const struct pm_place *place, char letter,
		   struct pd_text *out);
bool pm_frames_line(struct pm_resolver *resolver, const struct pm_place *place,
		    enum pd_cpumode mode, struct pd_text *out);

/* The letter of a cpumode there, as perf marks it. */
char pm_frames_level(enum pd_cpumode mode);

/*
 * The line of an address of a binary that has no symbol, written to `to` without a NUL. Returns
 * its size; with `to` NULL nothing else is done.
 */
size_t pm_frames_address(char *to, const char *dso, uint64_t address, enum pd_cpumode mode);

#endif
