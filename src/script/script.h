/*
 * The public header of script: writes samples as lines of text, as `perf script` does.
 *
 *	struct px_script *script = px_script_create(&options);
 *
 *	if (!px_script_check(script, &field, &event)) …
 *	px_script_sample(script, &rec, out);
 *
 * The fields of a line are decided once for each event. The format is that of the session's
 * version of perf: see process_event, tools/perf/builtin-script.c. Names from a recording
 * cannot drive a terminal: control characters, and bytes that are not UTF-8, are written as
 * \x1b.
 */
#ifndef PERFLUA_SCRIPT_SCRIPT_H
#define PERFLUA_SCRIPT_SCRIPT_H

#include "machine/machine.h"
#include "perfdata/format/print.h"

/* Classes of events, each with fields of its own, in perf's spelling. */
enum px_class {
	PX_HARDWARE,
	PX_SOFTWARE,
	PX_TRACEPOINT,
	PX_CACHE,
	PX_RAW,
	PX_BREAKPOINT,
	PX_OTHER,
	PX_CLASSES
};
extern const char *const px_class_names[PX_CLASSES]; /* "hw", "sw" … */

/* A field that can be asked for. */
struct px_field {
	const char *name; /* in perf */
	const char *doc;
	unsigned by_default, invalid; /* bits by class: shown by default; makes no sense */
	uint64_t needs;		      /* sample_type must have one of these bits; 0: no need */
};
extern const struct px_field px_fields[]; /* at most 64; ends with a NULL name */

/* Returns the number of a field in px_fields; -1: none. */
int px_field_find(const char *name);

/* The call chains in which inlined functions are shown. */
enum px_inlined {
	PX_INLINED_NONE,
	PX_INLINED_UNWOUND, /* those unwound from a copy of the stack; newer perfs: all */
	PX_INLINED_ALL,
};

/* From when the times of lines count. */
enum px_times {
	PX_TIMES_RECORDED,
	PX_TIMES_SINCE_FIRST, /* the first line */
	PX_TIMES_SINCE_LAST,  /* the line before */
};

struct px_options {
	const struct pd_session *session;
	struct pm_system *system;
	struct pm_resolver *resolver;
	uint64_t fields[PX_CLASSES]; /* bits by number */
	uint64_t asked[PX_CLASSES];  /* subset that is an error if not recorded */
	bool chosen[PX_CLASSES];     /* `fields` are not the default */
	const uint8_t *sampled;	     /* [n_sampled], by event: has samples; NULL: not known */
	size_t n_sampled;
	bool ns; /* show nine decimals of times, else six */
	enum px_times times;
	bool callchains; /* show call chains */
	enum px_inlined inlined;
	unsigned max_stack; /* frames shown of a call chain; 0: all */
};

struct px_script;

/*
 * Creates a script, which copies *options. The objects that they point to must outlive it.
 * Returns NULL without memory.
 */
struct px_script *px_script_create(const struct px_options *options);
void px_script_destroy(struct px_script *script);

/*
 * Returns false if a field was asked for that no sample of its class has, and sets *field to
 * its name and *event to an event of the class. Classes without samples are not checked.
 */
bool px_script_check(const struct px_script *script, const char **field,
		     const struct pd_event **event);

/*
 * Writes a line for `rec` to `out`. Give it samples in the order of time, split by counter
 * value (perfdata's counters.h). A sample of an unknown event is skipped. Returns false without
 * memory, or if a late event makes px_script_check() false.
 */
bool px_script_sample(struct px_script *script, const struct pd_record *rec,
		      struct pd_print *out);

/*
 * Returns true if several scripts of the same options, each with a resolver of its own, may
 * write lines at a time, in several threads: then no line depends on those before it, and the
 * recorded system is prepared for it. Events must not come late.
 */
bool px_script_share(struct px_script *script);

#endif
