#include "database.h"

#include <stdlib.h>

#include "base/vector.h"
#include "samples.h"

/* The tables except `samples`, whose further columns depend on what is written. */
static const char tables[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
	"PRAGMA cache_size = -65536;"
	"BEGIN;"
	"CREATE TABLE recording (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	"CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,"
	" type INTEGER, config INTEGER);"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, comm TEXT);"
	"CREATE TABLE binaries (id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
	" build_id TEXT);"
	/*
	 * without a name: the code at that address of the binary, or, of callers, all of it
	 * whose function is not known
	 */
	"CREATE TABLE symbols (id INTEGER PRIMARY KEY, name TEXT, binary_id INTEGER,"
	" address INTEGER, mode TEXT NOT NULL);"
	/* a tree: each function on a call chain with the one that called it */
	"CREATE TABLE stacks (id INTEGER PRIMARY KEY, caller_id INTEGER, symbol_id INTEGER,"
	" depth INTEGER NOT NULL);"
	/* samples added up */
	"CREATE TABLE profile (event_id INTEGER, thread_id INTEGER, symbol_id INTEGER,"
	" stack_id INTEGER, samples INTEGER NOT NULL, period INTEGER NOT NULL);"
	/*
	 * what was spent in each function itself, and in those that it called, too: each stack
	 * adds to its function, and to every function on its way up once
	 */
	"CREATE TABLE totals (event_id INTEGER, symbol_id INTEGER,"
	" self_samples INTEGER NOT NULL,"
	" self_period INTEGER NOT NULL, samples INTEGER NOT NULL, period INTEGER NOT NULL);";

/* Made once the rows are there, which takes less time. */
static const char indexes[] = "CREATE INDEX samples_time ON samples (time);"
			      "CREATE INDEX stacks_caller ON stacks (caller_id);"
			      "CREATE INDEX stacks_symbol ON stacks (symbol_id);"
			      "CREATE INDEX symbols_name ON symbols (name);";

/* Functions are named as in perflua report. */
static const char views[] =
	"CREATE VIEW named_symbols AS SELECT s.id,"
	" coalesce(s.name, CASE WHEN s.address THEN"
	" printf('0x%016x', s.address) END, CASE substr(b.name, 1, 1)"
	" WHEN '[' THEN b.name ELSE '[' || replace(b.name, rtrim(b.name,"
	" replace(b.name, '/', '')), '') || ']' END, '[unknown]') AS symbol,"
	" coalesce(b.name, '[unknown]') AS binary, s.mode"
	" FROM symbols s LEFT JOIN binaries b ON b.id = s.binary_id;"
	/* samples with names in place of numbers */
	"CREATE VIEW named_samples AS SELECT samples.id, e.name AS event,"
	" time / 1e9 AS seconds, cpu, t.comm, t.pid, t.tid, period, n.binary, n.symbol, n.mode,"
	" printf('0x%x', ip) AS address, stack_id"
	" FROM samples LEFT JOIN events e ON e.id = event_id"
	" LEFT JOIN threads t ON t.id = thread_id"
	" LEFT JOIN named_symbols n ON n.id = symbol_id;"
	"CREATE VIEW functions AS SELECT e.name AS event, f.symbol, f.binary, f.mode,"
	" k.self_samples, k.self_period, k.samples, k.period FROM totals k"
	" JOIN events e ON e.id = k.event_id JOIN named_symbols f ON f.id = k.symbol_id;"
	/* each stack as perflua fold writes it, without the command */
	"CREATE VIEW folded AS WITH RECURSIVE walk (id, stack) AS ("
	"SELECT s.id, n.symbol FROM stacks s JOIN named_symbols n ON n.id = s.symbol_id"
	" WHERE s.caller_id IS NULL"
	" UNION ALL SELECT s.id, walk.stack || ';' || n.symbol FROM walk"
	" JOIN stacks s ON s.caller_id = walk.id JOIN named_symbols n ON n.id = s.symbol_id)"
	" SELECT e.name AS event, t.comm, walk.stack, sum(samples) AS samples,"
	" sum(period) AS period"
	" FROM profile JOIN walk ON walk.id = stack_id JOIN events e ON e.id = event_id"
	" JOIN threads t ON t.id = thread_id GROUP BY event_id, t.comm, walk.stack;";

/* The tables of what samples have in common, written row by row. A failure is that of `sql`. */

