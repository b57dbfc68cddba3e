/*
 * Names of system calls and errors by number, for an architecture. Numbers newer than the
 * tables have no name.
 */
#ifndef PERFLUA_PERFDATA_SYSCALLS_H
#define PERFLUA_PERFDATA_SYSCALLS_H

#include <stdint.h>

struct pd_abi;

/*
 * Returns the numbers of a uname machine ("x86_64"; NULL or empty: unknown), or else of an ELF
 * e_machine (0: unknown), or else NULL.
 */
const struct pd_abi *pd_abi_find(const char *machine, uint32_t e_machine);

/* Returns the numbers of the machine that runs this program, or NULL. */
const struct pd_abi *pd_abi_of_host(void);

/*
 * Return the name of a system call as "openat", and of an error as "ENOENT"; NULL if the number
 * has no name or `abi` is NULL. Names are constants.
 */
const char *pd_syscall_name(const struct pd_abi *abi, uint64_t number);
const char *pd_errno_name(const struct pd_abi *abi, uint64_t number);

#endif
