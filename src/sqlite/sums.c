#include "sums.h"

#include <stdlib.h>

#include "base/vector.h"
#include "base/wide.h"

void pt_sums_init(struct pt_sums *sums)
{
	*sums = (struct pt_sums){ 0 };
	pb_set_init(&sums->keys, sizeof(struct pt_sum_key));
}

void pt_sums_deinit(struct pt_sums *sums)
{
	pb_set_deinit(&sums->keys);
	free(sums->list);
}

bool pt_sums_add(struct pt_sums *sums, const struct pt_sum_key *key, uint64_t period,
		 struct pt_sql *sql)
{
	size_t n = sums->keys.n;
	uint32_t number = UINT32_MAX;
	struct pt_sum *sum;

	if (pb_reserve(sums->list, n, sums->room))
		number = pb_set_add(&sums->keys, key);
	if (number == UINT32_MAX)
		return pt_sql_fail(sql, "no memory");
	sum = &sums->list[number];
	if (number == n)
		*sum = (struct pt_sum){ 0 };
	sum->samples++;
	sum->period += period;
	return sum->period <= INT64_MAX ||
	       pt_sql_fail(sql, "the periods of a call chain add up to more than 2^63 - 1");
}

void pt_sums_write(const struct pt_sums *sums, struct pt_sql *sql)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO profile VALUES (?,?,?,?,?,?)");

	for (uint32_t i = 0; s && i < sums->keys.n && !sql->failed; i++) {
		const struct pt_sum_key *key = pb_set_at(&sums->keys, i);

		pt_sql_number(sql, s, 1, key->event);
		pt_sql_number(sql, s, 2, key->thread);
		pt_sql_number(sql, s, 3, key->symbol);
		pt_sql_number(sql, s, 4, key->stack);
		sql->library->bind_int64(s, 5, (int64_t)sums->list[i].samples);
		sql->library->bind_int64(s, 6, (int64_t)sums->list[i].period);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}

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
		for (uint32_t i = 0; i < t.n_frames && !sql->failed; i++) {
			if (!t.own[i].samples && !t.all[i].samples)
				continue;
			pt_sql_number(sql, s, 1, event);
			pt_sql_number(sql, s, 2, i + 1);
			sql->library->bind_int64(s, 3, (int64_t)t.own[i].samples);
			bind_period(sql, s, 4, t.own[i].period);
			sql->library->bind_int64(s, 5, (int64_t)t.all[i].samples);
			bind_period(sql, s, 6, t.all[i].period);
			pt_sql_step(sql, s);
		}
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