/* Returns what periods of an event count: the clocks among the software events ns. */
static const char *unit_of_event(const struct pd_event *event)
{
	return pd_attr_is_clock(&event->attr) ? "nanoseconds" : "count";
}

static struct pd_text text_of_name(const char *name)
{
	return (struct pd_text){ name, name ? strlen(name) : 0 };
}

static void write_events(struct pt_sql *sql, const struct pd_event *const *events, size_t n)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO events VALUES (?,?,?,?,?)");

	for (size_t i = 0; s && i < n && !sql->failed; i++) {
		const struct pd_event *event = events[i];

		pt_sql_number(sql, s, 1, event->number + 1);
		pt_sql_text(sql, s, 2, text_of_name(event->name));
		pt_sql_text(sql, s, 3, text_of_name(unit_of_event(event)));
		sql->library->bind_int64(s, 4, event->attr.type);
		sql->library->bind_int64(s, 5, (int64_t)event->attr.config);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}

static void write_threads(struct pt_sql *sql, const struct pt_samples *samples)
{
	pt_statement *s =
		pt_sql_prepare(sql,
			       "INSERT INTO threads VALUES (?,nullif(?,-1),nullif(?,-1),?)");

	for (uint32_t i = 0; s && i < samples->threads.n && !sql->failed; i++) {
		const struct pt_thread *thread = pb_set_at(&samples->threads, i);
		struct pd_text none = { 0 };

		pt_sql_number(sql, s, 1, i + 1);
		sql->library->bind_int64(s, 2, thread->pid);
		sql->library->bind_int64(s, 3, thread->tid);
		pt_sql_text(sql, s, 4,
			    thread->comm == PM_NO_STRING ? none :
							   samples->comms.texts[thread->comm]);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}

/* Binaries by their names. */
struct binaries {
	struct pm_string_pool names;
	const struct ps_build_id **build_ids; /* [names.n]; NULL: not known */
	size_t room;
};

/* Returns the number of a frame's binary, from 1 on; 0: it has none, or no memory. */
static uint32_t number_binary(struct pt_sql *sql, struct binaries *binaries,
			      const struct ps_dso *dso)
{
	size_t n = binaries->names.n;
	uint32_t number = PM_NO_STRING;

	if (!dso)
		return 0;
	if (pb_reserve(binaries->build_ids, n, binaries->room))
		number = pm_string_pool_add(&binaries->names, text_of_name(dso->name));
	if (number == PM_NO_STRING) {
		pt_sql_fail(sql, "no memory");
		return 0;
	}
	if (number == n)
		binaries->build_ids[number] = NULL;
	if (dso->id.build_id.size)
		binaries->build_ids[number] = &dso->id.build_id;
	return number + 1;
}

static void add_binaries(struct pt_sql *sql, const struct binaries *binaries)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO binaries VALUES (?,?,?)");
	char text[PS_BUILD_ID_TEXT];

	for (uint32_t i = 0; s && i < binaries->names.n && !sql->failed; i++) {
		const struct ps_build_id *id = binaries->build_ids[i];

		pt_sql_number(sql, s, 1, i + 1);
		pt_sql_text(sql, s, 2, binaries->names.texts[i]);
		pt_sql_text(sql, s, 3, text_of_name(id ? ps_build_id_text(id, text) : NULL));
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}

static void write_symbols(struct pt_sql *sql, const struct pq_chains *chains)
{
	pt_statement *s = pt_sql_prepare(sql,
					 "INSERT INTO symbols VALUES (?,?,?,nullif(?,0),?)");
	struct binaries binaries = { 0 };

	for (uint32_t i = 0; s && i < pq_chains_n_frames(chains) && !sql->failed; i++) {
		const struct pq_frame frame = pq_chains_frame(chains, i);
		struct pd_text name = { 0 };

		if (frame.symbol)
			name = (struct pd_text){ frame.symbol->name, frame.symbol->length };
		pt_sql_number(sql, s, 1, i + 1);
		pt_sql_text(sql, s, 2, name);
		pt_sql_number(sql, s, 3, number_binary(sql, &binaries, frame.dso));
		sql->library->bind_int64(s, 4, (int64_t)frame.address);
		pt_sql_text(sql, s, 5,
			    text_of_name(pd_cpumode_name((enum pd_cpumode)frame.mode)));
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
	add_binaries(sql, &binaries);
	pm_string_pool_deinit(&binaries.names);
	free(binaries.build_ids);
}

/*
 * Gives ids to all nodes, those where chains end first: sets ids[node], and by_id[id - 1] to
 * the node.
 * Adding rows by ascending ids takes SQLite less time.
 */
static void number_nodes(const struct pq_call_nodes *calls, uint32_t n_chains, uint32_t *ids,
			 uint32_t *by_id)
{
	uint32_t id = n_chains;

	for (uint32_t i = 0; i < n_chains; i++)
		ids[calls->ends[i]] = i + 1;
	for (uint32_t i = 0; i < calls->nodes.n; i++) {
		if (!ids[i])
			ids[i] = ++id;
		by_id[ids[i] - 1] = i;
	}
}

static void write_stack_rows(struct pt_sql *sql, const struct pq_call_nodes *calls,
			     uint32_t n_chains)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO stacks VALUES (?,?,?,?)");
	size_t n = calls->nodes.n;
	uint32_t *ids = calloc(3 * n + 1, sizeof(*ids)), *by_id, *depths;

	if (!ids) {
		pt_sql_fail(sql, "no memory");
		sql->library->finalize(s);
		return;
	}
	by_id = ids + n;
	depths = by_id + n;
	number_nodes(calls, n_chains, ids, by_id);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t caller = pq_call_node_at(calls, i)->caller;

		depths[i] = caller == PQ_NO_CALLER ? 0 : depths[caller] + 1;
	}
	for (size_t i = 0; s && i < n && !sql->failed; i++) {
		const struct pq_call_node *node = pq_call_node_at(calls, by_id[i]);

		pt_sql_number(sql, s, 1, (uint32_t)i + 1);
		pt_sql_number(sql, s, 2, node->caller == PQ_NO_CALLER ? 0 : ids[node->caller]);
		pt_sql_number(sql, s, 3, node->frame + 1);
		sql->library->bind_int64(s, 4, depths[by_id[i]]);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
	free(ids);
}

struct pt_database {
	struct pt_sql sql;
	struct pt_samples samples;
};

struct pt_database *pt_database_open(const struct pt_library *library, const char *path,
				     const struct pt_columns *columns)
{
	struct pt_database *db = calloc(1, sizeof(*db));

	if (!db)
		return NULL;
	pt_sql_open(&db->sql, library, path);
	pt_sql_run(&db->sql, tables);
	pt_samples_init(&db->samples, &db->sql, columns);
	return db;
}

void pt_database_close(struct pt_database *db)
{
	if (!db)
		return;
	pt_samples_deinit(&db->samples);
	pt_sql_close(&db->sql);
	free(db);
}

void pt_database_note(struct pt_database *db, const char *name, const char *value)
{
	pt_statement *s = pt_sql_prepare(&db->sql, "INSERT INTO recording VALUES (?,?)");

	if (!s)
		return;
	pt_sql_text(&db->sql, s, 1, (struct pd_text){ name, strlen(name) });
	pt_sql_text(&db->sql, s, 2, (struct pd_text){ value, strlen(value) });
	pt_sql_step(&db->sql, s);
	db->sql.library->finalize(s);
}

bool pt_database_add(struct pt_database *db, const struct pq_value *values, size_t n_rows)
{
	pt_samples_add(&db->samples, values, n_rows);
	return !db->sql.failed;
}

bool pt_database_finish(struct pt_database *db, const struct pq_chains *chains)
{
	uint32_t n_frames = pq_chains_n_frames(chains);
	struct pq_call_nodes calls;

	write_events(&db->sql, db->samples.events, db->samples.n_events);
	write_symbols(&db->sql, chains);
	write_threads(&db->sql, &db->samples);
	pt_sums_write(&db->samples.sums, &db->sql);
	if (pq_call_nodes_init(&calls, chains, n_frames)) {
		write_stack_rows(&db->sql, &calls, pq_chains_size(chains));
		pt_totals_write(&db->samples.sums, &calls, n_frames, &db->sql);
	} else {
		pt_sql_fail(&db->sql, "no memory");
	}
	pq_call_nodes_deinit(&calls);
	return pt_sql_run(&db->sql, indexes) && pt_sql_run(&db->sql, views) &&
	       pt_sql_run(&db->sql, "COMMIT");
}

uint64_t pt_database_rows(const struct pt_database *db, uint64_t *set_aside)
{
	*set_aside = db->samples.n_aside;
	return db->samples.n_rows;
}

const char *pt_database_error(const struct pt_database *db)
{
	return db->sql.error;
}

bool pt_database_is_full(const struct pt_database *db)
{
	return db->sql.is_full;
}
