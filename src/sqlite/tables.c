#include "tables.h"

#define SOFTWARE 1 /* PERF_TYPE_SOFTWARE */

/* Returns what periods of an event count: the clocks among the software events ns. */
static const char *unit_of_event(const struct pd_event *event)
{
	/* PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK */
	return event->attr.type == SOFTWARE && event->attr.config <= 1 ? "nanoseconds" :
									 "count";
}

static struct pd_text text_of_name(const char *name)
{
	return (struct pd_text){ name, name ? strlen(name) : 0 };
}

void pt_tables_events(struct pt_sql *sql, const struct pd_event *const *events, size_t n)
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

static void add_threads(struct pt_sql *sql, const struct pt_names *names)
{
	pt_statement *s =
		pt_sql_prepare(sql,
			       "INSERT INTO threads VALUES (?,nullif(?,-1),nullif(?,-1),?)");

	for (size_t i = 0; s && i < names->n_threads && !sql->failed; i++) {
		pt_sql_number(sql, s, 1, (uint32_t)i + 1);
		sql->library->bind_int64(s, 2, names->threads[i].pid);
		sql->library->bind_int64(s, 3, names->threads[i].tid);
		pt_sql_text(sql, s, 4, names->threads[i].comm);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}

static void add_binaries(struct pt_sql *sql, const struct pt_names *names)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO binaries VALUES (?,?,?)");
	char text[PS_BUILD_ID_TEXT];

	for (size_t i = 0; s && i < names->n_binaries && !sql->failed; i++) {
		const struct ps_build_id *id = names->binaries[i].build_id;

		pt_sql_number(sql, s, 1, (uint32_t)i + 1);
		pt_sql_text(sql, s, 2, names->binaries[i].name);
		pt_sql_text(sql, s, 3, text_of_name(id ? ps_build_id_text(id, text) : NULL));
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}

/* Returns the number of a frame's binary among the names; 0: it has none, or no memory. */
static uint32_t number_binary(struct pt_sql *sql, struct pt_names *names,
			      const struct ps_dso *dso)
{
	uint32_t number = dso ? pt_names_binary(names, text_of_name(dso->name)) : 0;

	if (dso && !number)
		pt_sql_fail(sql, "no memory");
	else if (dso && dso->id.build_id.size)
		names->binaries[number - 1].build_id = &dso->id.build_id;
	return number;
}

void pt_tables_symbols(struct pt_sql *sql, struct pt_names *names,
		       const struct pq_chains *chains)
{
	pt_statement *s = pt_sql_prepare(sql,
					 "INSERT INTO symbols VALUES (?,?,?,nullif(?,0),?)");
	uint32_t n = pq_chains_n_frames(chains);

	for (uint32_t i = 0; s && i < n && !sql->failed; i++) {
		const struct pq_frame *frame = pq_chains_frame(chains, i);
		struct pd_text name = { 0 };

		if (frame->symbol)
			name = (struct pd_text){ frame->symbol->name, frame->symbol->length };
		pt_sql_number(sql, s, 1, i + 1);
		pt_sql_text(sql, s, 2, name);
		pt_sql_number(sql, s, 3, number_binary(sql, names, frame->dso));
		sql->library->bind_int64(s, 4, (int64_t)frame->address);
		pt_sql_text(sql, s, 5,
			    text_of_name(pd_cpumode_name((enum pd_cpumode)frame->mode)));
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}

void pt_tables_names(struct pt_sql *sql, const struct pt_names *names)
{
	add_threads(sql, names);
	add_binaries(sql, names);
}

void pt_tables_stacks(struct pt_sql *sql, const struct pt_tree *tree)
{
	pt_statement *s = pt_sql_prepare(sql, "INSERT INTO stacks VALUES (?,?,?,?)");

	for (size_t i = 0; s && i < tree->n && !sql->failed; i++) {
		const struct pt_node *node = &tree->nodes[tree->by_id[i]];
		uint32_t caller = node->caller;

		pt_sql_number(sql, s, 1, node->id);
		pt_sql_number(sql, s, 2, caller == UINT32_MAX ? 0 : tree->nodes[caller].id);
		pt_sql_number(sql, s, 3, node->frame + 1);
		sql->library->bind_int64(s, 4, node->depth);
		pt_sql_step(sql, s);
	}
	sql->library->finalize(s);
}
