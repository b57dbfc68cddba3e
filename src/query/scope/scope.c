#include "scope.h"

static bool of_event(const struct pq_scope *scope, const struct pd_record *rec)
{
	size_t number = rec->event ? rec->event->number : scope->n_events;

	/* late events did not exist when the query was made */
	return (!rec->event || number < scope->n_events) && scope->events[number];
}

static bool in_time(const struct pq_scope *scope, const struct pd_record *rec, unsigned time_id)
{
	unsigned index = rec->layout->slot[time_id];
	struct pd_value v;

	v.type = PD_NIL; /* an initializer would clear all of v for every record */
	if (index)
		pd_record_get(rec, index, &v);
	return v.type != PD_NIL && v.u >= scope->from && v.u < scope->to;
}

bool pq_in_scope(const struct pq_scope *scope, const struct pd_record *rec, unsigned time_id)
{
	return pd_types_has(&scope->types, rec->type) &&
	       (!scope->events || of_event(scope, rec)) &&
	       (!scope->by_time || in_time(scope, rec, time_id));
}

static bool tell_system(void *system, const struct pd_record *rec)
{
	return pm_system_add(system, rec);
}

bool pq_scope_open_walk(const struct pq_scope *scope, bool ahead, struct pd_walk *walk,
			struct pd_error *err)
{
	struct pd_walk_options *options = &walk->options;

	if (!pd_walk_init(walk, scope->session, scope->order, err))
		return false;
	options->types = scope->types;
	options->workers = scope->threads;
	options->split = scope->split;
	options->read_ahead = ahead && scope->threads > 1;
	options->progress = scope->progress;
	if (scope->by_time) {
		options->from = scope->from;
		options->to = scope->to;
	}
	if (scope->system && pq_scope_passes(scope)) {
		options->on_sideband.call = tell_system;
		options->on_sideband.arg = scope->system;
		pm_system_types(&options->on_sideband.types);
	}
	return true;
}

bool pq_scope_splits(const struct pq_scope *scope)
{
	return scope->split && pd_types_has(&scope->types, PD_RECORD_SAMPLE) &&
	       pd_session_has_counters(scope->session);
}

bool pq_scope_passes(const struct pq_scope *scope)
{
	for (size_t i = 0; i < scope->session->n_files; i++)
		if (scope->session->files[i]->input.stream)
			return true;
	return false;
}

bool pq_scope_needs_index(const struct pq_scope *scope)
{
	return scope->order == PD_ORDER_TIME && pd_time_order_needs_index(scope->session);
}

uint64_t pq_scope_size(const struct pq_scope *scope)
{
	return pq_scope_passes(scope) ? 0 : pd_session_size(scope->session);
}
