/*
 * Names of system calls and errors by architecture, and the fields of samples with them:
 * raw_syscalls:* and syscalls:*, see include/trace/events/syscalls.h and
 * kernel/trace/trace_syscalls.c.
 */
#include "syscalls.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

#include "perfdata/format/event.h"
#include "perfdata/format/rows.h"
#include "perfdata/format/views.h"
#include "tracepoint.h"

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

#define MAX_ERRNO 4095 /* include/linux/err.h */

/* Returns the rest of a name after a prefix; NULL if it has another prefix. */
static const char *skip_prefix(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

/*
 * Returns the index of the field with the call's number. Older kernels name it "nr", as some
 * calls name an argument, but it is the first field.
 */
static uint32_t find_number(const struct pd_tracepoint *tracepoint)
{
	uint32_t at = pd_tracepoint_find(tracepoint, "__syscall_nr", 12);
	uint32_t first = tracepoint->n_common;

	if (at == PD_NO_ARG && first < tracepoint->n_fields &&
	    strcmp(tracepoint->fields[first].name, "nr") == 0)
		at = first;
	return at;
}

void pd_tracepoint_call(struct pd_tracepoint *tracepoint)
{
	const char *exit = skip_prefix(tracepoint->name, "sys_exit");
	const char *enter = skip_prefix(tracepoint->name, "sys_enter");
	const char *call = exit ? exit : enter;

	tracepoint->arg_syscall = tracepoint->arg_ret = PD_NO_ARG;
	tracepoint->syscall = NULL;
	if (!call)
		return;
	if (strcmp(tracepoint->system, "raw_syscalls") == 0) {
		tracepoint->arg_syscall = pd_tracepoint_find(tracepoint, "id", 2);
	} else if (strcmp(tracepoint->system, "syscalls") == 0 && *call == '_') {
		tracepoint->arg_syscall = find_number(tracepoint);
		tracepoint->syscall = call + 1;
	} else {
		return;
	}
	if (exit)
		tracepoint->arg_ret = pd_tracepoint_find(tracepoint, "ret", 3);
}

/*
 * Reads the integer in field `arg` of the sample's tracepoint. Returns false if it is not
 * there.
 */
static bool get_arg_value(const struct pd_record *rec, uint32_t arg, struct pd_value *out)
{
	const uint8_t *raw;
	uint32_t n;

	if (arg == PD_NO_ARG || !pd_args_raw(rec, &raw, &n))
		return false;
	pd_args_get(rec, &pd_tracepoint_of_record(rec)->fields[arg], raw, n, out);
	return out->type == PD_INT || out->type == PD_UINT;
}

void pd_field_syscall(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	const char *name = NULL;

	(void)at;
	if (!tracepoint)
		return;
	if (get_arg_value(rec, tracepoint->arg_syscall, out))
		name = pd_syscall_name(tracepoint->tracing->abi, out->u);
	pd_set_name(out, name ? name : tracepoint->syscall);
}

void pd_field_errno(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	const char *name = NULL;

	(void)at;
	if (!tracepoint)
		return;
	if (get_arg_value(rec, tracepoint->arg_ret, out) && out->type == PD_INT && out->i < 0 &&
	    out->i >= -MAX_ERRNO)
		name = pd_errno_name(tracepoint->tracing->abi, (uint64_t)-out->i);
	pd_set_name(out, name);
}
