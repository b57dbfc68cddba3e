/*
 * Declarations that the files of grouped queries share.
 */
#ifndef PERFLUA_BINDING_QUERY_GROUP_H
#define PERFLUA_BINDING_QUERY_GROUP_H

#include "export/export.h"
#include "calls.h"
#include "scope.h"

/* A query to run, its description and its result. A userdata owns it. */
struct pl_job {
	struct pq_scope scope;
	struct pl_calls *calls; /* NULL: no function is called */
	struct pq_grouping grouping;
	/* the groups of records by event, where rows are their items and there are shares */
	struct pq_grouping whole;
	struct pq_groups *groups;
	struct pm_system *
		/*
		 * a system that the query has read and that is not the file's yet; the groups'
		 * texts belong to it; NULL: none
		 */
		system;
	bool unread;	      /* the system was not read to the end */
	struct pl_file *held; /* whose system is held; NULL: none */
	struct pl_progress progress;
	struct pq_paired pairs; /* with .how rows of pairs are grouped; else records */
	/*
	 * by key: its position among those of a group; 0: the key is the group's event, or not
	 * shown
	 */
	int *at;
	struct pl_report {
		bool is_asked;
		struct pq_report asked;
		struct pq_report_sections sections;
		struct pq_report_stacks stacks;
	} report;
	struct pl_profile {
		bool is_asked;
		struct pe_asked asked;
		struct pe_profile *made;
	} profile;
	struct pl_hits {
		bool is_asked;
		struct pb_secret secret;
		struct pb_map map; /* numbers of groups, by name and build-id */
		bool *counted;	   /* [number of groups]: asked for before in this listing */
	} hits;
};

/* Places on the stack of file_group and file_group_threads. */
enum {
	PL_FILE_AT = 1,
	PL_OPTIONS_AT,
	PL_KEEP_AT,
	PL_JOB_AT,
	PL_CALLS_AT, /* of pl_calls_enter, if functions are called */
	PL_RESULT_AT = PL_CALLS_AT + PL_CALLS_PLACES,
};

/* Pushes an empty table to PL_RESULT_AT. */
void pl_push_result(lua_State *L);

/* Returns the name of what is wrong with groups, as lua/perflua/measures/sums.lua has it. */
const char *pl_wrong_name(enum pq_wrong wrong);

/*
 * Pushes the groups as a result (result.h), which are not the job's any more, and sets `whole`
 * of the description: see pl_file_group(). If a function gave a key that no result can keep,
 * pushes nil and a message. Returns how many values it pushed. [-0, +1 or 2]
 */
int pl_push_groups(lua_State *L, struct pl_job *job);

/*
 * Handle a report, whose result has other groups (report.c): read its options; push it and set
 * the sections of the description; free it. pl_push_report() says if a sum has no answer.
 */
void pl_report_read(lua_State *L, struct pl_job *job);
enum pq_wrong pl_push_report(lua_State *L, struct pl_file *f, struct pl_job *job);
void pl_report_free(struct pl_job *job);

/*
 * Handle a profile, which has entries instead of the groups (profile.c): read its
 * options; push its events at PL_RESULT_AT and, on top, the functions that write it, which keep
 * the job. pl_push_profile() returns false if the sum of its weights has no answer.
 */
void pl_profile_read(lua_State *L, struct pl_job *job);
bool pl_push_profile(lua_State *L, struct pl_job *job);

/* Functions of a profile that make its stacks a tree: see call_tree.c. */
#define PL_PROFILE_JOB lua_upvalueindex(3) /* the job among their upvalues */
int pl_profile_fold(lua_State *L);
int pl_profile_tree(lua_State *L);

/*
 * Handle groups by binary, which are looked up for each binary (hits.c): read the option;
 * push an empty result at PL_RESULT_AT and, on top, the function that lists the binaries, which
 * keeps the job; free what finds the groups.
 */
void pl_hits_read(lua_State *L, struct pl_job *job);
void pl_push_hits(lua_State *L, struct pl_job *job);
void pl_hits_free(struct pl_job *job);

/*
 * Handle a query that groups rows of pairs instead of records (group_pairs.c). The first reads
 * the options; the second runs the query as pq_run() does, and sets the counts in `counts` of
 * the options.
 */
void pl_pairs_read(lua_State *L, const struct pl_file *f, struct pl_job *job);
enum pb_outcome pl_pairs_run(lua_State *L, struct pl_job *job, struct pd_error *err);

#endif
