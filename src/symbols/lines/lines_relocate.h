/*
 * Relocates the debug information of kernel modules, whose addresses are left open until they
 * are loaded.
 */
#ifndef PERFLUA_SYMBOLS_LINES_RELOCATE_H
#define PERFLUA_SYMBOLS_LINES_RELOCATE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Address of a module's code in its debug information. It is not 0, where the linker puts what
 * it dropped.
 */
#define PS_MODULE_BASE UINT64_C(0x10000000)

/* Returns true if relocation needs a section besides those with debug information. */
bool ps_relocate_needs(uint32_t type, const char *name);

/*
 * Fills in the addresses as if the module's code lay at PS_MODULE_BASE, in the order in which
 * the kernel loads it. Returns false if the machine is not supported, or the relocations make
 * no sense.
 */
bool ps_relocate(Elf *elf);

#endif
