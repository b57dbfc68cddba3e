/*
 * The tracing data of a recording: files of the recorded kernel's tracefs that describe
 * tracepoints, in a blob with a byte order of its own. See tracing_data_get,
 * tools/perf/util/trace-event-info.c.
 */
#ifndef PERFLUA_PERFDATA_TRACING_H
#define PERFLUA_PERFDATA_TRACING_H

#include "perfdata/format/text.h"

struct pd_abi;
struct pd_tracepoint;

/* The format file of one tracepoint. */
struct pd_format {
	struct pd_text system; /* "sched" */
	struct pd_text text;
	uint64_t id;		      /* UINT64_MAX: it has none */
	struct pd_tracepoint *parsed; /* NULL: not parsed yet, or it cannot be parsed */
	const char *wrong;	      /* why it cannot be parsed; else NULL */
};

struct pd_tracing {
	uint8_t *bytes; /* owned; the texts point into it */
	size_t size;
	uint64_t offset; /* offset of the blob in the file */
	/* numbers of the recording's system calls and errors; NULL: unknown */
	const struct pd_abi *abi;
	bool complete;	   /* the blob ends where it should */
	char version[8];   /* "0.6" */
	bool big;	   /* byte order of the blob and of the raw data of samples */
	bool swap;	   /* differs from the host's byte order */
	uint8_t long_size; /* bytes of the recorded kernel's long: 4 or 8 */
	uint32_t page_size;
	struct pd_text header_page, header_event;
	struct pd_format *formats; /* [n_formats], grouped by system, in the blob's order */
	size_t n_formats;
	uint32_t *by_id;	 /* [n_formats]: indices of formats in the order of their ids */
	struct pd_text kallsyms; /* lines of an address and a function name */
	/* lines of an address and a format string, as `0xADDR : "text"` */
	struct pd_text printk;
	struct pd_text cmdlines; /* lines of a thread id and its name */
};

/*
 * Parses a blob of `size` bytes from malloc, which `tracing` owns from now on, even on failure.
 * Returns false, with *offset where the parser stopped, if the blob ends too early or is none.
 * The parts before that are valid.
 */
bool pd_tracing_parse(struct pd_tracing *tracing, uint8_t *bytes, size_t size, size_t *offset);
void pd_tracing_destroy(struct pd_tracing *tracing); /* NULL is ignored */

/*
 * Returns the format of a tracepoint by its id, which is the config of its event; NULL if there
 * is none.
 */
struct pd_format *pd_tracing_find(const struct pd_tracing *tracing, uint64_t id);

/* Returns the name in a format file; empty if it has none. */
struct pd_text pd_format_name(const struct pd_format *format);

#endif
