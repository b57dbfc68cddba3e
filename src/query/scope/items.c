#include "items.h"

#include <stdlib.h>

#include "scope.h"

bool pq_items_ask(const struct pq_unnest *unnest, const struct pd_session *session)
{
	/* the frames may depend on other parts of a sample, so the recorded system is asked */
	return unnest &&
	       (unnest->view == &pd_view_callchain || pq_asks_system(unnest->filter, session) ||
		pq_asks_system(unnest->once, session));
}

struct pq_items *pq_items_create(const struct pq_unnest *unnest, struct pq_fields *fields)
{
	struct pq_items *items = calloc(1, sizeof(*items));

	if (!items)
		return NULL;
	items->unnest = unnest;
	items->view_number = pq_items_view_number(unnest->view);
	items->fields = fields;
	fields->items = items;
	fields->load_item = pq_items_load;
	if ((unnest->filter && !(items->filter = pq_expr_create(unnest->filter, fields))) ||
	    !pq_once_init(&items->once, unnest->once, fields)) {
		pq_items_destroy(items);
		return NULL;
	}
	return items;
}

void pq_items_destroy(struct pq_items *items)
{
	if (!items)
		return;
	pq_expr_destroy(items->filter);
	pq_once_deinit(&items->once);
	pq_chains_destroy(items->chains);
	items->fields->items = NULL;
	items->fields->load_item = NULL;
	free(items);
}

/* Opens the record's view; it stays without items if there is none. */
static void open_view(struct pq_items *items, const struct pd_record *rec)
{
	unsigned slot = rec->layout ? rec->layout->slot[items->unnest->name] : 0;
	struct pd_value value = { .type = PD_NIL };

	if (slot)
		pd_record_get(rec, slot, &value);
	if (value.type != PD_VIEW || value.view.desc != items->unnest->view)
		return;
	items->view = value.view;
	items->n = value.view.count;
	if (items->unnest->view == &pd_view_branch_stack) {
		items->words = rec->bytes + value.view.at;
		items->size = PQ_BRANCH_SIZE;
	}
	/* a counter that is in no group is one item, whose members are the view's */
	if (value.view.desc == &pd_view_read && !items->n &&
	    !(rec->layout->shape->read_format & PD_READ_GROUP))
		items->n = 1;
}

static void read_frames(struct pq_items *items, const struct pd_record *rec)
{
	size_t n = pq_chains_walk(items->fields->resolver, rec, items->frames);

	items->n = (uint32_t)n;
	items->words = (const uint8_t *)items->frames;
	items->size = sizeof(items->frames[0]);
}

void pq_items_begin(struct pq_items *items)
{
	const struct pd_record *rec = items->fields->rec;

	items->n = items->next = 0;
	items->n_lines = items->line = 0;
	items->entered = false;
	items->fields->item = items->words = NULL;
	items->size = 0;
	pq_once_begin(&items->once);
	if (items->unnest->view == &pd_view_callchain)
		read_frames(items, rec);
	else
		open_view(items, rec);
}

/* Reads the lines of a frame, and sets which of them are rows. */
static void find_lines(struct pq_items *items)
{
	const struct pq_frame *frame = pq_items_frame(items, 0);

	items->n_lines = 0;
	if (frame && frame->dso)
		items->n_lines = ps_dso_lines(frame->dso, frame->address, &items->lines);
	items->line = 0;
}

/* Goes to the next item. Returns false if there is none. */
static inline bool step_item(struct pq_items *items)
{
	if (items->unnest->inlined && items->next && pq_items_is_inlined(items)) {
		items->line++;
		return true;
	}
	if (items->next >= items->n)
		return false;
	items->index = items->next++;
	items->fields->item = items->words;
	items->words += items->size;
	items->at[0] = items->at[1] = items->at[2] = UINT32_MAX;
	if (items->unnest->inlined)
		find_lines(items);
	return true;
}

bool pq_items_next(struct pq_items *items)
{
	while (step_item(items)) {
		items->is_row = !items->fields->failed;
		if (!items->is_row)
			return false;
		if (items->filter && !pq_expr_test(items->filter, items->fields))
			continue;
		if (!items->once.expr || pq_once_is_first(&items->once, items->fields))
			return true;
	}
	items->is_row = false;
	items->fields->item = NULL;
	return false;
}
