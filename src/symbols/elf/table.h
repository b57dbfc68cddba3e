/*
 * Symbols in the order of their addresses.
 *
 * Filled by ps_table_add in any order, then put in order by ps_table_finish, before anything is
 * looked up. More may be added afterwards, and have to be finished in turn. Names stay where
 * they are.
 */
#ifndef PERFLUA_SYMBOLS_TABLE_H
#define PERFLUA_SYMBOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "interrupt.h"

/* As ELF has it (STB_…): of several symbols at one address the binding decides. */
enum ps_binding {
	PS_LOCAL,
	PS_GLOBAL,
	PS_WEAK,
};

struct ps_symbol {
	uint64_t start, end; /* end is not of it */
	const char *name;    /* ends with a NUL; the table's */
	uint32_t length;     /* of the name */
	uint8_t binding;
	bool function; /* else data */
	/* its file does not say what it is: anything else at its address is preferred */
	bool label;
};

struct ps_table {
	struct ps_symbol *symbols; /* [n] */
	size_t n, capacity;
	size_t finished; /* so many there were then */
	struct pb_arena names;
	/*
	 * From starts[i] on the symbol owners[i] is meant, to its end or starts[i + 1]: of
	 * nested ones the inner. NULL: as none is nested, it is symbols[i].
	 */
	uint64_t *starts;
	uint32_t *owners;
	/* buckets[k] is the first of them that is not below starts[0] + (k << shift) */
	uint32_t *buckets;
	size_t n_buckets;
	unsigned shift;
	size_t n_spans;
	struct ps_interrupt *interrupt; /* who may end the adding; NULL: nobody */
};

/*
 * Adds a symbol of `size` bytes from `start` on, 0: up to the next one (`end` is not looked
 * at); `length` bytes of `name` are copied. False: no memory, or the loading was interrupted.
 */
bool ps_table_add(struct ps_table *table, const struct ps_symbol *symbol, uint64_t size);

/* What the symbols are of: which of several at one address is kept. */
enum ps_of {
	PS_FILE, /* the best one, as perf chooses */
	/*
	 * likewise; names may end with a module's in brackets, and what is between modules is
	 * of none
	 */
	PS_SYSTEM,
	PS_NEWEST, /* the one that was added last */
};

/*
 * Puts the symbols in order; of those at one address one is kept, and those without a size get
 * one. See symbols__fixup_end and symbols__fixup_duplicate, tools/perf/util/symbol.c. False: no
 * memory, the table is empty.
 */
bool ps_table_finish(struct ps_table *table, enum ps_of of);

/* Adds to all addresses; the table is to be finished after that. */
void ps_table_move(struct ps_table *table, uint64_t by);

/* The symbol that covers an address; NULL: none does. */
const struct ps_symbol *ps_table_find(const struct ps_table *table, uint64_t address);

/*
 * Stores the last symbol that begins before an address, and the first one that begins after it;
 * NULL where there is none.
 */
void ps_table_around(const struct ps_table *table, uint64_t address,
		     const struct ps_symbol **before, const struct ps_symbol **after);

void ps_table_deinit(struct ps_table *table);

#endif
