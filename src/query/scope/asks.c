/* Tells whether a query needs the recorded system: names, mappings, made call chains. */
#include "items.h"

#include <string.h>

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
