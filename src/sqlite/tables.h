/* The tables of what samples have in common, written row by row. A failure is that of `sql`. */
#ifndef PERFLUA_SQLITE_TABLES_H
#define PERFLUA_SQLITE_TABLES_H

#include "samples.h"

void pt_tables_events(struct pt_sql *sql, const struct pd_event *const *events, size_t n);
void pt_tables_threads(struct pt_sql *sql, const struct pt_samples *samples);
/* Writes a symbol for each frame of chains, and their binaries. */
void pt_tables_symbols(struct pt_sql *sql, const struct pq_chains *chains);
/* Writes the nodes of `n_chains` chains: that where a chain ends has its number, from 1 on. */
void pt_tables_stacks(struct pt_sql *sql, const struct pq_call_nodes *calls, uint32_t n_chains);

#endif
