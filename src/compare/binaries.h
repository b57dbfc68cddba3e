/*
 * The binaries that samples of runs lie in: they name addresses that stand where no function is
 * known. The binaries of the recordings must outlive them.
 */
#ifndef PERFLUA_COMPARE_BINARIES_H
#define PERFLUA_COMPARE_BINARIES_H

#include "result/result.h"

struct ps_store;
struct pc_binaries;

struct pc_binaries *pc_binaries_create(void); /* NULL: no memory */
void pc_binaries_destroy(struct pc_binaries *binaries);

/* A run, and what its recording knows of binaries. */
struct pc_sampled {
	const struct pr_result *result;
	size_t build_id; /* key: digits */
	size_t symbol;	 /* key: the name of the function, no text where none is known */
	size_t count;	 /* measure: counts samples */
	struct ps_store *const *stores;
	size_t n_stores;
};

/* Adds the next run, from number 0 on. Returns false without memory. */
bool pc_binaries_add(struct pc_binaries *binaries, const struct pc_sampled *run);

/* Returns the number of samples of both that have no function, in binaries that both have. */
uint64_t pc_binaries_unnamed(const struct pc_binaries *a, const struct pc_binaries *b);

/* An address in a binary, wherever that was mapped. */
struct pc_address {
	struct pd_text build_id;
	uint64_t offset; /* in the file; of a kernel, from its start */
};

/*
 * Sets *address to `ip`, which a run has in the binary of a build-id. Returns false if that is
 * not known.
 */
bool pc_find_address(const struct pc_binaries *binaries, size_t run, struct pd_text build_id,
		     uint64_t ip, struct pc_address *address);

bool pc_has_binary(const struct pc_binaries *binaries, struct pd_text build_id);

/* Sets *name to the function at an address. Returns false if none is known there. */
bool pc_find_function(const struct pc_binaries *binaries, const struct pc_address *address,
		      struct pd_text *name);

#endif
