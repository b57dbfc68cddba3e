/* The fields that the recorded system adds to a record. */
#ifndef PERFLUA_MACHINE_FIELDS_H
#define PERFLUA_MACHINE_FIELDS_H

#include "symbols/lines/lines.h"
#include "locations.h"

/*
 * Sets *out to the value of a field of `rec`; PD_NIL if it is not known.
 *
 * A text ends with a NUL. It is owned by the system or by a binary, and has the same address
 * each time; or lies in *out itself; or belongs to the resolver until it is asked again
 * (PD_SYS_STACK and other texts made of many parts). PD_SYS_MAP gives a view, whose members are
 * asked for one by one. PD_SYS_INLINED is not a value: see pm_inlined().
 */
void pm_field(struct pm_resolver *resolver, const struct pd_record *rec,
	      const struct pd_asked *asked, struct pd_value *out);

/*
 * Sets *name to the name of the function at the record's ip, or else of the binary, as
 * pm_field() does for PD_SYS_SYMBOL and PD_SYS_DSO, but faster. Returns false if it is not
 * known.
 */
bool pm_own_name(struct pm_resolver *resolver, const struct pd_record *rec, bool function,
		 struct pd_text *name);

/*
 * Sets *out to the name of the record's thread, as pm_field() does for PD_SYS_COMM, but faster.
 * Leaves *out untouched if the record has no thread.
 */
void pm_comm(struct pm_resolver *resolver, const struct pd_record *rec, struct pd_value *out);

/* The name of a thread, and the time range in which it has it. */
struct pm_comm_memo {
	uint64_t key;	     /* see pm_key_of() */
	uint64_t revision;   /* revision of the system, plus 1; 0: free */
	uint64_t from, last; /* ns, both included */
	struct pd_text text; /* a text of the system; p is NULL: no name is known */
};

/*
 * Returns the memo of the name of thread `tid` at `time`, which the caller has read from `rec`.
 * It belongs to the resolver until another thread is asked for. As long as the system's
 * revision stays, it holds for records of the same recording whose times are in its range.
 * Returns NULL if the time is not enough: ask pm_comm().
 */
const struct pm_comm_memo *pm_comm_at(struct pm_resolver *resolver, const struct pd_record *rec,
				      int32_t tid, uint64_t time);

/*
 * Return whether there are functions that call chains of reports begin with, and whether
 * `symbol`, which may be NULL, is one: see struct ps_chain_options.
 */
bool pm_has_roots(const struct pm_resolver *resolver);
bool pm_is_root(struct pm_resolver *resolver, const struct ps_symbol *symbol);

/* Returns the options of reports whose call chains have no callers without a function; NULL. */
const struct ps_chain_options *pm_named_callers(const struct pm_resolver *resolver);

/* Returns which call chains of addresses have inlined functions: struct ps_chain_options. */
enum ps_inlined pm_exact_inlined(const struct pm_resolver *resolver);

/* Returns whether the field `parent` looks for a function, which may be NULL. */
bool pm_is_parent(struct pm_resolver *resolver, const struct ps_symbol *symbol);

/*
 * Sets *lines to the functions inlined at the address that `asked` is about, innermost first.
 * Returns their number. The lines are the binary's.
 */
size_t pm_inlined(struct pm_resolver *resolver, const struct pd_record *rec,
		  const struct pd_asked *asked, const struct ps_line **lines);

struct pm_instruction {
	const unsigned char *bytes; /* [size] */
	size_t size;
	const char *name, *operands; /* "add", "$1, %eax" */
};

/*
 * Sets *out to the instruction at the ip of a record, which is the resolver's until it
 * is asked again. Returns false if the code is not there, or cannot be decoded.
 */
bool pm_instruction_of(struct pm_resolver *resolver, const struct pd_record *rec,
		       struct pm_instruction *out);

/* A line of a source file. `file` is the same address each time. */
struct pm_source_line {
	const char *file;
	uint32_t line;
	struct pd_text text; /* without its end; may have no NUL */
};

/*
 * Sets *out to the innermost source line of a record's ip, which is the resolver's. Returns
 * false if it is not known, or the file is not there.
 */
bool pm_source_line_of(struct pm_resolver *resolver, const struct pd_record *rec,
		       struct pm_source_line *out);

/* Sets *out to a member of a map's view, PD_SYS_MAP_…; leaves it untouched if not recorded. */
void pm_map_member(const struct pm_map *map, uint32_t field, struct pd_value *out);

/*
 * Makes one string of the call chain of a sample, in the form of `field`. It ends with a NUL
 * and is the resolver's until the next one. Returns false if the sample has no ip, or without
 * memory.
 *
 * - PD_SYS_STACK: names from the outermost caller to the callee, joined by ";". A frame without
 *   a symbol has the name of its binary in brackets, or [unknown].
 * - PD_SYS_ANNOTATED_STACK: in addition, _[k] follows the names of frames in the kernel, in a
 *   guest's kernel and in a hypervisor, and _[j] those of code made at run time.
 * - PD_SYS_FRAMES: a line for each frame, from the callee on: perf's letter for the cpumode,
 *   the name of the binary, a tab, and the function; without a symbol another tab and the
 *   address in the binary. The first line is that of ip, even if the call chain does not begin
 *   with it.
 */
bool pm_chain_text(struct pm_resolver *resolver, const struct pd_record *rec,
		   enum pd_system_field field, struct pd_text *out);

/*
 * Makes the text of a tracepoint's sample as perf script prints it; `text` (enum pd_perf_text)
 * is the version of perf to follow. It ends with a NUL and is the resolver's until the next
 * one. Returns false if the tracepoint's format is not known, or without memory.
 */
bool pm_message(struct pm_resolver *resolver, const struct pd_record *rec, unsigned text,
		struct pd_text *out);

/*
 * Returns whether the binary of that name stands for code made at run time: a map file of
 * perf's, or what `perf inject --jit` writes.
 */
bool pm_is_jit_name(const char *name);

/*
 * Writes the name that a frame has in PD_SYS_STACK to `to`, without a NUL: of `symbol`, or if
 * that is not known (p is NULL) of the binary, or if nothing was mapped (NULL) PM_UNKNOWN.
 * Returns its size; with `to` NULL nothing is written, and it is at most what is returned.
 */
size_t pm_frame_name(struct pd_text symbol, const char *binary, char *to);

/* The letter that a frame is annotated with; '\0': with none. */
char pm_stack_letter(const struct pm_location *location, enum pd_cpumode mode);

/*
 * Make the part of one frame: its name in PD_SYS_STACK, with a letter unless that is '\0', and
 * its line in PD_SYS_FRAMES. The text is the resolver's until it is asked again. Return false
 * without memory.
 */
bool pm_stack_name(struct pm_resolver *resolver, const struct pm_location *location,
		   char letter, struct pd_text *out);
bool pm_frames_line(struct pm_resolver *resolver, const struct pm_location *location,
		    enum pd_cpumode mode, struct pd_text *out);

/* Returns perf's letter for a cpumode, as in PD_SYS_FRAMES. */
char pm_frames_level(enum pd_cpumode mode);

/*
 * Writes the line that PD_SYS_FRAMES has for an address without a symbol to `to`, without a
 * NUL. Returns its size in bytes. If `to` is NULL, it only returns the size.
 */
size_t pm_frames_address(char *to, const char *dso, uint64_t address, enum pd_cpumode mode);

#endif
