/*
 * What the files of grouped queries share.
 */
#ifndef PERFLUA_BINDING_QUERY_GROUP_H
#define PERFLUA_BINDING_QUERY_GROUP_H

#include "query_calls.h"
#include "query_scope.h"

/* What is run, and what it makes; the userdata that owns it. */
struct pl_job {
	struct pq_scope scope;
	struct pl_calls *calls; /* NULL: no function is called */
	struct pq_grouping grouping;
	/* of records by event, where rows are their items and there are shares */
	struct pq_grouping whole;
	struct pq_groups *groups;
	struct pm_system *
		/*
		 * read while the query ran, and not the file's yet: texts of the groups are
		 * its; or NULL
		 */
		system;
	bool unread; /* it was not, to the end */
	struct pl_progress progress;
	struct pq_paired pairs; /* without .how records are grouped; else rows of pairs are */
	lua_Integer
		/* the measure, from 1, whose greatest values come first; negative: the least */
		first;
	/* by key: its place among those of a group, 0: it is the group's event, or not shown */
	int *at;
	struct pl_report {
		bool is_asked;
		struct pq_report_asked asked;
		double limit;	/* percent of an event that a row has at least */
		uint64_t count; /* rows of an event, at most */
		struct pq_report *made;
	} report;
};

/* Places on the stack of file_group and file_group_threads. */
enum {
	PL_FILE_AT = 1,
	PL_OPTIONS_AT,
	PL_KEEP_AT,
	PL_JOB_AT,
	PL_CALLS_AT, /* of pl_calls_enter, if functions are called */
	PL_RESULT_AT = PL_CALLS_AT + PL_CALLS_PLACES,
	PL_CHAINS_AT, /* texts of chains by their numbers */
	PL_TEXTS_AT,  /* long texts by their addresses */
	PL_WORDS_AT,  /* "keys", "event" */
};

/* The result, an array for n tables, and what is above it. */
void pl_push_result(lua_State *L, size_t n);

/* A key or a value as groups show it: events by their names. [-0, +1] */
void pl_push_shown(lua_State *L, const struct pl_job *job, const struct pq_value *v);

/*
 * The keys of group g, into the table on top: `keys`, with room for so many, and its `event`.
 * [-0, +0]
 */
void pl_set_keys(lua_State *L, const struct pl_job *job, size_t g, int n_shown);

/*
 * The numbers, ascending, of the k groups that come first by job->first, and SIZE_MAX behind
 * them; k is at most the number of groups. Userdata. [-0, +1]
 */
size_t *pl_choose_groups(lua_State *L, const struct pl_job *job, size_t k);
/*
 * For each event a group with the sums of those that were not chosen, in an array: of counts,
 * sums, shares, and what was averaged, as floats; 0 for other measures. [-0, +1]
 */
void pl_push_left_out(lua_State *L, const struct pl_job *job, const size_t *chosen,
		      int n_shown);

/*
 * The rows of a report instead of the groups (query_report.c): what the options say of them;
 * their sections at PL_RESULT_AT, and on top the function that gives rows, which keeps the job.
 * False: their sum has no answer.
 */
void pl_report_read(lua_State *L, struct pl_job *job);
bool pl_push_report(lua_State *L, struct pl_file *f, struct pl_job *job);
void pl_report_free(struct pl_job *job);

/*
 * Groups of rows of pairs of records instead of records (query_pairs.c): what the options say
 * of them; as pq_run, and what was counted is set in `counts` of the
 * options.
 */
void pl_pairs_read(lua_State *L, const struct pl_file *f, struct pl_job *job);
enum pb_outcome pl_pairs_run(lua_State *L, struct pl_job *job, struct pd_error *err);

#endif
