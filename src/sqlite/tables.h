/* The tables of what samples have in common, written row by row. A failure is that of `sql`. */
#ifndef PERFLUA_SQLITE_TABLES_H
#define PERFLUA_SQLITE_TABLES_H

#include "names.h"
#include "sql.h"
#include "stack_tree.h"

void pt_tables_events(struct pt_sql *sql, const struct pd_event *const *events, size_t n);
void pt_tables_names(struct pt_sql *sql, const struct pt_names *names);
/* Writes a symbol for each frame of chains, and adds its binary to the names. */
void pt_tables_symbols(struct pt_sql *sql, struct pt_names *names,
		       const struct pq_chains *chains);
void pt_tables_stacks(struct pt_sql *sql, const struct pt_tree *tree);

#endif
