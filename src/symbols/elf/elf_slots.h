/*
 * Slots: the words of a file that the dynamic linker fills with addresses of functions, as the
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
	/*
	 * without a name: address of the resolver function that chooses the target; 0: not
	 * known
	 */
	uint64_t target;
	const char *name; /* valid while the file is open; NULL: none */
};

struct ps_slots {
	struct ps_slot *all; /* [n] */
	size_t n, capacity;
};

/* Reads the slots of all relocations, by address. Returns false without memory. */
bool ps_slots_init(struct ps_slots *slots, Elf *elf, uint16_t machine);
/* Reads the slots of .rela.plt or .rel.plt, in their order. */
bool ps_slots_init_plt(struct ps_slots *slots, Elf *elf);
void ps_slots_deinit(struct ps_slots *slots);

const struct ps_slot *ps_slots_find(const struct ps_slots *slots, uint64_t address);

#endif
