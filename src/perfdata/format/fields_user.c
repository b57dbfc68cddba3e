/*
 * The records that perf writes itself: see enum perf_user_event_type and the structs of
 * tools/lib/perf/include/perf/event.h. None of them ends with a sample_id.
 */
#include <inttypes.h>
#include <stdio.h>

#include "coder.h"
#include "event.h"
#include "feature.h"
#include "rows.h"
#include "views.h"

static const struct pd_field no_fields[] = {
	END_OF_FIELDS,
};

/* Records of the container format. */

static const struct pd_field header_attr_fields[] = {
	{ VIEWED(attr, "attr", 8, "The event's attribute.") },
	{ VIEWED(ids, "ids", 8, "The event's ids.") },
	END_OF_FIELDS,
};

/* The ids end the record. They are small numbers, which a header never is. */
static uint32_t measure_attr(const struct pd_record *rec)
{
	struct pd_value attr = { .type = PD_VIEW };
	uint32_t at;

	pd_open_attr(rec, 8, &attr);
	if (attr.type == PD_NIL)
		return UINT32_MAX;
	at = 8 + (uint32_t)attr.view.extra;
	while (pd_fits(rec, at, 8) && pd_rec64(rec, at) <= UINT32_MAX)
		at += 8;
	return at - 8;
}

static const struct pd_field event_type_fields[] = {
	{ FIELD(X64, "event_id", 8, "Config of the event.") },
	{ BYTES(CHARS, "name", 16, 64, "Name of the event.") },
	END_OF_FIELDS,
};

static const struct pd_field tracing_data_fields[] = {
	{ FIELD(U32, "data_size", 8, "Bytes of tracing data that follow the record.") },
	END_OF_FIELDS,
};

static void compute_build_id(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t n = 20;

	if (!pd_fits(rec, at, 24))
		return;
	if (rec->misc & PD_MISC_BUILD_ID_SIZE && rec->bytes[at + 20] <= 20)
		n = rec->bytes[at + 20];
	pd_set_bytes(out, PD_HEX, rec->bytes + at, n);
}

/* Codes a build-id, and its size where misc says that it is there. */
static void code_build_id(struct pd_coder *c, const struct pd_field *field)
{
	uint32_t start = c->at, size = 20;
	bool has_size = c->misc & PD_MISC_BUILD_ID_SIZE;

	if (has_size && c->encodes)
		size = pd_code_size(c, field->name, 20);
	else if (has_size)
		size = (uint32_t)pd_code_peek(c, start + 20, 1);
	if (size > 20)
		c->failed = true;
	pd_code_bytes(c, field->name, size);
	c->at = start + 20;
	if (has_size && c->encodes)
		pd_code_store(c, 1, size);
	c->at = start + 20;
	pd_code_pad(c, 4);
}

#define BUILD_ID_NAME 36
#define NAME_ALIGN    64 /* perf pads the name with zeros: see write_padded() */

static uint32_t measure_build_id(const struct pd_record *rec)
{
	uint32_t text = pd_measure_text(rec, BUILD_ID_NAME);
	uint32_t padded = (text + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

	if (text == UINT32_MAX || !pd_fits(rec, BUILD_ID_NAME, padded))
		return UINT32_MAX;
	for (uint32_t i = text; i < padded; i++)
		if (rec->bytes[BUILD_ID_NAME + i])
			return UINT32_MAX;
	return padded;
}

static const struct pd_field build_id_fields[] = {
	{ FIELD(S32, "pid", 8,
		"Process id of the virtual machine that the file is in; -1 for the host.") },
	{ COMPUTED(HEX, "build_id", 12, compute_build_id, "Build-id of the file in hex."),
	  .code = code_build_id },
	{ FIELD(CSTR, "filename", BUILD_ID_NAME, "The file."), .arg = NAME_ALIGN },
	END_OF_FIELDS,
};

static void compute_feature(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	const struct pd_feature *known;
	uint64_t bit;

	if (!pd_fits(rec, at, 8))
		return;
	bit = pd_rec64(rec, at);
	known = bit < PD_FEATURES ? pd_feature_by_bit((unsigned)bit) : NULL;
	if (known) {
		pd_set_name(out, known->name);
		return;
	}
	pd_set_bytes(out, PD_STR, out->text,
		     (size_t)snprintf(out->text, sizeof(out->text), "%" PRIu64, bit));
}

static void compute_rest(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, 0))
		pd_set_bytes(out, PD_BLOB, rec->bytes + at, pd_body_end(rec) - at);
}

