/*
 * A table of symbols, sorted by address.
 *
 * Add symbols with ps_table_add() in any order, then call ps_table_finish(), before any lookup.
 * More may be added later, and need to be finished again. Names do not move.
 */
#ifndef PERFLUA_SYMBOLS_TABLE_H
#define PERFLUA_SYMBOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "interrupt.h"

/* ELF's STB_…: decides between several symbols at one address. */
enum ps_binding {
	PS_LOCAL,
	PS_GLOBAL,
	PS_WEAK,
};

struct ps_symbol {
	uint64_t start, end; /* `end` is the first address after it */
	const char *name;    /* ends with a NUL; owned by the table */
	uint32_t length;     /* length of the name */
	uint8_t binding;
	bool function; /* else data */
	/* the file does not say what it is: any other symbol at its address is preferred */
	bool label;
	/* the file gives no size: any symbol around it that has one is preferred */
	bool unsized;
};

struct ps_table {
	struct ps_symbol *symbols; /* [n] */
	size_t n, capacity;
	size_t finished; /* symbols that are sorted */
	struct pb_arena names;
	/*
	 * From starts[i] to starts[i + 1] the symbol is owners[i], up to its end: of nested
	 * ones the inner. NULL: none are nested, so the symbol is symbols[i].
	 */
	uint64_t *starts;
	uint32_t *owners;
	/* buckets[k] is the first that is not below starts[0] + (k << shift) */
	uint32_t *buckets;
	size_t n_buckets;
	unsigned shift;
	size_t n_spans;
	struct ps_interrupt *interrupt; /* ends adding; may be NULL */
};

/*
 * Adds a symbol of `size` bytes at symbol->start; 0: it ends where the next begins. symbol->end
 * is ignored; `length` bytes of `name` are copied. Returns false without memory, or if adding
 * was interrupted.
 */
bool ps_table_add(struct ps_table *table, const struct ps_symbol *symbol, uint64_t size);

/* The source of the symbols, which decides between several at one address. */
enum ps_of {
	PS_FILE, /* keep the best one, as perf chooses */
	/*
	 * likewise; a name may end with a module's in brackets, and gaps between modules have
	 * no symbol
	 */
	PS_SYSTEM,
	PS_NEWEST, /* keep the one added last */
};

/*
 * Sorts the symbols, drops `unsized` ones inside others, keeps one at each address, and gives
 * those without a size one. See
 * symbols__fixup_end and symbols__fixup_duplicate, tools/perf/util/symbol.c. Returns false
 * without memory: the table is empty then.
 */
bool ps_table_finish(struct ps_table *table, enum ps_of kind);

/* Adds `by` to all addresses. Finish the table after that. */
void ps_table_move(struct ps_table *table, uint64_t by);

/* Returns the symbol that covers `address`; NULL: none. */
const struct ps_symbol *ps_table_find(const struct ps_table *table, uint64_t address);

/* Addresses, of which the last one is included. */
struct ps_range {
	uint64_t first, last;
};

/*
 * Does what ps_table_find() does, and sets *ret to addresses around this one, and it, for which
 * the answer is the same.
 */
const struct ps_symbol *ps_table_find_range(const struct ps_table *table, uint64_t address,
					    struct ps_range *ret);

/*
 * Sets *before to the last symbol that begins before `address`, and *after to the first one
 * that begins after it; NULL: none.
 */
void ps_table_around(const struct ps_table *table, uint64_t address,
		     const struct ps_symbol **before, const struct ps_symbol **after);

void ps_table_deinit(struct ps_table *table);

#endif
