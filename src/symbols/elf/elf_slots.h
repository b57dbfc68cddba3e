/*
 * The words of a file that the dynamic linker fills with addresses of functions, as its
 * relocations name them.
 */
#ifndef PERFLUA_SYMBOLS_ELF_SLOTS_H
#define PERFLUA_SYMBOLS_ELF_SLOTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_slot {
	uint64_t address;
	/* without a name: the address of what chooses the function; 0: not known */
	uint64_t target;
	const char *name; /* of the file, while it is open; NULL: none */
};

struct ps_slots {
	struct ps_slot *all; /* [n] */
	size_t n, capacity;
};

/* Those of all relocations, by address. False: no memory. */
bool ps_slots_init(struct ps_slots *slots, Elf *elf, uint16_t machine);
/* Those of .rela.plt or .rel.plt, as they stand there. */
bool ps_slots_init_plt(struct ps_slots *slots, Elf *elf);
void ps_slots_deinit(struct ps_slots *slots);

const struct ps_slot *ps_slots_find(const struct ps_slots *slots, uint64_t address);

#endif
