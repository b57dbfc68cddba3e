#include <stdlib.h>
#include <string.h>

#include "fields_inside.h"

bool pq_fields_init(struct pq_fields *fields, const struct pd_session *session,
		    struct pm_resolver *resolver)
{
	*fields = (struct pq_fields){
		.session = session,
		.resolver = resolver,
		.inside = calloc(1, sizeof(*fields->inside)),
	};
	if (fields->inside)
		fields->inside->time = pd_name_id(&session->files[0]->names, "time", 4);
	return fields->inside;
}

static void forget_layouts(struct pq_fields *fields)
{
	struct pq_fields_inside *in = fields->inside;

	for (size_t i = 0; i < in->n_slots; i++)
		free(in->layouts[i]);
	free(in->layouts);
	in->layouts = NULL;
	in->n_layouts = in->n_slots = 0;
	fields->bound = NULL;
}

void pq_fields_deinit(struct pq_fields *fields)
{
	struct pq_fields_inside *in = fields->inside;

	if (!in)
		return;
	forget_layouts(fields);
	for (size_t i = 0; i < in->n_rooms; i++)
		free(in->rooms[i].p);
	pq_chains_destroy(in->chains);
	free(in->rooms);
	free(in->list);
	free(in);
	fields->inside = NULL;
}

uint32_t pq_fields_add(struct pq_fields *fields, const struct pq_field *field)
{
	struct pq_fields_inside *in = fields->inside;

	for (size_t i = 0; i < in->n; i++)
		if (in->list[i] == field)
			return (uint32_t)i;
	if (!ps_reserve(in->list, in->n, in->capacity))
		return UINT32_MAX;
	forget_layouts(fields);
	in->list[in->n] = field;
	return (uint32_t)in->n++;
}

char *pq_room(struct pq_fields *fields, uint32_t field, size_t n)
{
	struct pq_room *room = &fields->inside->rooms[field];
	char *grown;

	if (n <= room->capacity)
		return room->p;
	grown = realloc(room->p, n + n / 2);
	if (!grown) {
		fields->failed = true;
		return NULL;
	}
	room->p = grown;
	room->capacity = n + n / 2;
	return grown;
}

/* Text that lies in the value itself, or is somebody's until he is asked again, is copied. */
static void keep_text(struct pq_fields *fields, uint32_t field, const char *p, size_t n,
		      struct pq_value *out)
{
	char *room = pq_room(fields, field, n + 1);

	if (!room || n > UINT32_MAX)
		return;
	memcpy(room, p, n);
	out->type = PQ_TEXT;
	out->size = (uint32_t)n;
	out->p = room;
}

static void hex_digits(struct pq_fields *fields, uint32_t field, const struct pd_value *value,
		       struct pq_value *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = value->s.n;
	char *room = pq_room(fields, field, 2 * n + 1);

	if (!room || n > UINT32_MAX / 2)
		return;
	for (size_t i = 0; i < n; i++) {
		room[2 * i] = digits[(uint8_t)value->s.p[i] >> 4];
		room[2 * i + 1] = digits[value->s.p[i] & 15];
	}
	out->type = PQ_TEXT;
	out->size = (uint32_t)(2 * n);
	out->p = room;
}

void pq_from_decoded(struct pq_fields *fields, uint32_t field, const struct pd_value *value,
		     struct pq_value *out)
{
	out->type = PQ_NIL;
	switch (value->type) {
	case PD_BOOL:
		out->type = PQ_BOOL;
		out->u = value->u != 0;
		break;
	case PD_INT:
	case PD_UINT:
	case PD_ADDR:
		out->type = PQ_INT;
		out->i = value->i;
		break;
	case PD_FLOAT:
		out->type = PQ_FLOAT;
		out->f = value->f;
		break;
	case PD_STR:
	case PD_BLOB:
		if (value->s.p == value->text || value->s.n > UINT32_MAX) {
			keep_text(fields, field, value->s.p, value->s.n, out);
			break;
		}
		out->type = PQ_TEXT;
		out->size = (uint32_t)value->s.n;
		out->p = value->s.p;
		break;
	case PD_HEX:
		hex_digits(fields, field, value, out);
		break;
	case PD_VIEW:
		out->type = PQ_BOOL;
		out->u = 1;
		break;
	case PD_EVENT:
		out->type = value->event ? PQ_EVENT : PQ_NIL;
		out->event = value->event;
		break;
	case PD_NIL:
	case PD_MACHINE:
	case PD_LATER:
		break;
	}
}

