#include "spans.h"

#include "perfdata/format/print_scalar.h"
#include "profile.h"

const struct pe_span_writer *pe_span_writer_find(const char *format)
{
	static const struct pe_span_writer *const writers[] = {
		&pe_chrome_spans,
		&pe_firefox_spans,
		&pe_perfetto_spans,
		&pe_speedscope_spans,
	};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (strcmp(writers[i]->format, format) == 0)
			return writers[i];
	return NULL;
}

#define STEPS (UINT64_C(1) << PE_LENGTH_BITS)

/* Returns the class of a length: the length itself where it is short. */
static uint64_t class_of_length(uint64_t ns)
{
	unsigned power = ns < STEPS ? 0 : 63 - (unsigned)__builtin_clzll(ns) - PE_LENGTH_BITS;

	return ns < STEPS ? ns : (power + 1) * STEPS + (ns >> power) % STEPS;
}

/* Returns the least length of a class. */
static uint64_t least_of_class(uint64_t class)
{
	return class < STEPS ? class : (STEPS + class % STEPS) << (class / STEPS - 1);
}

void pe_span_measure(struct pe_span_sizes *sizes, const struct pe_span_writer *writer,
		     const struct pe_span *span)
{
	uint64_t names = writer->names * (uint64_t)span->name.n;

	sizes->bytes[class_of_length(pe_span_length(span))] += writer->span_bytes + names;
}

uint64_t pe_span_least(const struct pe_span_sizes *sizes, uint64_t most)
{
	uint64_t least = UINT64_MAX, size = 0;

	for (unsigned i = PE_LENGTH_CLASSES; i--;) {
		if (!sizes->bytes[i])
			continue;
		size += sizes->bytes[i];
		if (size > most)
			return least;
		least = least_of_class(i);
	}
	return 0;
}

/* Returns the value of a column; NULL: it is absent. */
static const struct pq_value *find_span_value(const struct pq_value *row, const size_t *at,
					      enum pe_span_column column, enum pq_type type)
{
	return at[column] < SIZE_MAX && row[at[column]].type == type ? &row[at[column]] : NULL;
}

static uint64_t read_time(const struct pq_value *row, const size_t *at,
			  enum pe_span_column column)
{
	const struct pq_value *value = find_span_value(row, at, column, PQ_INT);

	return value ? value->u : 0;
}

static int32_t read_id(const struct pq_value *row, const size_t *at, enum pe_span_column column)
{
	const struct pq_value *value = find_span_value(row, at, column, PQ_INT);

	return value ? (int32_t)value->i : PE_NO_ID;
}

static struct pd_text read_text(const struct pq_value *row, const size_t *at,
				enum pe_span_column column)
{
	const struct pq_value *value = find_span_value(row, at, column, PQ_TEXT);

	return value ? (struct pd_text){ value->p, value->size } : (struct pd_text){ NULL, 0 };
}

void pe_span_read(const struct pq_value *row, const size_t *at, struct pe_span *span)
{
	const struct pq_value *event = find_span_value(row, at, PE_SPAN_EVENT, PQ_EVENT);
	const char *name = event ? event->event->name : "span";

	*span = (struct pe_span){
		.start = read_time(row, at, PE_SPAN_START),
		.stop = read_time(row, at, PE_SPAN_STOP),
		.pid = read_id(row, at, PE_SPAN_PID),
		.tid = read_id(row, at, PE_SPAN_TID),
		.comm = read_text(row, at, PE_SPAN_COMM),
		.name = read_text(row, at, PE_SPAN_SYSCALL),
	};
	if (!span->name.p)
		span->name = (struct pd_text){ name, strlen(name) };
}

void pe_span_print_text(struct pd_print *out, struct pb_string *scratch, struct pd_text text)
{
	struct pd_text valid = pd_valid_text(scratch, text);

	pd_print_json_string(out, valid.p ? valid.p : "", valid.p ? valid.n : 0);
}

struct pd_text pe_span_process(const struct pe_span_options *options, int32_t pid,
			       uint64_t time, struct pm_incarnation *process)
{
	/* if the clocks of the recordings differ, the first one that knows the thread counts */
	for (uint32_t i = 0; options->system && i < options->n_machines; i++)
		if (pm_system_incarnation(options->system, i, pid, time, process))
			return (struct pd_text){ process->comm.s.p, process->comm.s.n };
	return (struct pd_text){ NULL, 0 };
}
