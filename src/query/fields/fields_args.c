/*
 * Arguments of tracepoints, as in "args.prev_comm", found by name once for each event. Integers
 * at a fixed offset are plain loads.
 */
#include "fields_internal.h"

#include <string.h>

/* Returns true if values of that kind may have that type. */
static bool is_of(enum pq_kind kind, enum pd_type type)
{
	switch (kind) {
	case PQ_K_SIGNED:
	case PQ_K_UNSIGNED:
	case PQ_K_ADDRESS:
		return type == PD_INT || type == PD_UINT || type == PD_ADDR;
	case PQ_K_STRING:
		return type == PD_STR || type == PD_BLOB;
	case PQ_K_VIEW:
		return type == PD_VIEW;
	default:
		return true;
	}
}

bool pq_fits(const struct pq_field *field, const struct pd_value *value)
{
	return is_of(field->kind, value->type);
}

static void read_arg(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;
	const uint8_t *raw;
	uint32_t n;

	out->type = PQ_NIL;
	if (!pd_args_raw(fields->rec, &raw, &n))
		return;
	pd_args_get(fields->rec, load->arg, raw, n, &value);
	if (pq_fits(fields->internal->list[field], &value))
		pq_from_decoded(fields, field, &value, out);
}

/*
 * Returns true for an integer at the same offset in all samples; the raw data must be at a
 * fixed offset, too.
 */
static bool is_plain(const struct pd_tracepoint *tracepoint,
		     const struct pd_tracepoint_field *arg, const struct pd_layout *layout)
{
	bool integer = arg->kind == PD_ARG_INT || arg->kind == PD_ARG_POINTER;
	bool loads = arg->size == 1 || arg->size == 2 || arg->size == 4 || arg->size == 8;

	return integer && loads && arg->storage == PD_ARG_FIXED && layout->parts[PD_PART_RAW] &&
	       arg->offset < UINT16_MAX - layout->parts[PD_PART_RAW] - 4u &&
	       tracepoint->swap == layout->swap;
}

static void make_plain(const struct pd_tracepoint_field *arg, const struct pd_layout *layout,
		       struct pq_load *load)
{
	load->raw_at = layout->parts[PD_PART_RAW];
	load->raw_least = arg->offset + arg->size;
	load->at = (uint16_t)(load->raw_at + 4 + arg->offset);
	load->end = load->at + arg->size;
	load->wide = arg->size == 8;
	load->narrow = arg->size < 4 ? (uint8_t)arg->size : 0;
	load->is_signed = arg->is_signed;
}

void pq_bind_arg(const struct pq_fields *fields, const struct pq_field *field,
		 struct pq_load *load)
{
	const struct pd_record *rec = fields->rec;
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	const char *name = field->steps[0].name;
	uint32_t i;

	/* split samples may have the raw data of another event than theirs */
	if (!tracepoint || rec->layout->split)
		return;
	i = name ? pd_tracepoint_find(tracepoint, name, strlen(name)) : PD_NO_ARG;
	if (i == PD_NO_ARG) {
		load->read = pq_read_nothing;
		load->bound = NULL;
		return;
	}
	load->arg = &tracepoint->fields[i];
	if (field->n_steps > 1)
		return;
	load->read = read_arg;
	if (is_plain(tracepoint, load->arg, rec->layout) &&
	    is_of(field->kind, pd_arg_type(load->arg)))
		make_plain(load->arg, rec->layout, load);
}
