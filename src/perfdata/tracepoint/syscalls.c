#include "syscalls.h"

#include <fnmatch.h>
#include <stddef.h>
#include <sys/utsname.h>

/* Consecutive numbers from `first` on. */
struct run {
	uint32_t first, n;
	const uint16_t *name_indexes; /* indices of names; 0: none */
};

#include "syscalls.inc"

struct pd_abi {
	const char *machines[2]; /* patterns for uname's machine */
	uint16_t e_machines[2];
	const struct run *calls, *errors; /* each ends with an empty run */
};

/*
 * Architectures by machine; the more common one comes first if two have the same e_machine. A
 * process may make calls by other numbers than its kernel's, as 32-bit programs do on a 64-bit
 * kernel; only those of x32 and MIPS cannot be mistaken.
 */
static const struct pd_abi abis[] = {
	{ { "x86_64", "amd64" }, { 62 }, x86_64_calls, generic_errors },
	{ { "i?86" }, { 3 }, i386_calls, generic_errors },
	{ { "aarch64*", "arm64*" }, { 183 }, arm64_calls, generic_errors },
	{ { "arm*" }, { 40 }, arm_calls, generic_errors },
	{ { "riscv64" }, { 243 }, riscv64_calls, generic_errors },
	{ { "riscv32" }, { 0 }, riscv32_calls, generic_errors },
	{ { "ppc64*", "powerpc64*" }, { 21 }, powerpc64_calls, powerpc_errors },
	{ { "ppc", "powerpc" }, { 20 }, powerpc_calls, powerpc_errors },
	{ { "s390x" }, { 22 }, s390x_calls, generic_errors },
	{ { "mips*" }, { 8, 10 }, mips_calls, mips_errors },
	{ { "sparc64" }, { 43 }, sparc64_calls, sparc_errors },
	{ { "sparc" }, { 2, 18 }, sparc_calls, sparc_errors },
	{ { "loongarch64" }, { 258 }, loongarch64_calls, generic_errors },
	{ { "loongarch32" }, { 0 }, loongarch32_calls, generic_errors },
	{ { "parisc64" }, { 15 }, parisc64_calls, parisc_errors },
	{ { "parisc", "hppa" }, { 0 }, parisc_calls, parisc_errors },
	{ { "alpha" }, { 0x9026 }, alpha_calls, alpha_errors },
	{ { "m68k" }, { 4 }, m68k_calls, generic_errors },
	{ { "sh[2345]*" }, { 42 }, sh_calls, generic_errors },
	{ { "arc" }, { 93, 195 }, arc_calls, generic_errors },
};

#define ABIS (sizeof(abis) / sizeof(abis[0]))

const struct pd_abi *pd_abi_find(const char *machine, uint32_t e_machine)
{
	for (size_t i = 0; machine && i < ABIS; i++)
		for (size_t k = 0; k < 2 && abis[i].machines[k]; k++)
			if (fnmatch(abis[i].machines[k], machine, 0) == 0)
				return &abis[i];
	for (size_t i = 0; e_machine && i < ABIS; i++)
		if (abis[i].e_machines[0] == e_machine || abis[i].e_machines[1] == e_machine)
			return &abis[i];
	return NULL;
}

const struct pd_abi *pd_abi_of_host(void)
{
	struct utsname host;

	return uname(&host) == 0 ? pd_abi_find(host.machine, 0) : NULL;
}

static uint16_t name_index_of(const struct run *run, uint64_t number)
{
	for (; run->n; run++)
		if (number - run->first < run->n)
			return run->name_indexes[number - run->first];
	return 0;
}

const char *pd_syscall_name(const struct pd_abi *abi, uint64_t number)
{
	return abi ? call_names[name_index_of(abi->calls, number)] : NULL;
}

const char *pd_errno_name(const struct pd_abi *abi, uint64_t number)
{
	return abi ? error_names[name_index_of(abi->errors, number)] : NULL;
}
