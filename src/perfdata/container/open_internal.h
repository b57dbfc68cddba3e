/*
 * The steps of opening a recording, which its files share.
 */
#ifndef PERFLUA_PERFDATA_OPEN_INTERNAL_H
#define PERFLUA_PERFDATA_OPEN_INTERNAL_H

#include "file.h"

/*
 * Opens a recording and reads all that describes it. On failure *out is untouched. Damage that
 * leaves something to read is no failure: it is noted. `text` (enum pd_perf_text) decides the
 * names of events that have none in the recording. For `interrupt` see pd_input_open.
 */
bool pd_file_open(struct pd_file **out, const char *path, unsigned text,
		  const volatile sig_atomic_t *interrupt, struct pd_error *err);

/*
 * A file is opened in these steps: read its header and sections (envelope.c), in pipe mode the
 * records that stand for them (prologue.c); apply the features to the events (describe.c),
 * their names first (naming.c); open the other files of a directory (directory.c).
 */
bool pd_envelope_read(struct pd_file *file, struct pd_error *err);
bool pd_prologue_read(struct pd_file *file, struct pd_error *err);
bool pd_describe(struct pd_file *file, struct pd_error *err);
bool pd_directory_read(struct pd_file *file, struct pd_error *err);
bool pd_events_name(struct pd_file *file); /* false: no memory */

/*
 * Reads the tracepoints' formats (tracepoints.c), before events are named; binds them to events
 * as they are named. A format that cannot be read is noted as damage. Returns false without
 * memory.
 */
bool pd_tracing_read(struct pd_file *file);
void pd_tracepoint_bind(struct pd_file *file, struct pd_event *event);

/*
 * Describes the last event, which came late in pipe mode: its layouts, names and tracepoint.
 * Returns false without memory.
 */
bool pd_describe_late_event(struct pd_file *file);

/* Applies a feature that came late in pipe mode to the events. */
void pd_describe_late_feature(struct pd_file *file, unsigned bit);

#endif
