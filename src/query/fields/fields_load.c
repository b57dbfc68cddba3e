/* Chooses how fields are read from the records of a layout, and reads them. */
#include <string.h>

#include "fields_internal.h"

/*
 * Copies text that lies in the value itself, or is valid only until its owner is asked again.
 */
static void keep_field_text(struct pq_fields *fields, uint32_t field, const char *p, size_t n,
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
			keep_field_text(fields, field, value->s.p, value->s.n, out);
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
	case PD_SYSTEM:
		break;
	}
}

/* Read fields that are not plain loads; the layout decides which one is used. */

static void read_scalar(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;

	pd_record_get(fields->rec, load->index, &value);
	pq_from_decoded(fields, field, &value, out);
}

/* Reads a field that is computed from the header of a record, which needs no position. */
static void read_of_header(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;

	value.type = PD_NIL;
	load->bound->field->compute(fields->rec, 0, &value);
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

/* Reads the name of the function or binary at ip. */
static void read_name(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_text name;

	out->type = PQ_NIL;
	if (!pm_own_name(fields->resolver, fields->rec,
			 load->bound->field->arg == PD_SYS_SYMBOL, &name))
		return;
	out->type = PQ_TEXT;
	out->size = (uint32_t)name.n;
	out->p = name.p;
}

/* The text of a call chain is the resolver's until it is asked for another one. */
static void read_chain(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	enum pd_system_field chain = (enum pd_system_field)load->bound->field->arg;
	struct pd_text text;
	int64_t ip;

	out->type = PQ_NIL;
	if (pm_chain_text(fields->resolver, fields->rec, chain, &text))
		keep_field_text(fields, field, text.p, text.n, out);
	else if (pm_integer(fields->rec,
			    pm_system_field_ids(pm_resolver_system(fields->resolver))->ip, &ip))
		fields->failed = true; /* a record with an ip has a chain */
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
	const struct pq_field *f = fields->internal->list[field];
	const struct pd_event *event = fields->rec->event;

	out->type = PQ_NIL;
	if (event && event->number < f->n_by_event)
		*out = f->by_event[event->number];
}

void pq_read_nothing(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	(void)fields, (void)field;
	out->type = PQ_NIL;
}

static void read_constant(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	*out = fields->bound->loads[field].constant;
}

static bool is_chain(const struct pd_bound *bound)
{
	return bound->kind == PD_K_SYSTEM && (bound->field->arg == PD_SYS_STACK ||
					      bound->field->arg == PD_SYS_ANNOTATED_STACK ||
					      bound->field->arg == PD_SYS_FRAMES);
}

/* Returns true if the texts of a field do not move: those that the symbols of binaries own. */
static bool is_fixed_text(const struct pd_bound *bound)
{
	unsigned field = bound->field->arg;

	return bound->kind == PD_K_SYSTEM && (field == PD_SYS_SYMBOL || field == PD_SYS_DSO);
}

static pq_read_fn *reader_of(const struct pq_fields *fields, const struct pq_field *f,
			     const struct pd_bound *bound)
{
	if (f->n_steps)
		return read_part;
	if (bound->kind == PD_K_COMPUTE && bound->field->header && !bound->field->part)
		return read_of_header;
	if (bound->kind != PD_K_SYSTEM)
		return read_scalar;
	if (!fields->resolver || bound->field->arg == PD_SYS_INLINED)
		return pq_read_nothing;
	if (bound->field->arg == PD_SYS_COMM)
		return pq_read_comm;
	if (is_fixed_text(bound))
		return read_name;
	return is_chain(bound) ? read_chain : read_system;
}

static void read_of_row(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	uint32_t place = fields->bound->loads[field].row;

	if (place <= fields->n_row)
		*out = fields->row[place - 1];
	else
		out->type = PQ_NIL;
}

/* Sets a load for a layout that has the field at `index`. */
static void load_from(const struct pq_fields *fields, const struct pq_field *f,
		      const struct pd_layout *layout, unsigned index, struct pq_load *load)
{
	const struct pd_bound *bound = &layout->bound[index];

	load->read = reader_of(fields, f, bound);
	load->bound = bound;
	load->index = (uint16_t)index;
	load->at = (uint16_t)bound->at;
	load->wide = bound->width == 8;
	load->is_signed = bound->kind == PD_K_S32;
	load->swap = layout->swap;
	load->is_chain = is_chain(bound) && !f->n_steps;
	load->stays = bound->field->is_interned || (!f->n_steps && is_fixed_text(bound));
	if (bound->direct && !f->n_steps)
		load->end = (uint32_t)bound->at + bound->width;
	if (f->n_steps && bound->field->view == &pd_view_args)
		pq_bind_arg(fields, f, load);
	if (f->n_steps && bound->field->view == &pd_view_map)
		pq_bind_map(fields, f, load);
}

static struct pq_load load_of(const struct pq_fields *fields, const struct pq_field *f,
			      const struct pd_layout *layout)
{
	unsigned index = f->row || f->item || !layout ? 0 : layout->slot[f->name];
	bool here = index &&
		    (!f->types || (layout->desc && pd_types_has(f->types, layout->desc->type)));
	struct pq_load load = {
		.read = f->row	    ? read_of_row :
			f->by_event ? read_of_event :
				      pq_read_nothing,
		.end = UINT32_MAX,
		.called_end = UINT32_MAX,
		.stays = f->item != 0, /* texts of items are binaries', or constants */
	};

	load.row = (uint16_t)f->row;
	load.swap = layout && layout->swap;
	if (f->item && fields->load_item)
		fields->load_item(fields->items, f->item, &load);
	if (here && !f->by_event)
		load_from(fields, f, layout, index, &load);
	return load;
}

/* Reads a field that is constant for a layout and event from the record that was entered. */
static void find_constant(struct pq_fields *fields, uint32_t field, struct pq_load *load)
{
	const struct pq_field *f = fields->internal->list[field];
	struct pd_value value;

	if (f->by_event) {
		read_of_event(fields, field, &load->constant);
	} else if (load->bound && load->bound->field->of_layout && !f->n_steps &&
		   fields->rec->layout->desc) {
		pd_record_get(fields->rec, load->index, &value);
		pq_from_decoded(fields, field, &value, &load->constant);
	} else {
		return;
	}
	load->read = read_constant;
	load->is_constant = load->stays = true;
	if (load->constant.type == PQ_INT)
		load->end = 0;
}

void pq_load_init(struct pq_fields *fields, uint32_t field, struct pq_load *load)
{
	const struct pd_layout *layout = fields->rec->layout;

	*load = load_of(fields, fields->internal->list[field], layout);
	if (load->read == pq_read_comm)
		pq_place_comm(fields, layout, load);
	find_constant(fields, field, load);
}
