#include "export.h"
#include "perfdata/format/print_scalar.h"
#include "perfetto.h"

/* FtraceEventBundle, trace/ftrace/ftrace_event_bundle.proto */
enum {
	BUNDLE_CPU = 1,
	BUNDLE_EVENT
};

/* FtraceEvent, trace/ftrace/ftrace_event.proto */
enum {
	FTRACE_TIME = 1,
	FTRACE_TID
};

/* SystemInfo and Utsname, common/system_info.proto */
enum {
	SYSTEM_UTSNAME = 1
};
enum {
	UTSNAME_SYSTEM = 1,
	UTSNAME_RELEASE = 3,
	UTSNAME_MACHINE
};

/* Adds a field, unless the value is absent. */
static void add_value(struct pb_string *s, unsigned field, const struct pq_value *value)
{
	if (value->type == PQ_INT)
		pe_add_number(s, field, value->u);
	else if (value->type == PQ_TEXT)
		pe_add_bytes(s, field, value->p, value->size);
}

/* Writes a packet, and clears it unless it has failed. */
static void flush_packet(struct pb_string *packet, struct pd_print *out)
{
	if (packet->failed)
		return;
	pd_print_bytes(out, packet->p, packet->n);
	pb_string_clear(packet);
}

void pe_write_sched(const struct pq_value *row, unsigned event, const uint8_t *numbers,
		    size_t n, struct pb_string *packet, struct pd_print *out)
{
	const struct pq_value *time = &row[0], *cpu = &row[1], *tid = &row[2];
	size_t begin[4];

	if (time->type != PQ_INT || cpu->type != PQ_INT)
		return;
	begin[0] = pe_begin_message(packet, TRACE_PACKET);
	begin[1] = pe_begin_message(packet, FTRACE_EVENTS);
	add_value(packet, BUNDLE_CPU, cpu);
	begin[2] = pe_begin_message(packet, BUNDLE_EVENT);
	add_value(packet, FTRACE_TIME, time);
	add_value(packet, FTRACE_TID, tid);
	begin[3] = pe_begin_message(packet, event);
	for (size_t i = 0; i < n; i++)
		if (numbers[i])
			add_value(packet, numbers[i], &row[PE_SCHED_FIELDS + i]);
	for (size_t i = 4; i--;)
		pe_end_message(packet, begin[i]);
	flush_packet(packet, out);
}

void pe_write_kernel(const char *release, const char *arch, struct pb_string *packet,
		     struct pd_print *out)
{
	size_t begin[3];

	begin[0] = pe_begin_message(packet, TRACE_PACKET);
	begin[1] = pe_begin_message(packet, SYSTEM_INFO);
	begin[2] = pe_begin_message(packet, SYSTEM_UTSNAME);
	pe_add_bytes(packet, UTSNAME_SYSTEM, "Linux", 5);
	pe_add_bytes(packet, UTSNAME_RELEASE, release, strlen(release));
	if (arch)
		pe_add_bytes(packet, UTSNAME_MACHINE, arch, strlen(arch));
	for (size_t i = 3; i--;)
		pe_end_message(packet, begin[i]);
	flush_packet(packet, out);
}
