/*
 * Call chains as keys: equal ones have one number, and are resolved once.
 *
 * A raw chain, which is the recorded addresses, whose they are, and what was mapped then, is
 * looked up by a 128-bit hash with a random key. Only new ones are resolved: each frame becomes
 * the number of a function or of what stands for one, and the chain is the list of these
 * numbers.
 */
#ifndef PERFLUA_QUERY_CHAINS_H
#define PERFLUA_QUERY_CHAINS_H

#include "base/pattern.h"
#include "base/map.h"
#include "base/string_builder.h"
#include "machine/machine.h"
#include "value.h"

struct pq_chains;

/* The position of a record, of 12 bytes: each chain and frame has one. */
struct pq_origin {
	uint64_t offset; /* in its recording */
	uint16_t source, stream;
} __attribute__((packed, aligned(4)));

/* A frame, with what tells it apart. */
struct pq_frame {
	struct ps_dso *dso;		/* NULL: nothing was mapped there */
	const struct ps_symbol *symbol; /* NULL: it is not known, or was not looked up */
	/* address in the dso for a frame without a symbol, and in stacks; else 0 */
	uint64_t address;
	uint32_t text; /* number of its text, for the chains' own use */
	uint8_t mode;  /* enum pd_cpumode */
	uint8_t kind;  /* enum pq_chain_kind, of a frame of values */
};

/*
 * Tells what makes chains different: what the fields `stack`, `annotated_stack` and `frames`,
 * or the key `callchain`, show of frames.
 */
enum pq_chain_kind {
	PQ_CHAIN_STACK,	    /* names: see pm_chain_text() */
	PQ_CHAIN_ANNOTATED, /* names and their annotations */
	PQ_CHAIN_FRAMES,    /* functions, and addresses of binaries */
	/*
	 * cpumodes and addresses of binaries (stacks.h). Symbols are not looked up, but of code
	 * whose function depends on the time, which tells frames apart, too.
	 */
	PQ_CHAIN_VALUES,
	/*
	 * as PQ_CHAIN_VALUES, but binaries are told apart as the recorded system does, also by
	 * name and inode, as functions may be known in one of them only; and all addresses of a
	 * cpumode where nothing was mapped are one frame, with address 0: broken call chains
	 * have very many of them.
	 */
	PQ_CHAIN_MAPPED,
	/*
	 * as PQ_CHAIN_MAPPED, but all addresses of a function are one frame, at its start, with
	 * its symbol; and those of a binary without a function one with address 0
	 */
	PQ_CHAIN_STARTS,
	/*
	 * functions, or where none is known addresses, by binary and cpumode; functions and
	 * binaries differ by their names. The first frame is that of ip, even if the call chain
	 * begins otherwise; without an ip there is no chain.
	 */
	PQ_CHAIN_CALLERS,
	/*
	 * frames as PQ_CHAIN_CALLERS has them, and before each the functions that were inlined
	 * there; but the chain begins as it was recorded, and pq_chains_leaf() is the frame of
	 * ip. PQ_CHAIN_UNWOUND: only where a copied stack was unwound.
	 */
	PQ_CHAIN_INLINED,
	PQ_CHAIN_UNWOUND,
	/*
	 * as PQ_CHAIN_INLINED, but frames are told apart by their recorded addresses, too, and
	 * by the ends of branches that they are (pq_chains_exact()); the options of chains tell
	 * whether they have inlined functions. A chain may have no frame but pq_chains_leaf().
	 */
	PQ_CHAIN_EXACT,
	/*
	 * as PQ_CHAIN_CALLERS, but all code of a binary without a function is one frame, with
	 * address 0. pq_chains_own() tells the address of ip.
	 */
	PQ_CHAIN_FUNCTIONS,
	/*
	 * one frame: the binary at ip, told apart as by PQ_CHAIN_MAPPED, with address 0;
	 * without an ip there is no chain
	 */
	PQ_CHAIN_BINARY,
	/* as PQ_CHAIN_BINARY; loads the symbols of the binaries of all frames on the way */
	PQ_CHAIN_BINARIES,
	/* one frame: the address of ip, as by PQ_CHAIN_MAPPED; without an ip no chain */
	PQ_CHAIN_ADDRESS,
};

