/*
 * The records that a selection of samples keeps beside them: all up to its end that describe
 * the recorded system, and the others of its time range. So names, mappings and cgroups of its
 * samples are those of the whole recording. Threads that no sample needs may be left out.
 */
#ifndef PERFLUA_WRITE_SELECTION_H
#define PERFLUA_WRITE_SELECTION_H

#include "base/map.h"
#include "perfdata/stream/timestamp.h"

struct pw_selection {
	uint64_t from, to; /* ns: from <= time < to */
	/* those whose records are kept, by id; NULL: all */
	const struct pb_id_map *threads, *processes;
};

/* The thread or process that a record is left out with. */
enum pw_tie {
	PW_FREE, /* neither: the record tells of none, or of several */
	PW_TIED_TO_THREAD,
	PW_TIED_TO_PROCESS,
};

/* Returns the tie of a record, and sets *id to that of the thread or process, if it has one. */
enum pw_tie pw_find_tie(const struct pd_record *rec, uint32_t *id);

/* Returns whether records are kept that are tied to that thread or process. */
bool pw_keeps_tied(const struct pw_selection *selection, enum pw_tie tie, uint32_t id);

/* Returns whether a record tells how the recorded system is from its time on. */
bool pw_tells_of_system(const struct pd_record *rec);

/* Returns whether a record other than the samples is kept, if its thread or process is. */
bool pw_keeps_time(const struct pw_selection *selection,
		   const struct pd_timestamp_locator *locator, struct pd_record *rec);

/* Returns whether a record other than the samples is kept. */
bool pw_keeps(const struct pw_selection *selection, const struct pd_timestamp_locator *locator,
	      struct pd_record *rec);

#endif
