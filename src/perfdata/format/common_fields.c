/* The fields of every record: those of its header and of its sample_id. */
#include "event.h"
#include "rows.h"
#include "views.h"

static void compute_type_name(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	pd_set_name(out, rec->layout->desc ? rec->layout->desc->name : "unknown");
}

static void compute_type_id(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	pd_set_uint(out, PD_UINT, rec->type);
}

static void compute_chunk_offset(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	if (rec->chunk_offset != PD_NO_CHUNK)
		pd_set_uint(out, PD_UINT, rec->chunk_offset);
}

static void compute_offset(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	pd_set_uint(out, PD_UINT, rec->offset);
}

static void compute_size(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	pd_set_uint(out, PD_UINT, rec->size);
}

static void compute_misc(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	pd_set_uint(out, PD_ADDR, rec->misc);
}

const char *pd_cpumode_name(unsigned mode)
{
	static const char *const names[] = {
		[PD_CPUMODE_UNKNOWN] = "unknown",
		[PD_CPUMODE_KERNEL] = "kernel",
		[PD_CPUMODE_USER] = "user",
		[PD_CPUMODE_HYPERVISOR] = "hypervisor",
		[PD_CPUMODE_GUEST_KERNEL] = "guest_kernel",
		[PD_CPUMODE_GUEST_USER] = "guest_user",
	};

	return names[mode < sizeof(names) / sizeof(names[0]) ? mode : PD_CPUMODE_UNKNOWN];
}

static void compute_cpumode(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	pd_set_name(out, pd_cpumode_name(rec->misc & PD_MISC_CPUMODE));
}

static void compute_source(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	if (!rec->source)
		return;
	out->type = PD_UINT;
	out->u = rec->source;
}

static void compute_event(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	out->event = rec->event;
	if (rec->event)
		out->type = PD_EVENT;
}

/* Loads a record's time; false if it has none. */
static bool load_time(const struct pd_record *rec, uint64_t *time)
{
	struct pd_value v;

	v.type = PD_NIL;
	pd_record_get(rec, rec->layout->slot[rec->layout->shape->clock->time_id], &v);
	*time = v.u;
	return v.type != PD_NIL;
}

static void get_elapsed(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	struct pd_clock *clock = rec->layout->shape->clock;
	uint64_t time;

	(void)at;
	if (!load_time(rec, &time))
		return;
	if (!clock->has_start && clock->find_start)
		clock->find_start(clock);
	if (clock->has_start)
		pd_set_uint(out, PD_INT, time - clock->start);
}

static void wall_time(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	const struct pd_clock *clock = rec->layout->shape->clock;
	uint64_t time;

	(void)at;
	if (clock->has_wall && load_time(rec, &time))
		pd_set_uint(out, PD_UINT, time + (uint64_t)clock->wall);
}

const struct pd_field pd_common_fields[] = {
	{ COMPUTED(STR, "type", 0, compute_type_name,
		   "Name of the record's type; \"unknown\" if it has none here."),
	  .of_layout = true, .header = true },
	{ COMPUTED(UINT, "type_id", 0, compute_type_id, "Number of the record's type."),
	  .of_layout = true, .header = true },
	{ COMPUTED(UINT, "offset", 0, compute_offset,
		   "Byte offset of the record in the file; a decompressed record has that "
		   "of its compressed record."),
	  .header = true },
	{ COMPUTED(UINT, "size", 0, compute_size, "Bytes of the record, its header included."),
	  .header = true },
	{ COMPUTED(ADDR, "misc", 0, compute_misc,
		   "Flags of the header; their meaning depends on the type."),
	  .header = true },
	{ COMPUTED(STR, "cpumode", 0, compute_cpumode,
		   "Context: \"kernel\", \"user\", \"hypervisor\", \"guest_kernel\", "
		   "\"guest_user\" or "
		   "\"unknown\"."),
	  .is_interned = true, .header = true },
	{ COMPUTED(EVENT, "event", 0, compute_event,
		   "The event that the record belongs to: the one with its id, or the first "
		   "event if the record has no id; nil if no event has that id."),
	  .of_layout = true, .header = true },
	{ COMPUTED(UINT, "chunk_offset", 0, compute_chunk_offset,
		   "Byte offset of a decompressed record in the contents of its compressed "
		   "record.") },
	{ COMPUTED(
		UINT, "source", 0, compute_source,
		"Number of the recording among those that were opened together, from 1 on.") },
	/* in the sample_id */
	{ FIELD(U64, "time", 0, "Nanoseconds of the recording's clock."), .part = PD_PART_TIME,
	  .is_time = true, .zero_is_absent = true },
	{ COMPUTED(INT, "elapsed", 0, get_elapsed,
		   "Nanoseconds since the first sample of the recording; in a stream since the "
		   "first that was delivered, nil before it."),
	  .of_time = true },
	{ COMPUTED(UINT, "wall_time", 0, wall_time,
		   "Nanoseconds since 1970 UTC; nil if the recording does not relate its "
		   "clock to that."),
	  .of_time = true },
	{ FIELD(S32, "pid", 0, "Process id; -1 if it has none any more."),
	  .part = PD_PART_TID },
	{ FIELD(S32, "tid", 4, "Thread id; -1 if it has none any more."), .part = PD_PART_TID },
	{ FIELD(S32, "cpu", 0, "Processor."), .part = PD_PART_CPU, .zero_is_absent = true },
	{ FIELD(U64, "id", 0, "Id of the event."), .part = PD_PART_ID, .zero_is_absent = true },
	{ FIELD(U64, "id", 0, "Id of the event."), .part = PD_PART_IDENTIFIER,
	  .zero_is_absent = true },
	{ FIELD(U64, "stream_id", 0, "Id of the event's instance."), .part = PD_PART_STREAM_ID,
	  .zero_is_absent = true },
	{ VIEWED(sample_id, "sample_id", 0, "The trailer as recorded; nil if there is none.") },
	{ OF_SYSTEM(STR, "comm", COMM,
		    "Name of the thread at that time; a colon and its id if the name is not "
		    "known.") },
	END_OF_FIELDS,
};

_Static_assert(sizeof(pd_common_fields) <= PD_MAX_COMMON * sizeof(pd_common_fields[0]),
	       "too many common fields");
