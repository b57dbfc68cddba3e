#include "samples.h"

#include <stdlib.h>

#include "base/vector.h"
#include "base/wide.h"

/* The key of a sum: numbers from 1 on; 0 stands for none. */
struct sum_key {
	uint32_t event, thread, symbol;
	uint32_t stack; /* number of the call chain */
};

struct pt_sum {
	uint64_t samples, period;
};

/*
 * Adds a sample. Returns false, with the failure noted, without memory or if the sum of its
 * periods is too large for SQLite.
 */
static bool add_to_sums(struct pt_sums *sums, const struct sum_key *key, uint64_t period,
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
		const struct sum_key *key = pb_set_at(&sums->keys, i);

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
		const struct sum_key *key = pb_set_at(&sums->keys, i);
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
		const struct sum_key *key = pb_set_at(&sums->keys, i);

		n_events = key->event > n_events ? key->event : n_events;
	}
	for (uint32_t event = 1; s && event <= n_events && !sql->failed; event++)
		if (!write_event(sums, calls, n_frames, event, s, sql))
			pt_sql_fail(sql, "no memory");
	sql->library->finalize(s);
}

#define OWN_COLUMNS 8 /* of `samples` without its id and the further ones */
/* values that a statement has at most: SQLITE_LIMIT_VARIABLE_NUMBER before version 3.32 */
#define MOST_VALUES 999

static const char samples_table[] =
	"CREATE TABLE samples (id INTEGER PRIMARY KEY, event_id INTEGER, thread_id INTEGER,"
	" symbol_id INTEGER, stack_id INTEGER, time INTEGER, cpu INTEGER, period INTEGER,"
	" ip INTEGER";

static void create_samples(struct pt_samples *s)
{
	struct pb_string sql = { 0 };

	pb_string_put(&sql, samples_table);
	for (size_t i = 0; i < s->columns->n_more; i++) {
		pb_string_put(&sql, ", \"");
		for (const char *p = s->columns->more[i]; *p; p++)
			pb_string_fill(&sql, *p, *p == '"' ? 2 : 1);
		pb_string_put(&sql, "\"");
	}
	pb_string_put(&sql, ")");
	if (pb_string_end(&sql))
		pt_sql_run(s->sql, sql.p);
	else
		pt_sql_fail(s->sql, "no memory");
	pb_string_deinit(&sql);
}

/* Returns a statement that adds `n` samples; NULL: it cannot be prepared. */
static pt_statement *prepare_insert(struct pt_samples *s, size_t n)
{
	struct pb_string sql = { 0 };
	pt_statement *statement = NULL;

	pb_string_put(&sql, "INSERT INTO samples VALUES ");
	for (size_t row = 0; row < n; row++) {
		pb_string_put(&sql, row ? ",(NULL" : "(NULL");
		for (size_t i = 0; i < OWN_COLUMNS + s->columns->n_more; i++)
			pb_string_put(&sql, ",?");
		pb_string_put(&sql, ")");
	}
	if (pb_string_end(&sql))
		statement = pt_sql_prepare(s->sql, sql.p);
	else
		pt_sql_fail(s->sql, "no memory");
	pb_string_deinit(&sql);
	return statement;
}

void pt_samples_init(struct pt_samples *s, struct pt_sql *sql, const struct pt_columns *columns)
{
	*s = (struct pt_samples){ .sql = sql, .columns = columns };
	pb_set_init(&s->threads, sizeof(struct pt_thread));
	pb_set_init(&s->sums.keys, sizeof(struct sum_key));
	create_samples(s);
	s->insert_one = prepare_insert(s, 1);
	if ((OWN_COLUMNS + columns->n_more) * PT_AT_ONCE <= MOST_VALUES)
		s->insert_many = prepare_insert(s, PT_AT_ONCE);
}

void pt_samples_deinit(struct pt_samples *s)
{
	s->sql->library->finalize(s->insert_one);
	s->sql->library->finalize(s->insert_many);
	pb_set_deinit(&s->sums.keys);
	free(s->sums.list);
	pb_set_deinit(&s->threads);
	pm_string_pool_deinit(&s->comms);
	free(s->events);
}

/* Returns a value of a row; NULL: it is absent. */
static const struct pq_value *column_of(const struct pt_samples *s, const struct pq_value *row,
					enum pt_column column)
{
	size_t at = s->columns->at[column];

	return at == PT_ABSENT || row[at].type == PQ_NIL ? NULL : &row[at];
}

static struct pd_text text_value(const struct pq_value *value)
{
	return value && value->type == PQ_TEXT ? (struct pd_text){ value->p, value->size } :
						 (struct pd_text){ 0 };
}

