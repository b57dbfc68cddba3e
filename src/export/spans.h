/*
 * The public header for spans of pair(), which are written one after another in formats that
 * have tracks for threads.
 *
 *	const struct pe_span_writer *writer = pe_span_writer_find("perfetto");
 *	void *state = writer->create(&options);
 *
 *	for (…) {
 *		pe_span_read(row, at, &span);
 *		writer->add(state, &span);
 *	}
 *	writer->finish(state);
 *	writer->destroy(state);
 */
#ifndef PERFLUA_EXPORT_SPANS_H
#define PERFLUA_EXPORT_SPANS_H

#include "base/string_builder.h"
#include "perfdata/format/print.h"
#include "query/query.h"

/* The values of a row: the times of a span, and fields of the record that opened it. */
enum pe_span_column {
	PE_SPAN_START,
	PE_SPAN_STOP,
	PE_SPAN_EVENT,
	PE_SPAN_SYSCALL,
	PE_SPAN_PID,
	PE_SPAN_TID,
	PE_SPAN_COMM,
	PE_SPAN_COLUMNS,
};

/* A span. Its texts are not its own. */
struct pe_span {
	uint64_t start, stop; /* ns */
	int32_t pid, tid;     /* of the record that opened it; INT32_MIN: not recorded */
	struct pd_text comm;  /* likewise; .p is NULL: not known */
	struct pd_text name;  /* of its system call, else of the event that opened it */
};

/*
 * Reads a span from a row, of which column c is value at[c]; SIZE_MAX: the row does not have
 * it. The texts are those of the row.
 */
void pe_span_read(const struct pq_value *row, const size_t *at, struct pe_span *span);

/*
 * Prints a text as a string of JSON, with U+FFFD in place of bytes that are not UTF-8. Missing
 * memory is noted in `scratch`.
 */
void pe_span_print_text(struct pd_print *out, struct pb_string *scratch, struct pd_text text);

/* Options of a writer, which borrows them. */
struct pe_span_options {
	const struct pm_system *system; /* knows the names of processes; NULL: none are known */
	uint32_t n_machines;
	const char *title;
	uint64_t start;	  /* ns: time of the first sample; 0: not known */
	uint64_t most;	  /* bytes of text that may be written */
	unsigned threads; /* that may compress, the caller's included: at least 1 */
	struct pd_print *out;
};

/*
 * A format. The options must outlive the state that create() returns. The functions return NULL
 * or false without memory; then a part may have been written.
 */
struct pe_span_writer {
	const char *format;
	/* text of a span: bytes, rarely more, beside how many times its name */
	uint16_t span_bytes, names;
	void *(*create)(const struct pe_span_options *options);
	bool (*add)(void *state, const struct pe_span *span);
	/*
	 * Writes what is left, and flushes `out`. Returns in *size the bytes of text if they
	 * were compressed; then a part is missing if they are more than options->most.
	 */
	bool (*finish)(void *state, uint64_t *size);
	void (*destroy)(void *state);
};

#define PE_LENGTH_BITS	  6 /* classes of lengths in each power of two, as a power of two */
#define PE_LENGTH_CLASSES ((65 - PE_LENGTH_BITS) << PE_LENGTH_BITS)

/* The text that spans take in a format, by classes of their lengths. Begins with zeros. */
struct pe_span_sizes {
	uint64_t bytes[PE_LENGTH_CLASSES];
};

void pe_span_measure(struct pe_span_sizes *sizes, const struct pe_span_writer *writer,
		     const struct pe_span *span);

/*
 * Returns the least length, in ns, of the spans that have room in `most` bytes: 0 if all have,
 * UINT64_MAX if not even the longest.
 */
uint64_t pe_span_least(const struct pe_span_sizes *sizes, uint64_t most);

/* Returns the length of a span, in ns. */
static inline uint64_t pe_span_length(const struct pe_span *span)
{
	return span->stop > span->start ? span->stop - span->start : 0;
}

/* Returns the writer of the format of that name; NULL: it has no room for spans. */
const struct pe_span_writer *pe_span_writer_find(const char *format);

#endif