/* How a field is read that is no plain load: one of these, by layout. */

static void read_scalar(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;

	pd_record_get(fields->rec, load->index, &value);
	pq_from_decoded(fields, field, &value, out);
}

static void read_system(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;

	pm_field(fields->resolver, fields->rec,
		 &(struct pd_asked){ .field = load->bound->field->arg }, &value);
	pq_from_decoded(fields, field, &value, out);
}

static const struct pm_ids *ids_of(const struct pq_fields *fields)
{
	return pm_machine_ids(pm_resolver_machine(fields->resolver));
}

static void read_comm(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	const struct pd_record *rec = fields->rec;
	struct pd_value value;
	struct pd_text text;

	if (load->called_end <= rec->size &&
	    pm_comm_then(fields->resolver, rec, (int32_t)pd_rec32(rec, load->tid_at),
			 pd_rec64(rec, load->time_at), &text) &&
	    text.n <= UINT32_MAX) {
		out->type = PQ_TEXT;
		out->size = (uint32_t)text.n;
		out->p = text.p;
		return;
	}
	value.type = PD_NIL;
	pm_comm(fields->resolver, rec, &value);
	pq_from_decoded(fields, field, &value, out);
}

/* The call chain as text is the resolver's, until it is asked for another one. */
static void read_chain(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_text text;
	bool whole = load->bound->field->arg == PD_M_FRAMES;
	int64_t ip;

	out->type = PQ_NIL;
	if ((whole ? pm_frames_text : pm_stack)(fields->resolver, fields->rec, &text))
		keep_text(fields, field, text.p, text.n, out);
	else if (pm_integer(fields->rec, ids_of(fields)->ip, &ip))
		fields->failed = true; /* what has an ip has a chain */
}

static void read_part(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	struct pd_value value;
	uint32_t count;

	pq_follow(fields, field, &value, &count);
	pq_from_decoded(fields, field, &value, out);
}

static void read_of_event(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_field *f = fields->inside->list[field];
	const struct pd_event *event = fields->rec->event;

	out->type = PQ_NIL;
	if (event && event->number < f->n_by_event)
		*out = f->by_event[event->number];
}

static void read_event(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	(void)field;
	out->type = fields->rec->event ? PQ_EVENT : PQ_NIL;
	out->event = fields->rec->event;
}

static void read_nothing(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	(void)fields, (void)field;
	out->type = PQ_NIL;
}

static bool is_chain(const struct pd_bound *bound)
{
	return bound->kind == PD_K_MACHINE &&
	       (bound->field->arg == PD_M_STACK || bound->field->arg == PD_M_FRAMES);
}

static pq_read_fn *reader_of(const struct pq_fields *fields, const struct pq_field *f,
			     const struct pd_bound *bound)
{
	if (f->n_steps)
		return read_part;
	if (bound->field->type == PD_EVENT)
		return read_event;
	if (bound->kind != PD_K_MACHINE)
		return read_scalar;
	if (!fields->resolver || bound->field->arg == PD_M_INLINED)
		return read_nothing;
	if (bound->field->arg == PD_M_COMM)
		return read_comm;
	return is_chain(bound) ? read_chain : read_system;
}

/* Where what decides the name of a thread lies, if both are plain loads. */
static void find_called(const struct pq_fields *fields, const struct pd_layout *layout,
			struct pq_load *load)
{
	const struct pd_bound *tid = &layout->bound[layout->slot[ids_of(fields)->tid]];
	const struct pd_bound *time = &layout->bound[layout->slot[fields->inside->time]];
	uint32_t tid_end, time_end;

	load->called_end = UINT32_MAX;
	if (!tid->direct || tid->width != 4 || !time->direct || time->width != 8)
		return;
	tid_end = (uint32_t)tid->at + tid->width;
	time_end = (uint32_t)time->at + time->width;
	load->tid_at = (uint16_t)tid->at;
	load->time_at = (uint16_t)time->at;
	load->called_end = tid_end > time_end ? tid_end : time_end;
}

