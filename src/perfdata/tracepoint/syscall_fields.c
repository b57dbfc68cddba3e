/*
 * The system call of samples of raw_syscalls:* and syscalls:*, see
 * include/trace/events/syscalls.h and kernel/trace/trace_syscalls.c.
 */
#include <string.h>

#include "perfdata/format/event.h"
#include "perfdata/format/rows.h"
#include "syscalls.h"
#include "tracepoint.h"
#include "perfdata/format/views.h"

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