/* Binds value i of a statement to a value of any type. */
static void bind_value(struct pt_samples *s, pt_statement *statement, int i,
		       const struct pq_value *value)
{
	const struct pt_library *library = s->sql->library;

	switch (value ? value->type : PQ_NIL) {
	case PQ_INT:
		library->bind_int64(statement, i, value->i);
		break;
	case PQ_BOOL:
		library->bind_int64(statement, i, value->u != 0);
		break;
	case PQ_FLOAT:
		library->bind_double(statement, i, value->f);
		break;
	case PQ_TEXT:
		pt_sql_text(s->sql, statement, i, text_value(value));
		break;
	default:
		library->bind_null(statement, i);
	}
}

/* Returns the number of an event, which it notes if it is new; 0: no memory. */
static uint32_t event_number(struct pt_samples *s, const struct pd_event *event)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i] == event)
			return event->number + 1;
	if (!pb_reserve(s->events, s->n_events, s->events_room))
		return 0;
	s->events[s->n_events++] = event;
	return event->number + 1;
}

/* Returns the number of a row's thread; 0: no memory. */
static uint32_t thread_number(struct pt_samples *s, const struct pq_value *row)
{
	const struct pq_value *pid = column_of(s, row, PT_PID);
	const struct pq_value *tid = column_of(s, row, PT_TID);
	struct pd_text comm = text_value(column_of(s, row, PT_COMM));
	const struct pt_thread thread = {
		pid ? (int32_t)pid->i : -1,
		tid ? (int32_t)tid->i : -1,
		comm.p ? pm_string_pool_add(&s->comms, comm) : PM_NO_STRING,
	};

	if (comm.p && thread.comm == PM_NO_STRING)
		return 0;
	return pb_set_add(&s->threads, &thread) + 1;
}

/* Sets *key to a row's numbers. Returns false without memory. */
static bool number_row(struct pt_samples *s, const struct pq_value *row, struct sum_key *key)
{
	const struct pq_value *event = column_of(s, row, PT_EVENT);
	const struct pq_value *chain = column_of(s, row, PT_CHAIN);

	/* a script can reach the core */
	if (event && event->type != PQ_EVENT)
		event = NULL;
	if (chain && chain->type != PQ_CHAIN)
		chain = NULL;
	*key = (struct sum_key){
		.event = event ? event_number(s, event->event) : 0,
		.thread = thread_number(s, row),
		.symbol = chain ? chain->size + 1 : 0,
		.stack = chain ? (uint32_t)chain->u + 1 : 0,
	};
	return key->thread && (!event || key->event);
}

/* Adds a row to the sums, and binds the values of a statement from `first` on to its own. */
static bool bind_row(struct pt_samples *s, pt_statement *statement, int first,
		     const struct pq_value *row)
{
	static const enum pt_column plain[] = { PT_TIME, PT_CPU, PT_PERIOD, PT_IP };
	const struct pt_columns *columns = s->columns;
	const struct pq_value *period = column_of(s, row, PT_PERIOD);
	struct sum_key key;

	if (!number_row(s, row, &key))
		return pt_sql_fail(s->sql, "no memory");
	pt_sql_number(s->sql, statement, first, key.event);
	pt_sql_number(s->sql, statement, first + 1, key.thread);
	pt_sql_number(s->sql, statement, first + 2, key.symbol);
	pt_sql_number(s->sql, statement, first + 3, key.stack);
	for (int i = 0; i < 4; i++)
		bind_value(s, statement, first + 4 + i, column_of(s, row, plain[i]));
	for (size_t i = 0; i < columns->n_more; i++)
		bind_value(s, statement, first + OWN_COLUMNS + (int)i,
			   &row[columns->n_row - columns->n_more + i]);
	return !s->sql->failed && add_to_sums(&s->sums, &key, period ? period->u : 0, s->sql);
}

/* Adds the samples that wait. */
static void add_waiting_samples(struct pt_samples *s)
{
	size_t width = OWN_COLUMNS + s->columns->n_more;
	bool at_once = s->insert_many && s->n_waiting == PT_AT_ONCE;
	pt_statement *statement = at_once ? s->insert_many : s->insert_one;

	for (size_t i = 0; i < s->n_waiting; i++) {
		if (!bind_row(s, statement, at_once ? (int)(i * width) + 1 : 1, s->waiting[i]))
			return;
		if ((!at_once || i + 1 == PT_AT_ONCE) && !pt_sql_step(s->sql, statement))
			return;
	}
	s->n_rows += s->n_waiting;
	s->n_waiting = 0;
}

void pt_samples_add(struct pt_samples *s, const struct pq_value *values, size_t n_rows)
{
	for (size_t i = 0; i < n_rows && !s->sql->failed; i++) {
		const struct pq_value *row = values + i * s->columns->n_row;
		const struct pq_value *period = column_of(s, row, PT_PERIOD);

		if (period && period->u > s->columns->most) {
			s->n_aside++;
			continue;
		}
		s->waiting[s->n_waiting++] = row;
		if (s->n_waiting == PT_AT_ONCE)
			add_waiting_samples(s);
	}
	if (!s->sql->failed)
		add_waiting_samples(s);
}
