/*
 * Records of another recording, which are written as if they were of the writer's own.
 */
#ifndef PERFLUA_WRITE_ADOPT_H
#define PERFLUA_WRITE_ADOPT_H

#include "perfdata/container/file.h"
#include "perfdata/format/record.h"

/*
 * Makes *rec, of another recording, a record of `like`: binds it to the event that has its id.
 * Returns false with *err if `like` has no such event, or one whose records have other fields,
 * or if the record has data after it.
 */
bool pw_adopt(const struct pd_file *like, struct pd_record *rec, struct pd_error *err);

#endif
