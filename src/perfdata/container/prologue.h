/*
 * Records that describe a recording in pipe mode: attrs, features, ids.
 */
#ifndef PERFLUA_PERFDATA_PROLOGUE_H
#define PERFLUA_PERFDATA_PROLOGUE_H

#include "file.h"

struct pd_record;

/*
 * Takes over a record that comes after the prologue and describes the recording: adds an event
 * with its layouts, or a feature, which is applied to the events. Returns false without memory.
 */
bool pd_prologue_late(struct pd_file *file, const struct pd_record *rec);

/*
 * Returns whether pd_prologue_late() would change nothing, because all that the record says is
 * known.
 */
bool pd_prologue_knows(const struct pd_file *file, const struct pd_record *rec);

#endif
