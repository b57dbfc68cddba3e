/*
 * Names of the registers in a sample, per architecture, as perf calls them but in lower case
 * and without the "$" and "%" some carry. See arch/…/include/uapi/asm/perf_regs.h of the
 * kernel.
 */
#ifndef PERFLUA_PERFDATA_REGS_H
#define PERFLUA_PERFDATA_REGS_H

#include <stdint.h>

#include "layout.h"

/*
 * The architecture of that ELF e_machine (0: unknown), else of that uname machine ("x86_64";
 * NULL: unknown), else NULL.
 */
const struct pd_arch *pd_arch_find(const char *arch_name, uint32_t e_machine);

#endif
