/*
 * Members of the mapping at ip, as in "map.build_id", which the recorded system is asked for
 * one by one. Their texts do not move.
 */
#include "fields_internal.h"

#include <string.h>

#include "perfdata/format/views.h"

/* Returns the digits of a build-id; NULL: no memory. */
static const struct pq_text *get_digits(struct pq_fields *fields, const struct pd_value *value)
{
	size_t hash = pb_scatter((uintptr_t)value->s.p) >> 32;
	struct pq_build_id *known = &fields->internal->build_ids[hash & (PQ_BUILD_IDS - 1)];
	struct ps_build_id *id = &known->id;
	char digits[PS_BUILD_ID_TEXT];

	if (known->text && id->size == value->s.n && !memcmp(id->bytes, value->s.p, id->size))
		return known->text;
	id->size = (uint8_t)value->s.n;
	memcpy(id->bytes, value->s.p, id->size);
	ps_build_id_text(id, digits);
	known->text = pq_texts_intern(&fields->internal->texts, digits, 2u * id->size);
	return known->text;
}

static void read_map_member(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pd_value value;
	const struct pq_text *digits;

	out->type = PQ_NIL;
	pm_field(fields->resolver, fields->rec, &(struct pd_asked){ .field = load->asked },
		 &value);
	if (!pq_fits(fields->internal->list[field], &value))
		return;
	if (value.type != PD_HEX || value.s.n > PS_MAX_BUILD_ID) {
		pq_from_decoded(fields, field, &value, out);
		return;
	}
	digits = get_digits(fields, &value);
	fields->failed = fields->failed || !digits;
	if (!digits)
		return;
	out->type = PQ_TEXT;
	out->size = digits->size;
	out->p = digits->bytes;
}

void pq_bind_map(const struct pq_fields *fields, const struct pq_field *field,
		 struct pq_load *load)
{
	const struct pd_member *members = pd_view_map.members;

	if (!fields->resolver || field->n_steps != 1 || !field->steps[0].name)
		return;
	for (uint16_t m = 0; members[m].name; m++) {
		if (strcmp(members[m].name, field->steps[0].name) != 0)
			continue;
		load->read = read_map_member;
		load->asked = (uint16_t)(PD_SYS_MAP_START + m);
		load->stays = true;
	}
}