/*
 * Creates an empty table of chains for one worker and its resolver. Returns NULL without memory
 * or random numbers.
 */
struct pq_chains *pq_chains_create(void);
void pq_chains_destroy(struct pq_chains *chains);

/*
 * Bounds the memory: from `limit` chains on further ones are taken for their ip alone, and from
 * twice as many on not resolved.
 */
void pq_chains_limit(struct pq_chains *chains, size_t limit);

/*
 * Returns the number of a record's chain. PQ_NO_CHAIN: it has none (no ip); PQ_CHAIN_NO_MEMORY:
 * no memory.
 */
#define PQ_NO_CHAIN	   UINT32_MAX
#define PQ_CHAIN_NO_MEMORY (UINT32_MAX - 1)
#define PQ_CHAIN_BEYOND	   (UINT32_MAX - 2) /* see pq_chains_limit() */
uint32_t pq_chains_of(struct pq_chains *chains, struct pm_resolver *resolver,
		      const struct pd_record *rec, enum pq_chain_kind kind);

/*
 * Returns the number of the frame of the ip of the record whose chain of PQ_CHAIN_FUNCTIONS was
 * asked for last: that of its function, or its address in the binary.
 */
uint32_t pq_chains_own(const struct pq_chains *chains);

/*
 * A name that functions are asked for. It belongs to one pq_chains, whose functions it knows by
 * their numbers.
 */
struct pq_under {
	struct pd_text name;
	struct pb_pattern *glob; /* the name as a glob, borrowed; NULL: it is none */
	uint8_t *known; /* [n_known] by number: 0, or whether it matches: 1 no, 2 yes */
	size_t n_known;
};

/*
 * Sets *found to whether a function of a record's call chain (without one: of its ip) has that
 * name, or matches it as a glob. Adds no chain. Returns false if there is no memory.
 */
bool pq_chains_under(struct pq_chains *chains, struct pm_resolver *resolver,
		     const struct pd_record *rec, struct pq_under *under, bool *found);

/*
 * Sets the record whose addresses pq_chains_at() and pq_chains_name() look up, one by one. The
 * record must stay valid until the last of these calls.
 */
void pq_chains_enter(struct pq_chains *chains, struct pm_resolver *resolver,
		     const struct pd_record *rec);

/* Returns the cpumode that an address of that record implies: see pm_implied_mode(). */
enum pd_cpumode pq_chains_mode(const struct pq_chains *chains, uint64_t address);

/*
 * Returns the number of the frame of PQ_CHAIN_VALUES at an address of that record; UINT32_MAX
 * without memory.
 */
uint32_t pq_chains_at(struct pq_chains *chains, const struct pd_frame *at);

/*
 * Sets *name to the name of the function at an address of that record; the binary owns it. Its
 * p is NULL if the name is not known. Returns false without memory.
 */
bool pq_chains_name(struct pq_chains *chains, const struct pd_frame *at, struct pd_text *name);

/* Returns the function of such a frame; NULL if it is not known. */
const struct ps_symbol *pq_chains_function(struct pq_chains *chains, uint32_t frame);

/*
 * Writes the frames of a record's call chain, callee first, to frames[PM_MAX_FRAMES]; without
 * any that is its ip. Returns their number; 0: it has no ip either.
 */
size_t pq_chains_walk(struct pm_resolver *resolver, const struct pd_record *rec,
		      struct pd_frame *frames);

/* Returns the number of chains; they are numbered from 0. */
uint32_t pq_chains_size(const struct pq_chains *chains);

enum pq_chain_kind pq_chains_kind(const struct pq_chains *chains, uint32_t chain);

/* Returns the numbers of the frames of a chain, from the callee on, and sets *n. */
const uint32_t *pq_chains_frames(const struct pq_chains *chains, uint32_t chain, size_t *n);

/*
 * Returns the number of the frame of the ip of a chain's records: its first one, but of
 * PQ_CHAIN_INLINED and PQ_CHAIN_UNWOUND.
 */
uint32_t pq_chains_leaf(const struct pq_chains *chains, uint32_t chain);

/*
 * Returns whether frame `i` of the `n` of a chain is among the `max` (0: all) next to the
 * callee, or else to the first caller.
 */
