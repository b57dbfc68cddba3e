#include "schema.h"

const char pt_tables[] =
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

const char pt_samples_table[] =
	"CREATE TABLE samples (id INTEGER PRIMARY KEY, event_id INTEGER, thread_id INTEGER,"
	" symbol_id INTEGER, stack_id INTEGER, time INTEGER, cpu INTEGER, period INTEGER,"
	" ip INTEGER";

const char pt_indexes[] = "CREATE INDEX samples_time ON samples (time);"
			  "CREATE INDEX stacks_caller ON stacks (caller_id);"
			  "CREATE INDEX stacks_symbol ON stacks (symbol_id);"
			  "CREATE INDEX symbols_name ON symbols (name);";

/* Functions are named as in perflua report. */
const char pt_views[] =
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