static uint32_t measure_feature(const struct pd_record *rec)
{
	return pd_feature_measure(pd_rec64(rec, 8), rec->bytes + 16, pd_body_end(rec) - 16,
				  rec->layout->swap);
}

/* Codes the number of the feature, and its content. */
static void code_feature(struct pd_coder *c, const struct pd_field *field)
{
	uint64_t bit = c->encodes ? 0 : pd_code_load(c, 8);
	const struct pd_feature *feature;

	bit = pd_code_feature_bit(c, field->name, bit);
	if (c->encodes)
		pd_code_store(c, 8, bit);
	feature = bit < PD_FEATURES ? pd_feature_by_bit((unsigned)bit) : NULL;
	pd_code_feature(c, feature);
}

static const struct pd_field header_feature_fields[] = {
	{ COMPUTED(STR, "feature", 8, compute_feature,
		   "Name of the header feature; an unknown one has its number."),
	  .code = code_feature },
	{ COMPUTED(BLOB, "value", 16, compute_rest, "Bytes of the header feature.") },
	END_OF_FIELDS,
};

static void compute_bytes_left(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, 0))
		pd_set_uint(out, PD_UINT, pd_body_end(rec) - at);
}

static const struct pd_field compressed_fields[] = {
	{ COMPUTED(UINT, "data_size", 8, compute_bytes_left, "Bytes of compressed data.") },
	END_OF_FIELDS,
};

static const struct pd_field compressed2_fields[] = {
	{ FIELD(U64, "data_size", 8, "Bytes of compressed data, without their padding.") },
	END_OF_FIELDS,
};

