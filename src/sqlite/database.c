#include "database.h"

#include <stdlib.h>

#include "samples.h"
#include "schema.h"
#include "tables.h"

struct pt_database {
	struct pt_sql sql;
	struct pt_names names;
	struct pt_samples samples;
};

struct pt_database *pt_database_open(const struct pt_library *library, const char *path,
				     const struct pt_columns *columns)
{
	struct pt_database *db = calloc(1, sizeof(*db));

	if (!db)
		return NULL;
	pb_secret_make(&db->names.secret);
	pt_sql_open(&db->sql, library, path);
	pt_sql_run(&db->sql, pt_tables);
	pt_samples_init(&db->samples, &db->sql, columns, &db->names);
	return db;
}

void pt_database_close(struct pt_database *db)
{
	if (!db)
		return;
	pt_samples_deinit(&db->samples);
	pt_sql_close(&db->sql);
	pt_names_deinit(&db->names);
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
	struct pt_tree tree;

	pt_tables_events(&db->sql, db->samples.events, db->samples.n_events);
	pt_tables_symbols(&db->sql, &db->names, chains);
	pt_tables_names(&db->sql, &db->names);
	pt_sums_write(&db->samples.sums, &db->sql);
	if (!pt_tree_init(&tree, chains))
		pt_sql_fail(&db->sql, "no memory");
	pt_tables_stacks(&db->sql, &tree);
	pt_tree_deinit(&tree);
	return pt_sql_run(&db->sql, pt_indexes) && pt_sql_run(&db->sql, pt_views) &&
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
