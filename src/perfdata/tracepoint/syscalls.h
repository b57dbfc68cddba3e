/*
 * Names of system calls and of errors by their numbers, which are an architecture's. What is
 * newer than the tables has no name.
 */
#ifndef PERFLUA_PERFDATA_SYSCALLS_H
#define PERFLUA_PERFDATA_SYSCALLS_H

#include <stdint.h>

struct pd_abi;

/*
 * The numbers of that uname machine ("x86_64"; NULL or empty: unknown), else of that ELF
 * e_machine (0: unknown); NULL: not known.
 */
const struct pd_abi *pd_abi_find(const char *machine, uint32_t e_machine);

/* Those of the machine this runs on. */
const struct pd_abi *pd_abi_of_host(void);

/* "openat"; NULL: the number has no name, or abi is NULL. Names stay where they are. */
const char *pd_syscall_name(const struct pd_abi *abi, uint64_t number);

/* "ENOENT" of 2, likewise. */
const char *pd_errno_name(const struct pd_abi *abi, uint64_t number);

#endif
