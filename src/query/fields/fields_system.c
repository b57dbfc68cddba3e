/*
 * Fields that the recorded system answers, with texts that do not move: `comm`, and members of
 * the mapping at ip, as in "map.build_id". The system keeps each name once; texts that stand
 * for a missing name, and digits of build-ids, are kept here.
 */
#include <string.h>

#include "perfdata/format/views.h"
#include "fields_internal.h"

void pq_place_comm(const struct pq_fields *fields, const struct pd_layout *layout,
		   struct pq_load *load)
{
	const struct pd_bound *tid =
		&layout->bound[layout->slot[pm_system_field_ids(
						    pm_resolver_system(fields->resolver))
						    ->tid]];
	const struct pd_bound *time = &layout->bound[layout->slot[fields->internal->time]];
	uint32_t tid_end, time_end;

	load->stays = true;
	if (!tid->direct || tid->width != 4 || !time->direct || time->width != 8)
		return;
	tid_end = (uint32_t)tid->at + tid->width;
	time_end = (uint32_t)time->at + time->width;
	load->tid_at = (uint16_t)tid->at;
	load->time_at = (uint16_t)time->at;
	load->called_end = tid_end > time_end ? tid_end : time_end;
}

/*
 * Looks up the name of a record's thread, at an address that stays. Sets *out to PQ_NIL if the
 * record has no thread.
 */
static void find_name(struct pq_fields *fields, struct pq_value *out)
{
	struct pd_value value;
	struct pq_text *text;

	value.type = PD_NIL;
	out->type = PQ_NIL;
	pm_comm(fields->resolver, fields->rec, &value);
	if (value.type != PD_STR || value.s.n > UINT32_MAX)
		return;
	out->size = (uint32_t)value.s.n;
	out->p = value.s.p;
	if (value.s.p == value.text) {
		text = pq_texts_add(&fields->internal->texts, value.text, out->size);
		fields->failed = fields->failed || !text;
		if (!text)
			return;
		out->p = text->bytes;
	}
	out->type = PQ_TEXT;
}

/* Looks up the name of thread `tid` at `time`, and remembers it for the next record. */
static void find_name_at(struct pq_fields *fields, int32_t tid, uint64_t time,
			 struct pq_value *out)
{
	const struct pm_comm_memo *found = pm_comm_at(fields->resolver, fields->rec, tid, time);

	find_name(fields, out);
	if (found && out->type == PQ_TEXT)
		fields->called = (struct pq_called){
			.text = out->p,
			.size = out->size,
			.tid = tid,
			.source = fields->rec->source,
			.from = found->from,
			.span = found->last - found->from,
			.taken = *fields->taken,
		};
}

void pq_read_comm(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	const struct pd_record *rec = fields->rec;
	const struct pq_called *called;

	if (load->called_end > rec->size) {
		find_name(fields, out);
		return;
	}
	called = pq_fields_called(fields, load);
	if (!called) {
		find_name_at(fields, (int32_t)pb_load32(rec->bytes + load->tid_at, load->swap),
			     pb_load64(rec->bytes + load->time_at, load->swap), out);
		return;
	}
	out->type = PQ_TEXT;
	out->size = called->size;
	out->p = called->text;
}

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
