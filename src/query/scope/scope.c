#include "scope.h"

#include <string.h>

#include "items.h"

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
	options->choice.events = scope->events;
	options->choice.n = scope->n_events;
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

/*
 * Returns true if the steps lead to a member of an item that the recorded system knows:
 * "[1].symbol".
 */
static bool steps_ask(const struct pd_view_desc *view, const struct pq_field *field)
{
	const struct pd_member *items = view->items;

	if (field->n_steps < 2 || field->steps[0].name || !field->steps[1].name || !items)
		return false;
	return items[pd_member_find(items, field->steps[1].name)].of_system;
}

/*
 * Returns true if call chains may differ from the recorded ones. Then the recorded system makes
 * them.
 */
static bool chains_are_made(const struct pd_shape *shape)
{
	return (shape->sample_type & (PD_SAMPLE_REGS_USER | PD_SAMPLE_BRANCH_STACK)) ||
	       shape->defer;
}

static bool layout_asks(const struct pd_layout *layout, const struct pq_field *field)
{
	const struct pd_bound *bound;

	if (!layout || !layout->slot[field->name])
		return false;
	bound = &layout->bound[layout->slot[field->name]];
	if (bound->kind != PD_K_VIEW)
		return bound->kind == PD_K_SYSTEM;
	return steps_ask(bound->field->view, field) ||
	       (bound->field->view == &pd_view_callchain && chains_are_made(layout->shape));
}

static bool layouts_ask(const struct pd_layout *const *layouts, const struct pq_field *field)
{
	for (size_t type = 0; type < PD_RECORD_TYPES; type++)
		if (layout_asks(layouts[type], field))
			return true;
	return false;
}

/* Events of a stream may come late, and their samples may have any field. */
static bool late_ones_ask(const struct pd_file *file, const struct pq_field *field)
{
	const char *name = file->field_names.name[field->name];

	for (const struct pd_field *f = pd_sample_fields; f->name; f++)
		if (strcmp(f->name, name) == 0 &&
		    (f->kind == PD_K_SYSTEM || f->view == &pd_view_callchain ||
		     (f->view && steps_ask(f->view, field))))
			return true;
	return false;
}

static bool file_asks(const struct pd_file *file, const struct pq_field *field)
{
	if (file->input.stream && late_ones_ask(file, field))
		return true;
	for (size_t i = 0; i < file->n_events; i++)
		if (layout_asks(file->events[i].sample, field) ||
		    layouts_ask(file->events[i].others, field))
			return true;
	return layout_asks(file->unknown_sample, field) ||
	       layouts_ask(file->bare_layouts, field);
}

static bool field_asks(const struct pq_field *field, const struct pd_session *session)
{
	if (field->item)
		return pq_item_asks(field->item);
	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_file *file = session->files[i];

		if (field->name && field->name <= file->field_names.n && file_asks(file, field))
			return true;
	}
	return false;
}

bool pq_asks_system(const struct pq_node *node, const struct pd_session *session)
{
	if (!node)
		return false;
	if (node->op == PQ_UNDER ||
	    (node->op == PQ_FIELD && node->field && field_asks(node->field, session)))
		return true;
	for (size_t i = 0; node->op == PQ_CALL && i < node->call->n_args; i++)
		if (pq_asks_system(node->call->args[i], session))
			return true;
	return pq_asks_system(node->left, session) || pq_asks_system(node->right, session);
}
