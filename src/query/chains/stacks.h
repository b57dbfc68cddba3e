/*
 * Call stacks as values, each distinct one once. They own all that they consist of, and keep
 * the source lines of their binaries, so they outlive the recording.
 *
 * Frames are equal by kind, binary (its build-id, else its name), address in the binary and
 * function; without a binary the address is the one recorded. An address alone does not tell:
 * the kernel lies elsewhere after each boot, and without a build-id a binary may be another one
 * in another recording.
 */
#ifndef PERFLUA_QUERY_STACKS_H
#define PERFLUA_QUERY_STACKS_H

#include "chains.h"
#include "strings.h"

/* The first ones are cpumodes, of which records have room for 8. */
enum pq_frame_kind {
	PQ_FRAME_JIT = PD_MISC_CPUMODE + 1,
	PQ_FRAME_KINDS,
};

/* Returns the kind of a frame of PQ_CHAIN_VALUES. */
unsigned pq_frame_kind(const struct pq_frame *frame);

/* Returns the name of a kind: "kernel", "user", "jit" …. */
const char *pq_frame_kind_name(unsigned kind);

/* Texts end with a NUL; p is NULL where there is none. */
struct pq_stack_frame {
	struct ps_dso *dso; /* its source lines; NULL: there are none, as in a saved table */
	uint64_t address;
	uint64_t ip;	       /* ip of the first record that has the frame */
	uint64_t symoff;       /* bytes from the start of the function */
	struct pd_text symbol; /* NULL: it is not known */
	struct pd_text binary; /* NULL: nothing was mapped there */
	struct ps_build_id build_id;
	uint8_t kind;		 /* enum pq_frame_kind */
	bool has_ip, has_symoff; /* false: the frame was read from a saved table */
};

struct pq_stacks;

struct pq_stacks *pq_stacks_create(void); /* NULL: no memory */
void pq_stacks_destroy(struct pq_stacks *stacks);

/*
 * Returns the number of the frame that equals `frame`, added with copies of its texts if there
 * is none; UINT32_MAX: no memory.
 */
uint32_t pq_stacks_add_frame(struct pq_stacks *stacks, const struct pq_stack_frame *frame);

/*
 * Returns the number of the stack of these frames, callee first, added if there is none;
 * UINT32_MAX: no memory.
 */
uint32_t pq_stacks_add(struct pq_stacks *stacks, const uint32_t *frames, size_t n);

/*
 * Adds stack `number` of `from`, which may be `stacks`. Its result is that of pq_stacks_add().
 */
uint32_t pq_stacks_add_from(struct pq_stacks *stacks, const struct pq_stacks *from,
			    uint32_t number);

/*
 * Adds all chains of PQ_CHAIN_VALUES, and looks up their functions: numbers[i] becomes the
 * number of chain i's stack. Returns false without memory.
 */
bool pq_stacks_add_chains(struct pq_stacks *stacks, const struct pq_chains *chains,
			  struct pm_resolver *resolver, uint32_t *numbers);

/*
 * Returns the numbers of the frames of a stack, callee first, and sets *n to how many there
 * are.
 */
const uint32_t *pq_stacks_frames(const struct pq_stacks *stacks, uint32_t stack, size_t *n);
uint32_t pq_stacks_n_frames(const struct pq_stacks *stacks);

/* Returns a frame by its number. It is valid until the next frame is added. */
const struct pq_stack_frame *pq_stacks_frame(const struct pq_stacks *stacks, uint32_t frame);

/*
 * Returns, once, whether an interrupt left source lines unread that were asked for.
 */
bool pq_stacks_were_cut(const struct pq_stacks *stacks);

bool pq_stack_frame_equal(const struct pq_stack_frame *a, const struct pq_stack_frame *b);

/* Returns true if stack i and stack k of `theirs` have equal frames. */
bool pq_stacks_equal(const struct pq_stacks *stacks, uint32_t i, const struct pq_stacks *theirs,
		     uint32_t k);

/*
 * Compares stacks, from the first caller on, by the names of functions, then by what else tells
 * frames apart. Returns a number below 0 if stack i comes before stack k of `theirs`.
 */
int pq_stacks_compare(const struct pq_stacks *stacks, uint32_t i,
		      const struct pq_stacks *theirs, uint32_t k);

/*
 * Writes a stack as the field `stack` has it to `to`, without a NUL. Returns its size in bytes.
 * If `to` is NULL, it writes nothing and returns an upper bound of the size.
 */
size_t pq_stacks_text(const struct pq_stacks *stacks, uint32_t stack, char *to);

/* Compares binaries: build-ids if one is known, else names. */
static inline bool pq_binary_equal(const struct ps_build_id *a, struct pd_text a_name,
				   const struct ps_build_id *b, struct pd_text b_name)
{
	if (a->size || b->size)
		return ps_build_id_equal(a, b);
	return a_name.n == b_name.n && memcmp(a_name.p, b_name.p, a_name.n) == 0;
}

/* Hashes a binary so that equal ones have one hash: build-ids may be padded with zeros. */
static inline uint32_t pq_binary_hash(const struct pb_secret *secret,
				      const struct ps_build_id *id, struct pd_text name)
{
	size_t n = id->size;

	while (n && !id->bytes[n - 1])
		n--;
	if (id->size)
		return pb_hash_bytes(secret, id->bytes, n);
	return pb_hash_bytes(secret, name.p, name.n);
}

#endif
