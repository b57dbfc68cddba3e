/* Steps into composite fields, as in "callchain[1].symbol", which give what a script gets. */
#include <string.h>

#include "fields_internal.h"

/* The part that the steps have reached. */
struct walk {
	struct pq_fields *fields;
	struct pd_value *value;
	uint32_t count; /* of items; UINT32_MAX: not an array */
	const struct pq_step *step, *end;
};

static int find_part_member(const struct pd_member *members, const char *name)
{
	for (int m = 0; members && members[m].name; m++)
		if (strcmp(members[m].name, name) == 0)
			return m;
	return -1;
}

static void set_part_text(struct pd_value *out, const char *text)
{
	out->type = text ? PD_STR : PD_NIL;
	out->s.p = text;
	out->s.n = text ? strlen(text) : 0;
}

static void set_there(struct walk *w, uint32_t count)
{
	w->value->type = PD_BOOL;
	w->value->u = 1;
	w->count = count;
}

/* Enters the array of functions inlined at an address; each has a symbol and a srcline. */
static void follow_inlined(struct walk *w)
{
	const struct pq_step *step = w->step;
	const struct ps_line *lines;
	struct pd_asked asked = w->value->asked;
	size_t n = pm_inlined(w->fields->resolver, w->fields->rec, &asked, &lines);

	w->step = w->end;
	w->value->type = PD_NIL;
	if (!n)
		return;
	if (step == w->end) {
		set_there(w, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX - 1);
		return;
	}
	if (step->name || !step->index || step->index > n)
		return;
	if (step + 1 == w->end)
		set_there(w, UINT32_MAX);
	else if (step + 2 == w->end && step[1].name && strcmp(step[1].name, "symbol") == 0)
		set_part_text(w->value, lines[step->index - 1].function);
	else if (step + 2 == w->end && step[1].name && strcmp(step[1].name, "srcline") == 0)
		set_part_text(w->value, lines[step->index - 1].srcline);
}

/* Replaces a question to the recorded system by its answer, as far as further steps need it. */
static void settle_value(struct walk *w)
{
	struct pd_value *value = w->value;

	if (value->type == PD_SYSTEM) {
		if (!w->fields->resolver)
			value->type = PD_NIL;
		else if (value->asked.field == PD_SYS_INLINED)
			follow_inlined(w);
		else
			pm_field(w->fields->resolver, w->fields->rec, &value->asked, value);
	}
	if (value->type == PD_VIEW && value->view.desc == &pd_view_callchain &&
	    w->fields->resolver && pm_frames_may_differ(w->fields->rec)) {
		size_t n;

		value->view.frames = pm_frames_of(w->fields->resolver, w->fields->rec, &n);
		value->view.count = (uint32_t)n;
	}
}

static void step_to_item(struct walk *w, const struct pd_view *view, uint32_t i)
{
	const struct pd_view_desc *desc = view->desc;
	int m = 0;

	w->step++;
	w->value->type = PD_NIL;
	if (desc->items && w->step == w->end) {
		set_there(w, UINT32_MAX);
		return;
	}
	if (desc->items) {
		m = w->step->name ? find_part_member(desc->items, w->step->name) : -1;
		w->step++;
	}
	if (m >= 0)
		desc->item(view, i, (unsigned)m, w->value);
}

static void step_into(struct walk *w)
{
	const struct pd_view view = w->value->view;
	const struct pd_view_desc *desc = view.desc;
	const struct pq_step *step = w->step;
	int m;

	w->value->type = PD_NIL;
	if (!step->name) {
		if (!desc->key && step->index && step->index <= view.count)
			step_to_item(w, &view, step->index - 1);
		return;
	}
	m = find_part_member(desc->members, step->name);
	if (m >= 0) {
		w->step++;
		desc->member(&view, (unsigned)m, w->value);
		return;
	}
	for (uint32_t i = 0; desc->key && i < view.count; i++) {
		if (strcmp(desc->key(&view, i), step->name) == 0) {
			step_to_item(w, &view, i);
			return;
		}
	}
}

/* Takes the first step of "args.x", whose argument is known. */
static void start_at_arg(struct walk *w, const struct pd_tracepoint_field *arg)
{
	const struct pd_record *rec = w->fields->rec;
	const uint8_t *raw;
	uint32_t n;

	w->step++;
	w->value->type = PD_NIL;
	if (pd_args_raw(rec, &raw, &n))
		pd_args_get(rec, arg, raw, n, w->value);
}

void pq_follow(struct pq_fields *fields, uint32_t field, struct pd_value *value,
	       uint32_t *count)
{
	const struct pq_load *load = &fields->bound->loads[field];
	const struct pq_field *f = fields->internal->list[field];
	struct walk w = { fields, value, UINT32_MAX, f->steps, f->steps + f->n_steps };

	if (load->arg)
		start_at_arg(&w, load->arg);
	else
		pd_record_get(fields->rec, load->index, value);
	settle_value(&w);
	while (w.step < w.end && value->type == PD_VIEW) {
		step_into(&w);
		settle_value(&w);
	}
	if (w.step < w.end || !pq_fits(f, value))
		value->type = PD_NIL; /* the part does not exist, or has no parts */
	*count = w.count;
}

bool pq_fields_under(struct pq_fields *fields, struct pq_under *under)
{
	struct pq_fields_internal *in = fields->internal;
	bool is_under = false;

	if (!fields->resolver)
		return false;
	/* filtering must not add chains to those of a result */
	if (!in->chains)
		in->chains = pq_chains_create();
	if (!in->chains ||
	    !pq_chains_under(in->chains, fields->resolver, fields->rec, under, &is_under))
		fields->failed = true;
	return is_under;
}