static uint32_t measure_compressed(const struct pd_record *rec)
{
	uint64_t n = pd_fits(rec, 8, 8) ? pd_rec64(rec, 8) : UINT64_MAX;

	return n < UINT16_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Records of AUX areas. */

static const struct pd_field id_index_fields[] = {
	{ VIEWED(id_index, "entries", 8, "The event that each id belongs to.") },
	END_OF_FIELDS,
};

static const struct pd_field auxtrace_info_fields[] = {
	{ FIELD(U32, "auxtrace_type", 8,
		"Kind of trace: 1 Intel PT, 2 Intel BTS, 3 CoreSight ETM, 4 Arm SPE, 5 s390 "
		"CPUMSF, "
		"6 HiSilicon PTT, 7 VPA DTL.") },
	{ VIEWED(priv, "priv", 16, "Values that the decoder of that kind needs.") },
	END_OF_FIELDS,
};

static const struct pd_field auxtrace_fields[] = {
	{ FIELD(U64, "data_size", 8, "Bytes of trace that follow the record.") },
	{ FIELD(X64, "data_offset", 16, "Offset of the trace in the AUX area, in bytes.") },
	{ FIELD(X64, "reference", 24, "Unique number that keeps overlapping buffers apart.") },
	{ FIELD(U32, "idx", 32, "Index of the ring buffer.") },
	{ FIELD(S32, "tid", 36, "Thread that is traced; -1 for any.") },
	{ FIELD(S32, "cpu", 40, "Processor that is traced; -1 for any.") },
	END_OF_FIELDS,
};

#define ERROR_FMT	  28 /* from 1 on there is a time, from 2 on a guest */
#define ERROR_TIME	  40
#define ERROR_MSG_SIZE	  64
#define ERROR_MACHINE_PID 112
#define ERROR_VCPU	  116

static uint32_t get_error_fmt(const struct pd_record *rec)
{
	return pd_fits(rec, ERROR_FMT, 4) ? pd_rec32(rec, ERROR_FMT) : 0;
}

static void compute_error_time(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (get_error_fmt(rec) >= 1 && pd_fits(rec, at, 8))
		pd_set_uint(out, PD_UINT, pd_rec64(rec, at));
}

static void compute_error_msg(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t left;

	at += get_error_fmt(rec) >= 1 ? 8 : 0;
	if (!pd_fits(rec, at, 1))
		return;
	left = pd_body_end(rec) - at;
	pd_set_text(out, rec->bytes + at, left < ERROR_MSG_SIZE ? left : ERROR_MSG_SIZE);
}

static void compute_error_guest(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (get_error_fmt(rec) >= 2 && pd_fits(rec, at, 4))
		pd_set_uint(out, PD_UINT, pd_rec32(rec, at));
}

static const struct pd_field auxtrace_error_fields[] = {
	{ FIELD(U32, "error_type", 8, "1: decoding instruction trace failed.") },
	{ FIELD(U32, "code", 12, "The decoder's own number of the error.") },
	{ FIELD(U32, "fmt", ERROR_FMT,
		"Version of the record: from 1 on it has time, from 2 on guests.") },
	{ FIELD(S32, "cpu", 16, "Processor whose trace it was; -1 if unknown.") },
	{ FIELD(S32, "pid", 20, "Process whose trace it was; -1 if unknown.") },
	{ FIELD(S32, "tid", 24, "Thread whose trace it was; -1 if unknown.") },
	{ FIELD(X64, "ip", 32, "Address where decoding stopped.") },
	{ COMPUTED(UINT, "time", ERROR_TIME, compute_error_time,
		   "Nanoseconds; nil if not recorded."),
	  .is_time = true },
	{ COMPUTED(STR, "msg", ERROR_TIME, compute_error_msg, "The error as a text.") },
	{ COMPUTED(UINT, "machine_pid", ERROR_MACHINE_PID, compute_error_guest,
		   "Process id of the guest's virtual machine; nil if not recorded.") },
	{ COMPUTED(UINT, "vcpu", ERROR_VCPU, compute_error_guest,
		   "Virtual processor of the guest; nil if not recorded.") },
	END_OF_FIELDS,
};

/* Records of perf stat, and records that describe events. */

static const struct pd_field thread_map_fields[] = {
	{ VIEWED(thread_map, "threads", 8, "The threads that were recorded.") },
	END_OF_FIELDS,
};

static const struct pd_field cpu_map_fields[] = {
	{ VIEWED(cpus, "cpus", 8, "The processors that were recorded.") },
	END_OF_FIELDS,
};

#define CONFIG_ENTRIES 16

/* Sets *out to the value of a tag among the pairs that follow. */
static void load_stat_config(const struct pd_record *rec, uint64_t tag, struct pd_value *out)
{
	uint64_t n;

	if (!pd_fits(rec, 8, 8))
		return;
	n = pd_rec64(rec, 8);
	for (uint32_t at = CONFIG_ENTRIES; n && pd_fits(rec, at, 16); at += 16, n--)
		if (pd_rec64(rec, at) == tag)
			pd_set_uint(out, PD_UINT, pd_rec64(rec, at + 8));
}

#define STAT_CONFIG(name, tag)                                               \
	static void compute_##name(const struct pd_record *rec, uint32_t at, \
				   struct pd_value *out)                     \
	{                                                                    \
		(void)at;                                                    \
		load_stat_config(rec, tag, out);                             \
	}

STAT_CONFIG(aggr_mode, 0)
STAT_CONFIG(interval, 1)
STAT_CONFIG(scale, 2)
STAT_CONFIG(aggr_level, 3)

static void code_config(struct pd_coder *c, const struct pd_field *field)
{
	uint32_t n = pd_code_count(c, "config", 8, 16);

	(void)field;
	for (uint32_t i = 0; i < n; i++) {
		pd_code_begin(c, NULL);
		pd_code_int(c, "tag", 8, PD_AS_UINT);
		pd_code_int(c, "val", 8, PD_AS_UINT);
		pd_code_end(c);
	}
	pd_code_end(c);
}

static const struct pd_field stat_config_fields[] = {
	{ COMPUTED(UINT, "aggr_mode", 8, compute_aggr_mode,
		   "Mode in which counts are summed up, as the writer numbers it: versions of "
		   "perf differ."),
	  .code = code_config },
	{ COMPUTED(UINT, "interval", 8, compute_interval,
		   "Milliseconds between rounds; 0 for only one.") },
	{ COMPUTED(UINT, "scale", 8, compute_scale,
		   "1: counts of multiplexed events are scaled up.") },
	{ COMPUTED(UINT, "aggr_level", 8, compute_aggr_level,
		   "Level of cache that counts are summed up for.") },
	END_OF_FIELDS,
};