static inline bool pq_counts_frame(size_t i, size_t n, size_t max, bool from_callee)
{
	return !max || (from_callee ? i < max : i + max >= n);
}

/* Returns a frame by its number, below pq_chains_n_frames(). */
struct pq_frame pq_chains_frame(const struct pq_chains *chains, uint32_t frame);
uint32_t pq_chains_n_frames(const struct pq_chains *chains);

/* The facts beside a frame of PQ_CHAIN_EXACT. No padding: equal ones have equal bytes. */
struct pq_exact {
	uint64_t ip; /* as it was recorded */
	struct pm_branch branch;
};

/* Returns what is beside a frame; NULL: it is not of PQ_CHAIN_EXACT. */
const struct pq_exact *pq_chains_exact(const struct pq_chains *chains, uint32_t frame);

/*
 * Adds the source line of such a frame to `text`, as perf has it. Without one it is "??:0", or
 * if `has_address` is true the distance from the function's start, with its name if the frame
 * is the ip of a sample; or without a function the binary and the address in it.
 */
void pq_chains_add_srcline(const struct pq_chains *chains, uint32_t frame, bool has_address,
			   struct pb_string *text);

/* Returns ip of the first record that has a frame of PQ_CHAIN_VALUES. */
uint64_t pq_chains_ip(const struct pq_chains *chains, uint32_t frame);

/*
 * Returns the text of a chain as the field has it (pm_chain_text), ending with a NUL. It is
 * valid until the next call. Returns NULL without memory.
 */
const char *pq_chains_text(struct pq_chains *chains, uint32_t chain, size_t *n);

/* Frees memory that only makes it faster to find the next chain. */
void pq_chains_forget(struct pq_chains *chains);

/*
 * Frees memory that is only needed to find chains. No chain may be looked up or merged after
 * it.
 */
void pq_chains_seal(struct pq_chains *chains);

/*
 * Puts sealed chains, none of PQ_CHAIN_VALUES, in the order of the records that had each first,
 * and their frames in the order of the chains, so that numbers depend neither on how many
 * workers found them nor on who was faster.
 * Sets numbers[i], for each chain, to the number that chain i has now. Returns false without
 * memory.
 */
bool pq_chains_sort(struct pq_chains *chains, uint32_t *numbers);

/*
 * Frees all frames but the first `n`: there may be very many. Only the numbers of a chain's
 * frames may be asked for after it. Does nothing and returns false if a chain is not of
 * a kind from PQ_CHAIN_MAPPED to PQ_CHAIN_UNWOUND.
 */
bool pq_chains_drop_frames(struct pq_chains *chains, uint32_t n);

/*
 * Adds the chains of `from`, which may be another worker's that has ended, and sets numbers[i]
 * to the number that its chain i has here. They go while they come, so that `from` may only be
 * destroyed after it. When progress says stop, *ended becomes true, and the other numbers are
 * not set. Returns false without memory.
 */
bool pq_chains_merge(struct pq_chains *chains, struct pq_chains *from, uint32_t *numbers,
		     const struct pb_progress *progress, bool *ended);

/*
 * Call chains as a tree of frames, callers first: callers that chains have in common are there
 * once.
 */

#define PQ_NO_CALLER UINT32_MAX

struct pq_call_node {
	uint32_t caller; /* number of the caller's node; PQ_NO_CALLER */
	uint32_t frame;
};

struct pq_call_nodes {
	struct pb_set nodes; /* of pq_call_node, a caller before what it calls */
	/* [chains + 1]: the node where each chain ends; the last one is the caller's to set */
	uint32_t *ends;
};

/*
 * Finds the nodes of all chains; NULL: there are none. A chain without frames has the frame
 * `unknown`. Returns false without memory; pq_call_nodes_deinit() is needed then, too.
 */
bool pq_call_nodes_init(struct pq_call_nodes *nodes, const struct pq_chains *chains,
			uint32_t unknown);
void pq_call_nodes_deinit(struct pq_call_nodes *nodes);

/* Returns a node by its number. It is valid until the next one is added. */
static inline const struct pq_call_node *pq_call_node_at(const struct pq_call_nodes *nodes,
							 uint32_t number)
{
	return pb_set_at(&nodes->nodes, number);
}

#endif
