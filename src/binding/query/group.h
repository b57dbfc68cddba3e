/* Grouped queries: the job that runs one, for the files that make its kinds of results. */
#ifndef PERFLUA_BINDING_QUERY_GROUP_H
#define PERFLUA_BINDING_QUERY_GROUP_H

#include "annotate/functions.h"
#include "export/export.h"
#include "result/report_trees.h"
#include "calls.h"
#include "scope.h"

/* A query to run, its description and its result. A userdata owns it. */
struct pl_job {
	struct pq_scope scope;
	struct pl_calls *calls; /* NULL: it calls no functions */
	struct pq_grouping grouping;
	/* groups of records by event, which shares are of, if rows are items of records */
	struct pq_grouping whole;
	struct pq_groups *groups;
	/*
	 * the system that the query has read, until the file takes it over; the groups' texts
	 * belong to it; NULL: none
	 */
	struct pm_system *system;
	bool unread;	      /* the system was not read to the end */
	struct pl_file *held; /* the file whose system is held; NULL: none */
	struct pl_progress progress;
	struct pq_paired pairs; /* if .how is set, rows of pairs are grouped, else records */
	/* by key: its position in a group, from 1 on; 0: it is the event, or is not shown */
	int *at;
	struct pl_report {
		bool is_asked;
		struct pq_report asked;
		struct pq_report_sections sections;
		struct pq_report_stacks stacks;
		enum pr_tree_key tree_key;
		bool shows_branches;
		/* the trees made last of groups that grow; NULL: none */
		struct pr_report_trees *growing_trees;
	} report;
	struct pl_watch *watch; /* NULL: nobody looks while it runs */
	struct pl_profile {
		bool is_asked;
		struct pe_asked asked;
		struct pe_profile *made;
	} profile;
	struct pl_hits {
		bool is_asked;
		struct pb_secret secret;
		/* groups, one for all with the same name and build-id, by these two */
		struct pb_map map;
		uint64_t *samples; /* [number of groups]: of all that a group stands for */
		bool *counted;	   /* [number of groups]: already counted in this listing */
	} hits;
	struct pl_functions {
		bool is_asked;
		struct pa_functions *made;
	} functions;
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

/* Returns the name of a fault of groups: a key of sums.wrong, lua/perflua/measures/sums.lua. */
const char *pl_wrong_name(enum pq_wrong wrong);

/*
 * Moves the groups to a result (result.h), pushes it, and sets `whole` of the description: see
 * pl_file_group(). If a function returned a key that results cannot hold, pushes nil and a
 * message. Returns the number of pushed values. [-0, +1 or 2]
 */
int pl_push_groups(lua_State *L, struct pl_job *job);

/*
 * Reports, whose result has groups of its own (report.c). pl_report_read() reads the options;
 * pl_push_report() pushes the result, sets the sections of the description, and returns whether
 * a sum has no answer; groups other than the job's grow, and what it made of them is forgotten
 * by pl_report_forget_growing().
 */
void pl_report_read(lua_State *L, struct pl_job *job);
enum pq_wrong pl_push_report(lua_State *L, struct pl_file *f, struct pl_job *job,
			     struct pq_groups *groups);
void pl_report_forget_growing(struct pl_job *job);
void pl_report_free(struct pl_job *job);

/*
 * Watched passes (watch.c). pl_watch_begin() reads the options, and prepares the job for them;
 * pl_watch_end() ends it, raises an error of the watching function, and returns true if that
 * one ended the pass.
 */
void pl_watch_begin(lua_State *L, struct pl_job *job);
bool pl_watch_end(lua_State *L, struct pl_job *job);

/*
 * Profiles, which have entries instead of groups (profile.c). pl_profile_read() reads the
 * options. pl_push_profile() pushes the events at PL_RESULT_AT and, on top, the functions that
 * write the profile, which keep the job; it returns false if the sum of weights has no answer.
 */
void pl_profile_read(lua_State *L, struct pl_job *job);
bool pl_push_profile(lua_State *L, struct pl_job *job);

/* Lua functions of a profile that turn its stacks into a tree: see call_tree.c. */
#define PL_PROFILE_JOB lua_upvalueindex(3) /* the job among their upvalues */
int pl_profile_fold(lua_State *L);
int pl_profile_tree(lua_State *L);

/*
 * Groups by binary, which are looked up for each binary of the recording (hits.c).
 * pl_hits_read() reads the option; pl_push_hits() pushes an empty result at PL_RESULT_AT and,
 * on top, the function that lists the binaries, which keeps the job; pl_hits_free() frees the
 * index.
 */
void pl_hits_read(lua_State *L, struct pl_job *job);
void pl_push_hits(lua_State *L, struct pl_job *job);
void pl_hits_free(struct pl_job *job);

/*
 * Groups by address, which become functions whose code is shown (functions.c).
 * pl_functions_read() reads the option; pl_push_functions() pushes an empty result at
 * PL_RESULT_AT and, on top, the functions of Lua that answer for them, which keep the job.
 */
void pl_functions_read(lua_State *L, struct pl_job *job);
void pl_push_functions(lua_State *L, struct pl_job *job);

#endif
