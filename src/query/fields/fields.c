#include <stdlib.h>
#include <string.h>

#include "fields_internal.h"

bool pq_fields_init(struct pq_fields *fields, const struct pd_session *session,
		    struct pm_resolver *resolver)
{
	*fields = (struct pq_fields){
		.session = session,
		.resolver = resolver,
		.internal = calloc(1, sizeof(*fields->internal)),
	};
	if (!fields->internal)
		return false;
	fields->called.taken = UINT64_MAX;
	if (resolver)
		fields->taken = pm_system_revision_counter(pm_resolver_system(resolver));
	if (session)
		fields->internal->time = pd_field_name_id(&session->files[0]->field_names,
							  "time", 4);
	pq_texts_init(&fields->internal->texts);
	return true;
}

static void forget_bounds(struct pq_fields *fields)
{
	struct pq_fields_internal *in = fields->internal;

	for (size_t i = 0; i < in->n_bounds; i++)
		free(in->bounds[i]);
	free(in->bounds);
	pb_map_deinit(&in->by_layout);
	in->bounds = NULL;
	memset(in->recent, 0, sizeof(in->recent));
	in->n_bounds = in->bounds_room = 0;
	fields->bound = NULL;
}

void pq_fields_deinit(struct pq_fields *fields)
{
	struct pq_fields_internal *in = fields->internal;

	if (!in)
		return;
	forget_bounds(fields);
	for (size_t i = 0; i < in->n_rooms; i++)
		pb_string_deinit(&in->rooms[i]);
	pq_chains_destroy(in->chains);
	pq_texts_deinit(&in->texts);
	free(in->rooms);
	free(in->list);
	free(in);
	fields->internal = NULL;
}

uint32_t pq_fields_add(struct pq_fields *fields, const struct pq_field *field)
{
	struct pq_fields_internal *in = fields->internal;

	for (size_t i = 0; i < in->n; i++)
		if (in->list[i] == field)
			return (uint32_t)i;
	if (!pb_reserve(in->list, in->n, in->capacity))
		return UINT32_MAX;
	forget_bounds(fields);
	in->list[in->n] = field;
	return (uint32_t)in->n++;
}

char *pq_room(struct pq_fields *fields, uint32_t field, size_t n)
{
	struct pb_string *room = &fields->internal->rooms[field];

	pb_string_clear(room);
	if (pb_string_reserve(room, n))
		return room->p;
	fields->failed = true;
	return NULL;
}

static uint32_t hash_layout(const struct pd_layout *layout, const struct pd_event *event)
{
	return (uint32_t)(pb_scatter((uintptr_t)layout ^ (uintptr_t)event * 31) >> 32);
}

static bool has_layout(const void *arg, uint32_t item)
{
	const struct pq_fields *fields = arg;
	const struct pq_bound *bound = fields->internal->bounds[item];

	return bound->layout == fields->rec->layout && bound->event == fields->rec->event;
}

/*
 * Binds the fields to the layout and event of the record that was entered. Returns NULL without
 * memory.
 */
static struct pq_bound *make_bound(struct pq_fields *fields)
{
	const struct pd_record *rec = fields->rec;
	struct pq_fields_internal *in = fields->internal;
	struct pq_bound *made = malloc(sizeof(*made) + in->n * sizeof(*made->loads));

	if (!made || (in->n_rooms < in->n && !pb_extend(in->rooms, in->n_rooms, in->n))) {
		free(made);
		return NULL;
	}
	made->layout = rec->layout;
	made->event = rec->event;
	made->number = (uint32_t)in->n_bounds;
	for (uint32_t i = 0; i < in->n; i++)
		pq_load_init(fields, i, &made->loads[i]);
	return made;
}

bool pq_fields_bind(struct pq_fields *fields, const struct pd_record *rec)
{
	struct pq_fields_internal *in = fields->internal;
	uint32_t hash = hash_layout(rec->layout, rec->event);
	const struct pq_bound **recent = &in->recent[hash % PQ_RECENT_BOUNDS];
	struct pq_bound *made;
	struct pb_slot *slot;

	/* most often a few kinds of records take turns */
	if (*recent && (*recent)->layout == rec->layout && (*recent)->event == rec->event) {
		fields->bound = *recent;
		return true;
	}
	fields->bound = NULL;
	if (!pb_map_reserve(&in->by_layout) ||
	    !pb_reserve(in->bounds, in->n_bounds, in->bounds_room))
		return false;
	slot = pb_map_find(&in->by_layout, hash, has_layout, fields);
	if (!slot->item) {
		made = make_bound(fields);
		if (!made)
			return false;
		pb_map_fill(&in->by_layout, slot, hash, (uint32_t)in->n_bounds);
		in->bounds[in->n_bounds++] = made;
	}
	fields->bound = *recent = in->bounds[slot->item - 1];
	return true;
}

bool pq_fields_enter_row(struct pq_fields *fields, const struct pq_value *row, size_t n,
			 const struct pd_event *event)
{
	fields->row = row;
	fields->n_row = n;
	fields->internal->of_row.event = event;
	return pq_fields_enter(fields, &fields->internal->of_row);
}

void pq_fields_count(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;
	uint32_t count;

	out->type = PQ_NIL;
	if (fields->internal->list[field]->by_event || fields->internal->list[field]->row) {
		struct pq_value text;

		load->read(fields, field, &text);
		if (text.type == PQ_TEXT)
			*out = (struct pq_value){ .type = PQ_INT, .u = text.size };
		return;
	}
	if (!load->bound)
		return;
	pq_follow(fields, field, &value, &count);
	if (value.type == PD_VIEW || (value.type == PD_BOOL && count != UINT32_MAX)) {
		out->type = PQ_INT;
		out->u = value.type == PD_VIEW ? value.view.count : count;
	} else if (value.type == PD_STR || value.type == PD_BLOB || value.type == PD_HEX) {
		out->type = PQ_INT;
		out->u = value.type == PD_HEX ? 2 * value.s.n : value.s.n;
	}
}

bool pq_fields_key(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	static const uint8_t kinds[] = {
		[PD_SYS_STACK] = PQ_CHAIN_STACK,
		[PD_SYS_ANNOTATED_STACK] = PQ_CHAIN_ANNOTATED,
		[PD_SYS_FRAMES] = PQ_CHAIN_FRAMES,
	};
	enum pq_chain_kind kind;

	if (!fields->chains || !load->is_chain || !fields->resolver) {
		pq_fields_get(fields, field, out);
		return !fields->failed;
	}
	kind = (enum pq_chain_kind)fields->internal->list[field]->chain_kind;
	if (!kind)
		kind = (enum pq_chain_kind)kinds[load->bound->field->arg];
	out->u = pq_chains_of(fields->chains, fields->resolver, fields->rec, kind);
	if (out->u == PQ_CHAIN_BEYOND) {
		*out = (struct pq_value){ .type = PQ_TEXT,
					  .p = PQ_OTHERS,
					  .size = sizeof(PQ_OTHERS) - 1 };
		return true;
	}
	out->type = out->u == PQ_NO_CHAIN ? PQ_NIL : PQ_CHAIN;
	out->size = pq_chains_own(fields->chains);
	return out->u != PQ_CHAIN_NO_MEMORY;
}
