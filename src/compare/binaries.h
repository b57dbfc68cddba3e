/* The functions that samples of recordings have, by binary, and addresses in binaries. */
#ifndef PERFLUA_COMPARE_BINARIES_H
#define PERFLUA_COMPARE_BINARIES_H

#include "result/result.h"

/*
 * Keys of a result that tell where an address is: the build-id and the name of the binary, the
 * offset of its map in the file, and the offset in its map: of the start of a function where
 * one is known, else of the address. The size of the function stands after them.
 */
enum pc_place {
	PC_BUILD_ID,
	PC_FILENAME,
	PC_PGOFF,
	PC_OFFSET,
	PC_FUNCTION_SIZE,
	PC_PLACE_KEYS
};

struct pc_binaries;

struct pc_binaries *pc_binaries_create(void); /* NULL: no memory */
void pc_binaries_destroy(struct pc_binaries *binaries);

/*
 * Adds the functions of a result. Its keys from number `first` on are those of enum pc_place,
 * key `symbol` is the name of the function, no text where none is known, and measure `count`
 * counts samples. Returns false without memory.
 */
bool pc_binaries_add(struct pc_binaries *binaries, const struct pr_result *result, size_t first,
		     size_t symbol, size_t count);

/*
 * Returns the number of samples of both that have no function, in binaries that both have. It
 * must be called before pc_find_function().
 */
uint64_t pc_binaries_unnamed(struct pc_binaries *a, struct pc_binaries *b);

/* An address in a binary. */
struct pc_address {
	struct pd_text build_id;
	int64_t offset; /* in the file; of a kernel, whose map has no file, from its start */
};

/* Sets *address from keys[PC_PLACE_KEYS]. Returns false if a part of it is not known. */
bool pc_find_address(const struct pq_value *keys, struct pc_address *address);

bool pc_has_binary(const struct pc_binaries *binaries, struct pd_text build_id);

/* Sets *name to the function at an address. Returns false if none is known there. */
bool pc_find_function(const struct pc_binaries *binaries, const struct pc_address *address,
		      struct pd_text *name);

#endif
