#include "database.h"

#include <stdlib.h>

#include "base/vector.h"
#include "schema.h"
#include "sql.h"
#include "tables.h"

#define OWN_COLUMNS 8 /* of `samples` without its id and the further ones */

struct pt_database {
	struct pt_sql sql;
	const struct pt_columns *columns;
	pt_statement *insert; /* a row of `samples` */
	struct pt_names names;
	const struct pd_event **events; /* [n_events]: those that were met */
	size_t n_events, events_room;
	uint64_t n_rows, n_aside;
};

static pt_statement *prepare_samples(struct pt_database *db)
{
	const struct pt_columns *columns = db->columns;
	struct pb_string sql = { 0 };
	pt_statement *statement = NULL;

	pb_string_put(&sql, pt_samples);
	for (size_t i = 0; i < columns->n_more; i++) {
		pb_string_put(&sql, ", \"");
		for (const char *p = columns->more[i]; *p; p++)
			pb_string_fill(&sql, *p, *p == '"' ? 2 : 1);
		pb_string_put(&sql, "\"");
	}
	pb_string_put(&sql, ")");
	if (pb_string_end(&sql) ? pt_sql_run(&db->sql, sql.p) :
				  pt_sql_fail(&db->sql, "no memory")) {
		pb_string_clear(&sql);
		pb_string_put(&sql, "INSERT INTO samples VALUES (NULL");
		for (size_t i = 0; i < OWN_COLUMNS + columns->n_more; i++)
			pb_string_put(&sql, ",?");
		pb_string_put(&sql, ")");
		if (pb_string_end(&sql))
			statement = pt_sql_prepare(&db->sql, sql.p);
	}
	pb_string_deinit(&sql);
	return statement;
}

struct pt_database *pt_database_open(const struct pt_library *library, const char *path,
				     const struct pt_columns *columns)
{
	struct pt_database *db = calloc(1, sizeof(*db));

	if (!db)
		return NULL;
	db->columns = columns;
	pb_secret_make(&db->names.secret);
	pt_sql_open(&db->sql, library, path);
	pt_sql_run(&db->sql, pt_tables);
	db->insert = prepare_samples(db);
	return db;
}