static const struct pd_field stat_fields[] = {
	{ FIELD(U64, "id", 8, "Id of the event.") },
	{ FIELD(S32, "cpu", 16, "Processor; -1 for any.") },
	{ FIELD(U32, "thread", 20, "Number of the thread in the thread_map, from 0.") },
	{ FIELD(U64, "val", 24, "The counter.") },
	{ FIELD(U64, "ena", 32, "Nanoseconds that the event was enabled.") },
	{ FIELD(U64, "run", 40, "Nanoseconds that the event was counted.") },
	END_OF_FIELDS,
};

static const struct pd_field stat_round_fields[] = {
	{ FIELD(U64, "round_type", 8, "0: an interval ended, 1: the last round.") },
	{ FIELD(U64, "time", 16, "Nanoseconds since counting began."), .is_time = true },
	END_OF_FIELDS,
};

static uint32_t measure_cpu_map(const struct pd_record *rec)
{
	return pd_measure_cpus(rec, 8);
}

/* Old recorders wrote only the first three members; the last ones are flags and padding. */
static uint32_t measure_time_conv(const struct pd_record *rec)
{
	static const uint8_t zeros[6];

	return pd_fits(rec, 8, 48) && rec->bytes[48] <= 1 && rec->bytes[49] <= 1 &&
			       memcmp(rec->bytes + 50, zeros, sizeof(zeros)) == 0 ?
		       48 :
		       24;
}

static const struct pd_field time_conv_fields[] = {
	{ FIELD(U64, "time_shift", 8, "Bits to shift right after multiplying.") },
	{ FIELD(U64, "time_mult", 16, "Factor from cycles to nanoseconds.") },
	{ FIELD(U64, "time_zero", 24, "Nanoseconds when the cycle counter was 0.") },
	{ FIELD(U64, "time_cycles", 32,
		"Cycles that time_mask counts from; nil in old recordings.") },
	{ FIELD(X64, "time_mask", 40,
		"Bits of a short cycle counter; nil in old recordings.") },
	{ FIELD(BOOL8, "cap_user_time_zero", 48,
		"True if time_zero is valid; nil in old recordings.") },
	{ FIELD(BOOL8, "cap_user_time_short", 49,
		"True if the cycle counter is short; nil in old recordings.") },
	END_OF_FIELDS,
};

#define PROG_NAME_SIZE 512

static void compute_prog_name(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, PROG_NAME_SIZE))
		pd_set_text(out, rec->bytes + at, PROG_NAME_SIZE);
}

static void code_prog_name(struct pd_coder *c, const struct pd_field *field)
{
	pd_code_chars(c, field->name, PROG_NAME_SIZE);
}

static const struct pd_field bpf_metadata_fields[] = {
	{ COMPUTED(STR, "prog_name", 8, compute_prog_name, "Name of the BPF program."),
	  .code = code_prog_name },
	{ VIEWED(bpf_metadata, "entries", 8 + PROG_NAME_SIZE,
		 "The program's description of itself.") },
	END_OF_FIELDS,
};

static uint64_t get_auxtrace_payload(const struct pd_record *rec)
{
	return rec->size >= 16 ? pd_rec64(rec, 8) : 0;
}

/* simpleperf keeps the data inside the record */
static uint64_t get_tracing_data_payload(const struct pd_record *rec)
{
	uint32_t size = rec->size >= 12 ? pd_rec32(rec, 8) : 0;

	return size > rec->size - 12 ? size : 0;
}

/* A record type; the traits of the row come last. */
#define USER(id, n, table, text, ...)                                                         \
	[(id)-PD_RECORD_USER] = {                                                             \
		.type = (id), .name = (n), .doc = (text), .fields = TABLE(table), __VA_ARGS__ \
	}
#define CONTAINER(id, n, table, text, ...) \
	USER(id, n, table, text, .container = true, __VA_ARGS__)