static struct pq_load load_of(const struct pq_fields *fields, const struct pq_field *f,
			      const struct pd_layout *layout)
{
	unsigned index = layout->slot[f->name];
	const struct pd_bound *bound = &layout->bound[index];
	bool plain = bound->direct && !f->n_steps;
	bool here = index &&
		    (!f->types || (layout->desc && pd_types_has(f->types, layout->desc->type)));

	if (f->by_event)
		return (struct pq_load){ .read = read_of_event, .end = UINT32_MAX };
	if (!here)
		return (struct pq_load){ .read = read_nothing, .end = UINT32_MAX };
	return (struct pq_load){
		.read = reader_of(fields, f, bound),
		.bound = bound,
		.index = (uint16_t)index,
		.at = (uint16_t)bound->at,
		.end = plain ? (uint32_t)bound->at + bound->width : UINT32_MAX,
		.wide = bound->width == 8,
		.is_signed = bound->kind == PD_K_S32,
		.swap = layout->swap,
		.is_chain = is_chain(bound) && !f->n_steps,
	};
}

/* Where a layout is among those that were met, or belongs. */
static struct pq_bound **slot_of(const struct pq_fields_inside *in,
				 const struct pd_layout *layout)
{
	uint64_t h = (uintptr_t)layout * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	while (in->layouts[h & (in->n_slots - 1)] &&
	       in->layouts[h & (in->n_slots - 1)]->layout != layout)
		h++;
	return &in->layouts[h & (in->n_slots - 1)];
}

static bool more_slots(struct pq_fields_inside *in)
{
	struct pq_fields_inside wide = { .n_slots = in->n_slots ? 2 * in->n_slots : 16 };

	wide.layouts = calloc(wide.n_slots, sizeof(*wide.layouts));
	if (!wide.layouts)
		return false;
	for (size_t i = 0; i < in->n_slots; i++)
		if (in->layouts[i])
			*slot_of(&wide, in->layouts[i]->layout) = in->layouts[i];
	free(in->layouts);
	in->layouts = wide.layouts;
	in->n_slots = wide.n_slots;
	return true;
}

static bool make_rooms(struct pq_fields_inside *in)
{
	struct pq_room *rooms = realloc(in->rooms, (in->n + 1) * sizeof(*rooms));

	if (!rooms)
		return false;
	memset(rooms + in->n_rooms, 0, (in->n - in->n_rooms) * sizeof(*rooms));
	in->rooms = rooms;
	in->n_rooms = in->n;
	return true;
}

bool pq_fields_bind(struct pq_fields *fields, const struct pd_layout *layout)
{
	struct pq_fields_inside *in = fields->inside;
	struct pq_bound **slot, *made;

	if (2 * in->n_layouts >= in->n_slots && !more_slots(in))
		return false;
	slot = slot_of(in, layout);
	if (!*slot) {
		made = malloc(sizeof(*made) + in->n * sizeof(*made->loads));
		if (!made || (in->n_rooms < in->n && !make_rooms(in))) {
			free(made);
			return false;
		}
		made->layout = layout;
		for (size_t i = 0; i < in->n; i++) {
			made->loads[i] = load_of(fields, in->list[i], layout);
			if (made->loads[i].read == read_comm)
				find_called(fields, layout, &made->loads[i]);
		}
		*slot = made;
		in->n_layouts++;
	}
	fields->bound = *slot;
	return true;
}

void pq_fields_count(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;
	uint32_t count;

	out->type = PQ_NIL;
	if (fields->inside->list[field]->by_event) {
		struct pq_value text;

		read_of_event(fields, field, &text);
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
	enum pq_chain_kind kind;

	if (!fields->chains || !load->is_chain || !fields->resolver) {
		pq_fields_get(fields, field, out);
		return !fields->failed;
	}
	kind = load->bound->field->arg == PD_M_FRAMES ? PQ_CHAIN_FRAMES : PQ_CHAIN_STACK;
	out->u = pq_chains_of(fields->chains, fields->resolver, fields->rec, kind);
	out->type = out->u == PQ_NO_CHAIN ? PQ_NIL : PQ_CHAIN;
	return out->u != PQ_CHAIN_NO_MEMORY;
}
