/*
 * The table `totals`. SQLite would need a recursive query for it, which takes longer than all
 * other queries over a database.
 */
#include <stdlib.h>

#include "base/wide.h"
#include "sums.h"

/* A sum without a limit: each sum of a call chain has room in SQLite, but not all together. */
struct total {
	uint64_t samples;
	struct pb_wide period;
};

static void add_total(struct total *total, const struct total *more)
{
	total->samples += more->samples;
	pb_wide_add(&total->period, more->period);
}

/* The sums of one event. */
struct totals {
	const struct pq_call_nodes *calls;
	uint32_t n_frames;
	struct total *own, *all; /* [n_frames]: what functions spent, with their callees */
	struct total *ends;	 /* [calls->nodes.n]: of stacks that end there */
	uint32_t *met;		 /* [n_frames]: 1 + the end that was added last */
};

/* Adds up the sums of event `event`. */
static void add_sums(struct totals *t, const struct pt_sums *sums, uint32_t event)
{
	for (uint32_t i = 0; i < sums->keys.n; i++) {
		const struct pt_sum_key *key = pb_set_at(&sums->keys, i);
		struct total total = { sums->list[i].samples,
				       pb_wide_from((int64_t)sums->list[i].period, true) };

		if (key->event != event)
			continue;
		if (key->symbol)
			add_total(&t->own[key->symbol - 1], &total);
		if (key->stack)
			add_total(&t->ends[t->calls->ends[key->stack - 1]], &total);
	}
}

/* Adds what ends at each node to the functions on its way up, once each. */
static void add_callers(struct totals *t)
{
	for (uint32_t end = 0; end < t->calls->nodes.n; end++) {
		const struct pq_call_node *node;

		if (!t->ends[end].samples)
			continue;
		for (uint32_t at = end; at != PQ_NO_CALLER; at = node->caller) {
			node = pq_call_node_at(t->calls, at);
			if (node->frame >= t->n_frames || t->met[node->frame] == end + 1)
				continue;
			t->met[node->frame] = end + 1;
			add_total(&t->all[node->frame], &t->ends[end]);
		}
	}
}

/* Binds value i of a statement to a sum, which is a float if it has no room in an integer. */
static void bind_period(struct pt_sql *sql, pt_statement *s, int i, struct pb_wide period)
{
	if (period.high || period.low > INT64_MAX)
		sql->library->bind_double(s, i, pb_wide_to_double(period));
	else
		sql->library->bind_int64(s, i, (int64_t)period.low);
}

static void write_totals(const struct totals *t, uint32_t event, pt_statement *s,
			 struct pt_sql *sql)
{
	for (uint32_t i = 0; i < t->n_frames && !sql->failed; i++) {
		if (!t->own[i].samples && !t->all[i].samples)
			continue;
		pt_sql_number(sql, s, 1, event);
		pt_sql_number(sql, s, 2, i + 1);
		sql->library->bind_int64(s, 3, (int64_t)t->own[i].samples);
		bind_period(sql, s, 4, t->own[i].period);
		sql->library->bind_int64(s, 5, (int64_t)t->all[i].samples);
		bind_period(sql, s, 6, t->all[i].period);
		pt_sql_step(sql, s);
	}
}

/* Adds up and writes the totals of one event. Returns false without memory. */
static bool write_event(const struct pt_sums *sums, const struct pq_call_nodes *calls,
			uint32_t n_frames, uint32_t event, pt_statement *s, struct pt_sql *sql)
{
	struct totals t = {
		.calls = calls,
		.n_frames = n_frames,
		.own = calloc(n_frames + (size_t)1, sizeof(*t.own)),
		.all = calloc(n_frames + (size_t)1, sizeof(*t.all)),
		.ends = calloc(calls->nodes.n + 1, sizeof(*t.ends)),
		.met = calloc(n_frames + (size_t)1, sizeof(*t.met)),
	};
	bool ok = t.own && t.all && t.ends && t.met;

	if (ok) {
		add_sums(&t, sums, event);
		add_callers(&t);
		write_totals(&t, event, s, sql);
	}
	free(t.own);
	free(t.all);
	free(t.ends);
	free(t.met);
	return ok;
}

void pt_totals_write(const struct pt_sums *sums, const struct pq_call_nodes *calls,
		     uint32_t n_frames, struct pt_sql *sql)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO totals VALUES (?,?,?,?,?,?)");
	uint32_t n_events = 0;

	for (uint32_t i = 0; i < sums->keys.n; i++) {
		const struct pt_sum_key *key = pb_set_at(&sums->keys, i);

		n_events = key->event > n_events ? key->event : n_events;
	}
	for (uint32_t event = 1; s && event <= n_events && !sql->failed; event++)
		if (!write_event(sums, calls, n_frames, event, s, sql))
			pt_sql_fail(sql, "no memory");
	sql->library->finalize(s);
}