const struct pd_record_desc pd_user_records[PD_RECORD_TYPES - PD_RECORD_USER] = {
	CONTAINER(PD_RECORD_HEADER_ATTR, "header_attr", header_attr_fields,
		  "An event of a stream, as a file has it in its header.", .metadata = true,
		  VARIES_FROM(8, measure_attr)),
	CONTAINER(PD_RECORD_EVENT_TYPE, "event_type", event_type_fields,
		  "Name of an event, in recordings of 2012 and before.", ENDS_AT(80)),
	CONTAINER(PD_RECORD_TRACING_DATA, "tracing_data", tracing_data_fields,
		  "The formats of tracepoints follow the record.",
		  .payload = get_tracing_data_payload, ENDS_AT(12)),
	CONTAINER(PD_RECORD_BUILD_ID, "build_id", build_id_fields, "Build-id of a file.",
		  .metadata = true, .sideband = PD_SB_BUILD_ID,
		  VARIES_FROM(BUILD_ID_NAME, measure_build_id)),
	CONTAINER(PD_RECORD_FINISHED_ROUND, "finished_round", no_fields,
		  "All ring buffers were read once.", ENDS_AT(8)),
	USER(PD_RECORD_ID_INDEX, "id_index", id_index_fields,
	     "The event that each id belongs to.", .sideband = PD_SB_EVENT_IDS,
	     VARIES_FROM(8, pd_measure_id_index)),
	USER(PD_RECORD_AUXTRACE_INFO, "auxtrace_info", auxtrace_info_fields,
	     "Values that decoding the AUX areas needs."),
	USER(PD_RECORD_AUXTRACE, "auxtrace", auxtrace_fields, "A piece of an AUX area follows.",
	     .payload = get_auxtrace_payload, ENDS_AT(48)),
	USER(PD_RECORD_AUXTRACE_ERROR, "auxtrace_error", auxtrace_error_fields,
	     "An AUX area could not be decoded."),
	USER(PD_RECORD_THREAD_MAP, "thread_map", thread_map_fields,
	     "The threads that were recorded.", COUNTED_FROM(16, 24)),
	USER(PD_RECORD_CPU_MAP, "cpu_map", cpu_map_fields, "The processors that were recorded.",
	     VARIES_FROM(8, measure_cpu_map)),
	USER(PD_RECORD_STAT_CONFIG, "stat_config", stat_config_fields,
	     "The settings of perf stat.", COUNTED_FROM(16, 16)),
	USER(PD_RECORD_STAT, "stat", stat_fields, "A count of perf stat.", ENDS_AT(48)),
	USER(PD_RECORD_STAT_ROUND, "stat_round", stat_round_fields,
	     "perf stat read all counters.", ENDS_AT(24)),
	USER(PD_RECORD_EVENT_UPDATE, "event_update", pd_event_update_fields,
	     "Unit, scale, name or processors of an event.", .metadata = true,
	     VARIES_FROM(24, pd_measure_update)),
	USER(PD_RECORD_TIME_CONV, "time_conv", time_conv_fields,
	     "The values that convert cycles to nanoseconds.",
	     VARIES_FROM(8, measure_time_conv)),
	CONTAINER(PD_RECORD_HEADER_FEATURE, "header_feature", header_feature_fields,
		  "A header feature of a stream.", .metadata = true,
		  VARIES_FROM(16, measure_feature)),
	CONTAINER(PD_RECORD_COMPRESSED, "compressed", compressed_fields, "Compressed records."),
	CONTAINER(PD_RECORD_FINISHED_INIT, "finished_init", no_fields,
		  "The end of the records that describe the system before recording.",
		  ENDS_AT(8)),
	CONTAINER(PD_RECORD_COMPRESSED2, "compressed2", compressed2_fields,
		  "Compressed records, padded.", VARIES_FROM(16, measure_compressed)),
	USER(PD_RECORD_BPF_METADATA, "bpf_metadata", bpf_metadata_fields,
	     "Metadata that a BPF program carries.",
	     COUNTED_FROM(16 + PROG_NAME_SIZE, 64 + 256)),
	USER(PD_RECORD_SCHEDSTAT_CPU, "schedstat_cpu", pd_schedstat_cpu_fields,
	     "Scheduler statistics of a processor.", ENDS_AT(72)),
	USER(PD_RECORD_SCHEDSTAT_DOMAIN, "schedstat_domain", pd_schedstat_domain_fields,
	     "Scheduler statistics of a scheduling domain of a processor.", ENDS_AT(208)),
};
