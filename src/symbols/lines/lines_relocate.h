/*
 * Debug information of kernel modules: its addresses are left to who loads them.
 */
#ifndef PERFLUA_SYMBOLS_LINES_RELOCATE_H
#define PERFLUA_SYMBOLS_LINES_RELOCATE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Where the code of a module lies in its debug information: at 0 is what the linker left out.
 */
#define PS_MODULE_BASE UINT64_C(0x10000000)

/* Is a section needed for it, beside those with debug information? */
bool ps_relocate_needs(uint32_t type, const char *name);

/*
 * Fills in the addresses, as if the module's code lay at PS_MODULE_BASE, in the order in which
 * the kernel loads it. False: it cannot be done for this machine, or what is there makes no
 * sense.
 */
bool ps_relocate(Elf *elf);

#endif
