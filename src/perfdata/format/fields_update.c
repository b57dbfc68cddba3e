/*
 * The record that updates what is known of an event: see struct perf_record_event_update,
 * tools/lib/perf/include/perf/event.h.
 */
#include <string.h>

#include "coder.h"
#include "rows.h"
#include "views.h"

enum {
	UPDATE_UNIT,
	UPDATE_SCALE,
	UPDATE_NAME,
	UPDATE_CPUS
};

static bool is_update_of(const struct pd_record *rec, uint64_t what)
{
	return pd_fits(rec, 8, 8) && pd_rec64(rec, 8) == what;
}

static void compute_unit(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (is_update_of(rec, UPDATE_UNIT) && pd_fits(rec, at, 0))
		pd_set_text(out, rec->bytes + at, pd_body_end(rec) - at);
}

static void compute_scale_factor(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint64_t word;

	if (!is_update_of(rec, UPDATE_SCALE) || !pd_fits(rec, at, 8))
		return;
	word = pd_rec64(rec, at);
	out->type = PD_FLOAT;
	memcpy(&out->f, &word, sizeof(out->f));
}

static void compute_name(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (is_update_of(rec, UPDATE_NAME) && pd_fits(rec, at, 0))
		pd_set_text(out, rec->bytes + at, pd_body_end(rec) - at);
}

static void compute_update_cpus(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (is_update_of(rec, UPDATE_CPUS))
		pd_open_cpus(rec, at, out);
	else
		out->type = PD_NIL;
}

uint32_t pd_measure_update(const struct pd_record *rec)
{
	if (is_update_of(rec, UPDATE_SCALE))
		return 8;
	if (is_update_of(rec, UPDATE_CPUS))
		return pd_measure_cpus(rec, 24);
	if (is_update_of(rec, UPDATE_UNIT) || is_update_of(rec, UPDATE_NAME))
		return pd_measure_text(rec, 24);
	return UINT32_MAX;
}

/* Codes the value that the record updates. */
static void code_update(struct pd_coder *c, const struct pd_field *field)
{
	(void)field;
	switch (pd_code_peek(c, 8, 8)) {
	case UPDATE_UNIT:
		pd_code_text(c, "unit", 0, 8);
		break;
	case UPDATE_SCALE:
		pd_code_float(c, "scale");
		break;
	case UPDATE_NAME:
		pd_code_text(c, "name", 0, 8);
		break;
	case UPDATE_CPUS:
		pd_view_cpus.code(c, "cpus");
		break;
	default: /* the tail */
		break;
	}
}

const struct pd_field pd_event_update_fields[PD_MAX_FIELDS] = {
	{ FIELD(U64, "update_type", 8,
		"Number of the value that the record has: 0 unit, 1 scale, 2 name, 3 cpus.") },
	{ FIELD(U64, "id", 16, "Id of the event.") },
	{ COMPUTED(STR, "unit", 24, compute_unit, "Unit of its counts."), .code = code_update },
	{ COMPUTED(FLOAT, "scale", 24, compute_scale_factor, "The factor of its counts.") },
	{ COMPUTED(STR, "name", 24, compute_name, "Name of the event or thread.") },
	{ FIELD(VIEW, "cpus", 24, "The processors that the event is counted on."),
	  .type = PD_VIEW, .view = &pd_view_cpus, .compute = compute_update_cpus,
	  .derived = true },
	END_OF_FIELDS,
};
