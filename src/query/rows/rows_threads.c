#include "rows.h"

#define LEAST_BYTES ((uint64_t)1 << 20) /* of records: for less no thread is worth starting */

const char *pq_rows_why_alone(const struct pq_scope *scope)
{
	const struct pd_session *session = scope->session;

	if (pq_scope_passes(scope))
		return "a stream can be read only once";
	if (scope->calls)
		return "a Lua function is called for each record";
	for (size_t i = 0; i < session->n_files; i++)
		if (session->files[i]->pipe)
			return "a pipe describes its events as it goes on";
	return pq_scope_size(scope) < LEAST_BYTES ? "the input is small" : NULL;
}

unsigned pq_rows_threads(const struct pq_scope *scope, const char **why)
{
	*why = NULL;
	if (scope->threads < 2)
		return 1;
	*why = pq_rows_why_alone(scope);
	if (*why)
		return 1;
	*why = "values are made ahead of the loop";
	return 2;
}
