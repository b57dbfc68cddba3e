/*
 * Names of registers in samples, by architecture: perf's names in lower case, without the "$"
 * and "%" that some carry. See arch/…/include/uapi/asm/perf_regs.h of the kernel.
 */
#ifndef PERFLUA_PERFDATA_REGS_H
#define PERFLUA_PERFDATA_REGS_H

#include <stdint.h>

#include "layout.h"

/*
 * Returns the architecture for an ELF e_machine (0: unknown), or else for a uname machine as
 * "x86_64" (NULL: unknown), or else NULL.
 */
const struct pd_arch *pd_arch_find(const char *arch_name, uint32_t e_machine);

#endif
