/*
 * Views whose rows have a column for each value of a key. Groups that differ in this key alone
 * are one row, and its own values are those of all of them together. With a limit the columns
 * are the values with the greatest measures of each section, and another one for the rest.
 */
#ifndef PERFLUA_RESULT_TURNED_H
#define PERFLUA_RESULT_TURNED_H

#include "base/arena.h"
#include "lines.h"

struct pr_turned {
	struct pr_result *rows;	     /* groups without the key */
	struct pr_result *others;    /* groups by row of values that are not columns */
	uint32_t *n_merged;	     /* [rows]: groups that were added up to each */
	uint32_t *n_others;	     /* [others]: likewise */
	uint32_t *other_of;	     /* [rows]: number in `others`, from 1 on; 0: none */
	struct pr_lines cells;	     /* of the result that is turned */
	struct pr_lines other_cells; /* of `others` */
	struct pq_value *values;     /* [n_values] that are columns, in order */
	size_t n_values;
	struct pb_arena texts; /* of values */
	/*
	 * [n_sections * (n_values + 1)]: whether a section has the value; the last one: others
	 */
	uint8_t *has_value;
	size_t n_sections;
	/* groups of row r: entries[starts[r]] … entries[starts[r + 1] - 1] */
	uint32_t *starts;
	struct pr_turned_entry {
		uint32_t g, value;
	} * entries;
	size_t row;	    /* the row that group_of is of */
	uint32_t *group_of; /* [n_values]: number of the group from 1 on; 0: none */
};

/*
 * Turns the result of turned->cells; the rest of *turned is zero. The caller frees it in any
 * case. With PR_TOO_WIDE *n is the number of values.
 */
enum pr_problem pr_turn(struct pr_turned *turned, size_t *n);
void pr_turned_deinit(struct pr_turned *turned);

/*
 * Returns the columns of row r for value number `value`; n_values: for all others. NULL: there
 * are none. They are valid until the next call.
 */
const struct pq_value *pr_turned_cells(struct pr_turned *turned, size_t r, size_t value);

#endif