void pt_database_close(struct pt_database *db)
{
	if (!db)
		return;
	if (db->insert)
		db->sql.library->finalize(db->insert);
	pt_sql_close(&db->sql);
	pt_names_deinit(&db->names);
	free(db->events);
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

/* Returns a value of a row; NULL: it is absent. */
static const struct pq_value *column_of(const struct pt_database *db,
					const struct pq_value *row, enum pt_column column)
{
	size_t at = db->columns->at[column];

	return at == PT_ABSENT || row[at].type == PQ_NIL ? NULL : &row[at];
}

static struct pd_text text_value(const struct pq_value *value)
{
	return value && value->type == PQ_TEXT ? (struct pd_text){ value->p, value->size } :
						 (struct pd_text){ 0 };
}

/* Binds a value of any type. */
static void bind_value(struct pt_database *db, int i, const struct pq_value *value)
{
	const struct pt_library *library = db->sql.library;

	switch (value ? value->type : PQ_NIL) {
	case PQ_INT:
		library->bind_int64(db->insert, i, value->i);
		break;
	case PQ_BOOL:
		library->bind_int64(db->insert, i, value->u != 0);
		break;
	case PQ_FLOAT:
		library->bind_double(db->insert, i, value->f);
		break;
	case PQ_TEXT:
		pt_sql_text(&db->sql, db->insert, i, text_value(value));
		break;
	default:
		library->bind_null(db->insert, i);
	}
}

/* Returns the number of an event, which it notes if it is new; 0: no memory. */
static uint32_t event_number(struct pt_database *db, const struct pd_event *event)
{
	for (size_t i = 0; i < db->n_events; i++)
		if (db->events[i] == event)
			return event->number + 1;
	if (!pb_reserve(db->events, db->n_events, db->events_room))
		return 0;
	db->events[db->n_events++] = event;
	return event->number + 1;
}

static uint32_t thread_number(struct pt_database *db, const struct pq_value *row)
{
	const struct pq_value *pid = column_of(db, row, PT_PID);
	const struct pq_value *tid = column_of(db, row, PT_TID);

	return pt_names_thread(&db->names,
			       &(struct pt_thread){ pid ? pid->i : -1, tid ? tid->i : -1,
						    text_value(column_of(db, row, PT_COMM)) });
}

/* Returns the number of the function of a row's ip; 0: no memory. */
static uint32_t symbol_number(struct pt_database *db, const struct pq_value *row)
{
	const struct pq_value *misc = column_of(db, row, PT_MISC);
	const struct pq_value *address = column_of(db, row, PT_UNRESOLVED);
	struct pd_text binary = text_value(column_of(db, row, PT_DSO));
	struct pt_symbol symbol = {
		.name = text_value(column_of(db, row, PT_SYMBOL)),
		.mode = misc ? misc->u & PD_MISC_CPUMODE : 0,
	};

	if (!symbol.name.p && address)
		symbol.address = address->u;
	if (binary.p) {
		symbol.binary = pt_names_binary(&db->names, binary);
		if (!symbol.binary)
			return 0;
	}
	return pt_names_symbol(&db->names, &symbol);
}

/* Binds the numbers of what a row has in common with others. */
static bool bind_numbers(struct pt_database *db, const struct pq_value *row)
{
	const struct pq_value *event = column_of(db, row, PT_EVENT);
	const struct pq_value *chain = column_of(db, row, PT_FRAMES);
	uint32_t of_event = event ? event_number(db, event->event) : 0;
	uint32_t thread = thread_number(db, row), symbol = 0;

	if (column_of(db, row, PT_IP) && !(symbol = symbol_number(db, row)))
		return pt_sql_fail(&db->sql, "no memory");
	if (!thread || (event && !of_event))
		return pt_sql_fail(&db->sql, "no memory");
	pt_sql_number(&db->sql, db->insert, 1, of_event);
	pt_sql_number(&db->sql, db->insert, 2, thread);
	pt_sql_number(&db->sql, db->insert, 3, symbol);
	pt_sql_number(&db->sql, db->insert, 4, chain ? (uint32_t)chain->u + 1 : 0);
	return true;
}

static bool add_sample(struct pt_database *db, const struct pq_value *row)
{
	static const enum pt_column plain[] = { PT_TIME, PT_CPU, PT_PERIOD, PT_IP };
	const struct pt_columns *columns = db->columns;
	const struct pq_value *period = column_of(db, row, PT_PERIOD);

	if (period && period->u > columns->most) {
		db->n_aside++;
		return true;
	}
	if (!bind_numbers(db, row))
		return false;
	for (int i = 0; i < 4; i++)
		bind_value(db, 5 + i, column_of(db, row, plain[i]));
	for (size_t i = 0; i < columns->n_more; i++) {
		bind_value(db, OWN_COLUMNS + 1 + (int)i,
			   &row[columns->n_row - columns->n_more + i]);
		if (db->sql.failed) /* a text of no memory */
			return false;
	}
	db->n_rows++;
	return pt_sql_step(&db->sql, db->insert);
}

bool pt_database_add(struct pt_database *db, const struct pq_value *values, size_t n_rows)
{
	for (size_t i = 0; i < n_rows && !db->sql.failed; i++)
		add_sample(db, values + i * db->columns->n_row);
	return !db->sql.failed;
}

bool pt_database_finish(struct pt_database *db, const struct pq_chains *chains)
{
	struct pt_tree tree;

	if (!pt_tree_init(&tree, chains, &db->names))
		pt_sql_fail(&db->sql, "no memory");
	pt_tables_events(&db->sql, db->events, db->n_events);
	pt_tables_names(&db->sql, &db->names);
	pt_tables_stacks(&db->sql, &tree);
	pt_tree_deinit(&tree);
	return pt_sql_run(&db->sql, pt_indexes) && pt_sql_run(&db->sql, pt_views) &&
	       pt_sql_run(&db->sql, "COMMIT");
}

uint64_t pt_database_rows(const struct pt_database *db, uint64_t *set_aside)
{
	*set_aside = db->n_aside;
	return db->n_rows;
}

const char *pt_database_error(const struct pt_database *db)
{
	return db->sql.error;
}
