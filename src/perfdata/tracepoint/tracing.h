/*
 * The tracing data of a recording: what the recorded kernel's tracefs said of the tracepoints,
 * in a blob that has a byte order of its own. See tracing_data_get,
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
	uint64_t id;		      /* UINT64_MAX: it says none */
	struct pd_tracepoint *parsed; /* NULL: nobody asked for it yet, or it is none */
	const char *wrong;	      /* why it is none; NULL: nobody asked for it yet */
};

struct pd_tracing {
	uint8_t *bytes; /* its own, which the texts are of */
	size_t size;
	uint64_t offset; /* where it lies in the file */
	const struct pd_abi
		*abi;	   /* the recording's system-call and error numbers; NULL: unknown */
	bool complete;	   /* it ends where it should */
	char version[8];   /* "0.6" */
	bool big;	   /* big-endian: the blob and the raw data of samples */
	bool swap;	   /* not this host's byte order */
	uint8_t long_size; /* bytes of the recorded kernel's long: 4 or 8 */
	uint32_t page_size;
	struct pd_text header_page, header_event;
	struct pd_format *formats; /* [n_formats] by system, as they lie */
	size_t n_formats;
	uint32_t *by_id;	 /* [n_formats]: their places, in the order of their ids */
	struct pd_text kallsyms; /* lines of an address and a function's name */
	/* lines of an address and a format string, as `0xADDR : "text"` */
	struct pd_text printk;
	struct pd_text cmdlines; /* lines of a thread's id and its name */
};

/*
 * Takes a blob in, of which it owns the bytes (of malloc) from now on, also if it fails. False:
 * the blob ends too early, or is none; *offset is where. What was read until then is there all
 * the same.
 */
bool pd_tracing_parse(struct pd_tracing *tracing, uint8_t *bytes, size_t size, size_t *offset);
void pd_tracing_destroy(struct pd_tracing *tracing); /* NULL: nothing */

/* The format of a tracepoint's id, which is the config of its event; NULL: there is none. */
struct pd_format *pd_tracing_find(const struct pd_tracing *tracing, uint64_t id);

/* The name in a format file; empty: it says none. */
struct pd_text pd_format_name(const struct pd_format *format);

#endif
