#include "database.h"

#include <stdlib.h>

#include "samples.h"
#include "schema.h"
#include "tables.h"

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
	pt_sql_run(&db->sql, pt_tables);
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

	pt_tables_events(&db->sql, db->samples.events, db->samples.n_events);
	pt_tables_symbols(&db->sql, chains);
	pt_tables_threads(&db->sql, &db->samples);
	pt_sums_write(&db->samples.sums, &db->sql);
	if (pq_call_nodes_init(&calls, chains, n_frames)) {
		pt_tables_stacks(&db->sql, &calls, pq_chains_size(chains));
		pt_totals_write(&db->samples.sums, &calls, n_frames, &db->sql);
	} else {
		pt_sql_fail(&db->sql, "no memory");
	}
	pq_call_nodes_deinit(&calls);
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
