/*
 * The steps of opening a recording, shared by the files of this module.
 */
#ifndef PERFLUA_PERFDATA_OPEN_INTERNAL_H
#define PERFLUA_PERFDATA_OPEN_INTERNAL_H

#include "file.h"

/*
 * Opens a recording and reads its description. Damage that leaves something to read is noted
 * and is not a failure. `perf`, a version or PD_PERF_RECORDED, decides how events without a
 * recorded name are named. For `interrupt` see pd_input_open(). Returns false with *err, and
 * leaves *out untouched.
 */
bool pd_file_open(struct pd_file **out, const char *path, unsigned perf,
		  const volatile sig_atomic_t *interrupt, struct pd_error *err);

/*
 * The steps of pd_file_open(), in this order: read header and sections (envelope.c), and the
 * records that take their place in pipe mode (prologue.c); apply the features to the events
 * (describe.c), first their names (naming.c); open the other files of a directory
 * (directory.c). All return false with *err.
 */
bool pd_envelope_read(struct pd_file *file, struct pd_error *err);
bool pd_prologue_read(struct pd_file *file, struct pd_error *err);
bool pd_describe(struct pd_file *file, struct pd_error *err);
bool pd_directory_read(struct pd_file *file, struct pd_error *err);
bool pd_events_name(struct pd_file *file); /* returns false without memory */

/*
 * Completes the last event, which came late in pipe mode: its layouts, names and tracepoint.
 * Returns false without memory.
 */
bool pd_describe_late_event(struct pd_file *file);

/* Removes the last event, to which nothing but the file refers, whatever is described of it. */
void pd_forget_late_event(struct pd_file *file);

/* Frees what the event owns. */
void pd_event_deinit(struct pd_event *event);

/* Frees the layouts of records other than samples, by type. */
void pd_destroy_other_layouts(const struct pd_layout **layouts);

/* Applies a feature that came late in pipe mode to the events. */
void pd_describe_late_feature(struct pd_file *file, unsigned bit);

#endif
