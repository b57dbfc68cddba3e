/*
 * The public header of script: samples as lines of text, as `perf script` writes them.
 *
 *	struct px_script *script = px_script_create(&options);
 *
 *	if (!px_script_check(script, &field, &event)) …
 *	px_script_sample(script, &rec);
 *
 * Which fields a line has is decided once for each event, and made into an array of steps. The
 * format is that of the session's version of perf: see process_event, tools/perf/builtin-
 * script.c. Names from a recording never drive a terminal: control characters and bytes that
 * are not UTF-8 are written \x1b.
 */
#ifndef PERFLUA_SCRIPT_SCRIPT_H
#define PERFLUA_SCRIPT_SCRIPT_H

#include "machine/machine.h"
#include "perfdata/format/print.h"

/* The kinds of events that have fields of their own, in perf's spelling. */
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

/*
 * A field that can be asked for; which are in lines where nothing is said, and which make no
 * sense.
 */
struct px_field {
	const char *name; /* perf's */
	const char *doc;
	unsigned by_default, invalid; /* bits by class */
	uint64_t needs;		      /* one of these of sample_type; 0: nothing */
};
extern const struct px_field px_fields[]; /* at most 64; ends with a NULL name */

/* The number of a field, -1: there is none. */
int px_field_find(const char *name);

/* In which call chains functions that were inlined are shown. */
enum px_inlined {
	PX_INLINED_NONE,
	PX_INLINED_UNWOUND, /* of stacks that were recorded as they were; newer perfs: in all */
	PX_INLINED_ALL,
};

struct px_options {
	const struct pd_session *session;
	struct pm_machine *machine;
	struct pm_resolver *resolver;
	struct pd_print *out;
	uint64_t fields[PX_CLASSES]; /* bits by number */
	uint64_t asked[PX_CLASSES];  /* of them: not to be left out if they were not recorded */
	bool chosen[PX_CLASSES];     /* they are not the default */
	const uint8_t *sampled; /* [n_sampled]: has that event samples? NULL: it is not known */
	size_t n_sampled;
	bool ns;	 /* times with nine decimals, else six */
	bool callchains; /* are they shown */
	enum px_inlined inlined;
	unsigned max_stack; /* frames of a call chain; 0: all */
};

struct px_script;

/* NULL: no memory. What the options point at must outlive it. */
struct px_script *px_script_create(const struct px_options *options);
void px_script_destroy(struct px_script *script);

/*
 * Returns false, and says which, if a field was asked for that no samples of a class have.
 * Events without samples refuse nothing.
 */
bool px_script_check(const struct px_script *script, const char **field,
		     const struct pd_event **event);

/*
 * Writes a sample, in the order of time and split by counter value (perfdata's counters.h);
 * nothing if its event is not known. False: no memory, or the event came late and
 * px_script_check is false now.
 */
bool px_script_sample(struct px_script *script, const struct pd_record *rec);

#endif
