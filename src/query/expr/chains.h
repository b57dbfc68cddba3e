/*
 * Call chains as keys: equal ones have one number, and are resolved once.
 *
 * A raw chain (the addresses as recorded, whose they are, and what was mapped then) is looked
 * up by a hash of 128 bits that nobody can know before. Only when it is new is it resolved:
 * each frame becomes a number, of a function or what stands for one, and the list of these the
 * chain's number.
 */
#ifndef PERFLUA_QUERY_CHAINS_H
#define PERFLUA_QUERY_CHAINS_H

#include "value.h"

struct pq_chains;

/* A frame as chains tell them apart. */
struct pq_frame {
	struct ps_dso *dso;		/* NULL: nothing was mapped there */
	const struct ps_symbol *symbol; /* NULL: it is not known, or was not looked up */
	/* in the dso, of one without a symbol, and in stacks; else 0 */
	uint64_t address;
	uint64_t ip;		 /* in stacks: of the first record that has the frame */
	uint64_t offset;	 /* of that record */
	uint32_t text;		 /* the chains' own */
	uint16_t source, stream; /* of that record */
	uint8_t mode;		 /* enum pd_cpumode */
};

/*
 * What of its frames tells chains apart: as the fields `stack`, `annotated_stack` and `frames`
 * do, or as the key `callchain`.
 */
enum pq_chain_kind {
	PQ_CHAIN_STACK,	    /* names, see pm_chain_text */
	PQ_CHAIN_ANNOTATED, /* names and what they are of */
	PQ_CHAIN_FRAMES,    /* functions and addresses of binaries */
	/*
	 * cpumodes and addresses of binaries (stacks.h). Symbols are not looked up, but of code
	 * whose function depends on the time, which tells frames apart, too.
	 */
	PQ_CHAIN_VALUES,
};

/*
 * NULL: no memory, or no random numbers. It is of one thread, as is the resolver that it is
 * asked with.
 */
struct pq_chains *pq_chains_create(void);
void pq_chains_destroy(struct pq_chains *chains);

/*
 * The number of a record's chain; UINT32_MAX: it has none (no ip), UINT32_MAX - 1: no memory.
 */
#define PQ_NO_CHAIN	   UINT32_MAX
#define PQ_CHAIN_NO_MEMORY (UINT32_MAX - 1)
uint32_t pq_chains_of(struct pq_chains *chains, struct pm_resolver *resolver,
		      const struct pd_record *rec, enum pq_chain_kind kind);

/*
 * Has a function of a record's call chain (without one: of its ip) that name, as it is? Adds no
 * chain. False: no memory.
 */
bool pq_chains_under(struct pq_chains *chains, struct pm_resolver *resolver,
		     const struct pd_record *rec, struct pd_text name, bool *is);

/* How many there are; their numbers are below that. */
uint32_t pq_chains_size(const struct pq_chains *chains);

enum pq_chain_kind pq_chains_kind(const struct pq_chains *chains, uint32_t chain);

/* The frames of a chain by their numbers, callee first: `n` of them. */
const uint32_t *pq_chains_frames(const struct pq_chains *chains, uint32_t chain, size_t *n);

/* A frame by its number, below pq_chains_n_frames. */
const struct pq_frame *pq_chains_frame(const struct pq_chains *chains, uint32_t frame);
uint32_t pq_chains_n_frames(const struct pq_chains *chains);

/*
 * The text that the field has (pm_chain_text), ended by a NUL: chains's until the next one.
 * NULL: no memory.
 */
const char *pq_chains_text(struct pq_chains *chains, uint32_t chain, size_t *n);

/* Gives back what only makes the next chain faster to find. */
void pq_chains_forget(struct pq_chains *chains);

/* Gives back what only finds chains: none is asked for or merged any more. */
void pq_chains_seal(struct pq_chains *chains);

/*
 * Takes in the chains of `from`, which may be of another thread that is at its end: numbers[i]
 * becomes the number that from's chain i has in `chains`. Once progress says no, *ended becomes
 * true, and the other numbers are not set. False: no memory.
 */
bool pq_chains_merge(struct pq_chains *chains, const struct pq_chains *from, uint32_t *numbers,
		     const struct pb_progress *progress, bool *ended);

#endif
