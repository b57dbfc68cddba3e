/* A resolver, and the memos in which it remembers answers. */
#ifndef PERFLUA_MACHINE_RESOLVER_H
#define PERFLUA_MACHINE_RESOLVER_H

#include "base/map.h"
#include "base/string_builder.h"
#include "frames.h"
#include "fields.h"
#include "symbols/lines/lines.h"
#include "unwind.h"

/* entries in the memo of symbols: a power of two */
#ifndef PM_SYMBOL_MEMOS
#define PM_SYMBOL_MEMOS 8192
#endif

struct pm_symbol_memo {
	const struct ps_dso *dso; /* NULL: free */
	struct ps_range range;	  /* of addresses with this symbol */
	const struct ps_symbol *symbol;
};

/* entries in the memo of address spaces, and of ranges in each: powers of two */
#define PM_SPACE_MEMOS 256
#define PM_RANGE_MEMOS 8

/* Maps that a process, or the kernel, has in a time range. */
struct pm_space_memo {
	uint64_t key;	     /* see pm_key_of() */
	uint64_t revision;   /* revision of the system, plus 1; 0: free */
	uint64_t from, last; /* ns, both included */
	struct pm_range_memo {
		struct ps_range range;
		struct ps_dso *dso; /* NULL: nothing is mapped, or the entry is free */
		uint64_t bias;	    /* see struct pm_map; without a dso 1, or 0: free */
	} ranges[PM_RANGE_MEMOS];
};

/* entries in the memo of functions that patterns match: a power of two */
#define PM_MATCH_MEMOS 1024

struct pm_match_memo {
	const struct ps_symbol *symbol; /* NULL: free */
	bool is_parent, is_root;
};

/* entries in the memo of thread names: a power of two */
#define PM_COMM_MEMOS 256

/* The position of a record identifies it; its address does not, as buffers are used again. */
struct pm_record_position {
	bool is_set;
	uint16_t source, stream;
	uint64_t offset, chunk_offset;
};

static inline bool pm_is_at_position(const struct pm_record_position *position,
				     const struct pd_record *rec)
{
	return position->is_set && position->offset == rec->offset &&
	       position->chunk_offset == rec->chunk_offset && position->source == rec->source &&
	       position->stream == rec->stream;
}

static inline void pm_set_position(struct pm_record_position *position,
				   const struct pd_record *rec)
{
	*position = (struct pm_record_position){ true, rec->source, rec->stream, rec->offset,
						 rec->chunk_offset };
}

/*
 * The threads whose call stacks of branches are completed; zero-initialised: none. Where a
 * stack is longer than the processor's buffer its outer calls were overwritten, but an earlier
 * sample of the thread may have them. See has_stitched_lbr, tools/perf/util/machine.c.
 */
struct pm_stitches {
	struct pb_secret secret;
	struct pb_map by_thread;
	struct pm_stitched_thread *threads; /* [n] */
	size_t n, room;
};

void pm_stitches_deinit(struct pm_stitches *stitches);

/*
 * Sets *callers to the sources of the calls that the branch stack of a sample has lost,
 * innermost first, and returns their number: 0 if the sample does not go on where the thread's
 * one before it ended, or without memory. Samples must come in time order. `depth` is the
 * number of branches that the processor's buffer holds. The array is valid until the next call.
 */
size_t pm_stitch(struct pm_stitches *stitches, const struct pm_system *system,
		 const struct pd_record *rec, uint32_t depth, const uint64_t **callers);

struct pm_instructions; /* see instructions.c */

struct pm_resolver {
	struct pm_system *system;
	struct pm_unwinder *unwinder; /* NULL: not needed yet */
	bool later_names;	      /* see pm_resolver_use_later_names() */
	struct pb_string text;	      /* text of pm_chain_text() and similar functions */
	struct pd_frame frames[PM_MAX_FRAMES]; /* frames of the record at latest.position */
	struct {
		struct pm_record_position position;
		size_t n;
	} latest;
	/* The ip of the last record: scripts often ask for several fields of it. */
	struct {
		struct pm_record_position position;
		uint64_t revision; /* revision of the system when it was looked up */
		struct pm_dso_address at;
	} own;
	/* Printers of tracepoints: see resolver.c. */
	struct {
		/* [n], by recording; NULL: not needed yet */
		struct pd_printer **printers;
		size_t n;
		unsigned text; /* enum pd_perf_text: the version of perf to follow */
		const struct pd_record *rec; /* being printed */
	} messages;
	struct pm_instructions *instructions; /* NULL: not needed yet */
	struct pm_stitches stitches;
	struct pb_set branches; /* struct pm_branch */
	struct pm_comm_memo comms[PM_COMM_MEMOS];
	struct pm_space_memo spaces[PM_SPACE_MEMOS];
	struct pm_symbol_memo symbols[PM_SYMBOL_MEMOS];
	struct pm_match_memo matches[PM_MATCH_MEMOS];
};

/* Frees the code and the source files that a resolver remembers. */
void pm_instructions_destroy(struct pm_instructions *instructions);

/*
 * The address that a field is asked about: the ip of a record, for PD_SYS_…_DADDR its addr, or
 * one that `asked` names, such as that of a frame.
 */

/*
 * Sets *at to the binary at the address, without opening it. Returns false if the record has no
 * address.
 */
bool pm_asked_dso(struct pm_resolver *resolver, const struct pd_record *rec,
		  const struct pd_asked *asked, struct pm_dso_address *at);

/*
 * Does what pm_asked_dso() does, for the ip of the record. The binary belongs to the resolver
 * until it is asked again; NULL: the record has no ip.
 */
const struct pm_dso_address *pm_own_dso(struct pm_resolver *resolver,
					const struct pd_record *rec);

/* Returns the function at the address, and sets *at as well; NULL: not known. */
const struct ps_symbol *pm_asked_symbol(struct pm_resolver *resolver,
					const struct pd_record *rec,
					const struct pd_asked *asked,
					struct pm_dso_address *at);

/*
 * Returns what was mapped at the address; NULL: nothing. It is looked up anew each time, so
 * that no map has to be kept.
 */
const struct pm_map *pm_asked_map(struct pm_resolver *resolver, const struct pd_record *rec,
				  const struct pd_asked *asked);

/*
 * Returns the source line of the address, which is the binary's; NULL: not known. Frames of a
 * call chain have the line of their own function, not of one inlined there.
 */
const struct ps_line *pm_asked_line(struct pm_resolver *resolver, const struct pd_record *rec,
				    const struct pd_asked *asked);

#endif
