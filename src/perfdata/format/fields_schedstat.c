/*
 * Scheduler statistics as perf sched stats records them: the numbers of /proc/schedstat,
 * versions 15 to 17. See tools/lib/perf/include/perf/schedstat-v15.h, -v16.h and -v17.h.
 */
#include "rows.h"
#include "views.h"

#define VERSION 20
#define BODY	24

const struct pd_field pd_schedstat_cpu_fields[PD_MAX_FIELDS] = {
	{ FIELD(U64, "timestamp", 8, "Time of the reading, in jiffies.") },
	{ FIELD(S32, "cpu", 16, "Processor.") },
	{ FIELD(U16, "version", VERSION, "Version of /proc/schedstat.") },
	{ FIELD(U32, "yld_count", BODY, "Calls of sched_yield().") },
	{ FIELD(U32, "array_exp", BODY + 4, "Not used any more.") },
	{ FIELD(U32, "sched_count", BODY + 8, "Calls of schedule().") },
	{ FIELD(U32, "sched_goidle", BODY + 12,
		"Calls of schedule() that left the processor idle.") },
	{ FIELD(U32, "ttwu_count", BODY + 16, "Calls of try_to_wake_up().") },
	{ FIELD(U32, "ttwu_local", BODY + 20,
		"Calls of try_to_wake_up() for this processor.") },
	{ FIELD(U64, "rq_cpu_time", BODY + 24, "Time tasks ran on it, in nanoseconds.") },
	{ FIELD(U64, "run_delay", BODY + 32,
		"Time tasks waited to run on it, in nanoseconds.") },
	{ FIELD(U64, "pcount", BODY + 40, "Time slices run on it.") },
	END_OF_FIELDS,
};

/*
 * A domain has a group of load balancing counters each for busy, idle and newly idle processors
 * (idle before busy in version 15), then twelve more counters. A group has eight counters, or
 * eleven in version 17: four in place of lb_imbalance. Rows have the offsets of version 16 and,
 * for those four, of 17.
 */
#define GROUP	  8
#define GROUP_17  11
#define GROUPS	  3
#define IMBALANCE 3 /* index in a group */

static uint32_t get_schedstat_version(const struct pd_record *rec)
{
	return pd_fits(rec, VERSION, 2) ? pd_rec16(rec, VERSION) : 0;
}

static void load_counter(const struct pd_record *rec, uint32_t word, struct pd_value *out)
{
	if (pd_fits(rec, BODY + 4 * word, 4))
		pd_set_uint(out, PD_UINT, pd_rec32(rec, BODY + 4 * word));
}

static void compute_balance(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t group = (at - BODY) / 4 / GROUP, word = (at - BODY) / 4 % GROUP;
	uint32_t version = get_schedstat_version(rec);

	if (version == 15 && group < 2)
		load_counter(rec, (1 - group) * GROUP + word, out);
	else if (version == 15 || version == 16)
		load_counter(rec, group * GROUP + word, out);
	else if (version == 17 && word != IMBALANCE)
		load_counter(rec,
			     group * GROUP_17 + word +
				     (word > IMBALANCE ? GROUP_17 - GROUP : 0),
			     out);
}

static void compute_imbalance_17(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (get_schedstat_version(rec) == 17)
		load_counter(rec, (at - BODY) / 4, out);
}

static void compute_tail(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t word = (at - BODY) / 4, version = get_schedstat_version(rec);

	if (version == 15 || version == 16)
		load_counter(rec, word, out);
	else if (version == 17)
		load_counter(rec, word + GROUPS * (GROUP_17 - GROUP), out);
}

#define BALANCE(n, group, word, text)                                                         \
	{                                                                                     \
		COMPUTED(UINT, n, BODY + 4 * ((group)*GROUP + (word)), compute_balance, text) \
	}
#define IMBALANCE_17(n, group, word, text)                                \
	{                                                                 \
		COMPUTED(UINT, n, BODY + 4 * ((group)*GROUP_17 + (word)), \
			 compute_imbalance_17, text)                      \
	}
#define BALANCING(n, group, when)                                                     \
	BALANCE(n "_lb_count", group, 0, "Load balancing runs while " when "."),      \
		BALANCE(n "_lb_balanced", group, 1,                                   \
			"Runs while " when " that found the load balanced."),         \
		BALANCE(n "_lb_failed", group, 2,                                     \
			"Runs while " when " that failed to move a task."),           \
		BALANCE(n "_lb_imbalance", group, 3,                                  \
			"Sum of imbalances found while " when "; up to version 16."), \
		IMBALANCE_17(n "_lb_imbalance_load", group, 3,                        \
			     "Sum of imbalances in load found while " when            \
			     "; from version 17 on."),                                \
		IMBALANCE_17(n "_lb_imbalance_util", group, 4,                        \
			     "Sum of imbalances in utilization found "                \
			     "while " when "; from version 17 on."),                  \
		IMBALANCE_17(n "_lb_imbalance_task", group, 5,                        \
			     "Sum of imbalances in number of tasks "                  \
			     "found while " when "; from version 17 on."),            \
		IMBALANCE_17(n "_lb_imbalance_misfit", group, 6,                      \
			     "Sum of imbalances in misfit tasks "                     \
			     "found while " when "; from version 17 on."),            \
		BALANCE(n "_lb_gained", group, 4, "Tasks pulled while " when "."),    \
		BALANCE(n "_lb_hot_gained", group, 5,                                 \
			"Tasks pulled while " when                                    \
			" though hot in another processor's cache."),                 \
		BALANCE(n "_lb_nobusyq", group, 6,                                    \
			"Runs while " when " that found no busier queue."),           \
		BALANCE(n "_lb_nobusyg", group, 7,                                    \
			"Runs while " when " that found no busier group.")

#define TAIL(n, word, text)                                                                 \
	{                                                                                   \
		COMPUTED(UINT, n, BODY + 4 * (GROUPS * GROUP + (word)), compute_tail, text) \
	}

const struct pd_field pd_schedstat_domain_fields[PD_MAX_FIELDS] = {
	{ FIELD(U64, "timestamp", 8, "Time of the reading, in jiffies.") },
	{ FIELD(S32, "cpu", 16, "Processor.") },
	{ FIELD(U16, "version", VERSION, "Version of /proc/schedstat.") },
	{ FIELD(U16, "domain", 22, "Number of the domain, 0 is the innermost.") },
	BALANCING("busy", 0, "busy"),
	BALANCING("idle", 1, "idle"),
	BALANCING("newidle", 2, "becoming idle"),
	TAIL("alb_count", 0, "Runs of active load balancing."),
	TAIL("alb_failed", 1, "Runs of active load balancing that failed to move a task."),
	TAIL("alb_pushed", 2, "Tasks moved by active load balancing."),
	TAIL("sbe_count", 3, "Not used any more."),
	TAIL("sbe_balanced", 4, "Not used any more."),
	TAIL("sbe_pushed", 5, "Not used any more."),
	TAIL("sbf_count", 6, "Not used any more."),
	TAIL("sbf_balanced", 7, "Not used any more."),
	TAIL("sbf_pushed", 8, "Not used any more."),
	TAIL("ttwu_wake_remote", 9, "Wakeups of tasks that last ran on another processor."),
	TAIL("ttwu_move_affine", 10, "Wakeups that moved a task as its cache had gone cold."),
	TAIL("ttwu_move_balance", 11, "Wakeups that moved a task to balance load."),
	END_OF_FIELDS,
};
