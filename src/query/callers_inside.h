/*
 * What the files of reports with callers share.
 */
#ifndef PERFLUA_QUERY_CALLERS_INSIDE_H
#define PERFLUA_QUERY_CALLERS_INSIDE_H

#include "callers.h"

/*
 * What frames have in common that are one row: numbered, as are the groups that differ in their chains only. So a row is
 * found by two numbers.
 */
struct pq_caller_part {
	const struct pq_frame *frame; /* the first of it; NULL: of samples without an address */
	uint32_t dso, symbol; /* numbers of names; PM_NO_NAME: not asked for, or not known */
};

struct pq_callers {
	const struct pq_groups *groups;
	unsigned by;
	struct pm_names names;
	struct pd_id_table by_address, by_names, by_level; /* see part_of */
	struct pq_caller_part *parts;
	size_t n_parts, parts_room;
	uint32_t *part_of_frame; /* by number of a frame; UINT32_MAX: not known yet */
	struct pd_id_table by_value[PQ_TYPES], by_owner, by_row;
	struct pq_caller_row *rows;
	size_t n_rows, rows_room;
	size_t taken;	  /* groups that were added up */
	uint32_t *latest; /* by row: the last group that was added to its children */
	size_t latest_room;
	uint32_t *sorted; /* [n_rows]: places of the rows in their order; NULL: as they were met */
};

#endif
