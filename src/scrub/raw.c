/*
 * The raw data of tracepoints: numbers stay, texts go by their kind, and bytes that no field
 * describes become zeros.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "internal.h"
#include "perfdata/format/event.h"

#define DATA_MOST 65536u /* bytes that a field of fixed size may reach up to */

struct range {
	uint32_t from, to;
};

/* A field that is not a number at a fixed offset. */
struct special {
	const struct pd_tracepoint_field *field;
	enum pv_kind kind;
	bool is_number; /* items or bits: they stay */
	bool is_result; /* a number that stays unless it may be an address */
};

struct pv_plan {
	struct range *ranges; /* [n_ranges]: bytes that stay, in their order */
	size_t n_ranges;
	struct special *specials; /* [n_specials] */
	size_t n_specials;
	/* bytes that have all fields, if the specials are texts of fixed size; else 0 */
	uint32_t plain_size;
};

void pv_plan_destroy(struct pv_plan *plan)
{
	if (!plan)
		return;
	free(plan->ranges);
	free(plan->specials);
	free(plan);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

/* Returns the kind of a field's text, by the field's name. */
static enum pv_kind kind_of_text(const struct pd_tracepoint *tp,
				 const struct pd_tracepoint_field *field)
{
	static const char *const paths[] = { "file", "path", "interp", "oldname", "newname" };

	if (pv_is_probe(tp) || field->kind != PD_ARG_TEXT)
		return PV_STRING;
	if (ends_with(field->name, "comm"))
		return PV_COMM;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strstr(field->name, paths[i]))
			return PV_PATH;
	return PV_STRING;
}

/* Returns whether a field may hold addresses, by its type and name. */
static bool has_addresses(const struct pd_tracepoint_field *field)
{
	static const char *const words[] = { "addr",  "ip",  "ptr",  "call",  "func", "brk",
					     "stack", "buf", "args", "start", "vm_" };

	if (field->kind == PD_ARG_POINTER)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((field->size == 4 || field->size >= 8) && !field->common &&
		    strstr(field->name, words[i]))
			return true;
	return false;
}

/* Returns whether a field holds numbers that stay. Lists of bytes may be a text. */
static bool has_numbers(const struct pv_scrubber *s, const struct pd_tracepoint_field *field)
{
	if (s->places && has_addresses(field))
		return false;
	return field->kind == PD_ARG_INT || field->kind == PD_ARG_POINTER ||
	       field->kind == PD_ARG_BITS || (field->kind == PD_ARG_LIST && field->element > 1);
}

/* Marks the bytes of a field of fixed size. */
static void mark_field(uint8_t *marks, const struct pd_tracepoint_field *field, uint8_t mark)
{
	uint32_t size = field->storage == PD_ARG_FIXED ? field->size :
			field->storage == PD_ARG_SHORT ? 2 :
			field->storage == PD_ARG_REST  ? 0 :
							 4;

	if (field->offset < DATA_MOST)
		memset(marks + field->offset, mark,
		       size < DATA_MOST - field->offset ? size : DATA_MOST - field->offset);
}

/* Makes ranges of the marks. Returns false without memory. */
static bool make_ranges(struct pv_plan *plan, const uint8_t *marks, size_t most)
{
	plan->ranges = malloc((most + 1) * sizeof(*plan->ranges));
	if (!plan->ranges)
		return false;
	for (uint32_t at = 0; at < DATA_MOST && plan->n_ranges < most;) {
		uint32_t from = at;

		while (at < DATA_MOST && marks[at] == marks[from])
			at++;
		if (marks[from])
			plan->ranges[plan->n_ranges++] = (struct range){ from, at };
	}
	return true;
}

/*
 * Returns the bytes that have all fields, if those that are not numbers are texts of fixed
 * size; else 0.
 */
static uint32_t measure_plain(const struct pv_plan *plan)
{
	uint32_t size = plan->n_ranges ? plan->ranges[plan->n_ranges - 1].to : 0;

	for (size_t i = 0; i < plan->n_specials; i++) {
		const struct pd_tracepoint_field *field = plan->specials[i].field;

		if (field->kind != PD_ARG_TEXT || field->storage != PD_ARG_FIXED ||
		    field->offset >= DATA_MOST || field->size > DATA_MOST)
			return 0;
		if (field->offset + field->size > size)
			size = field->offset + field->size;
	}
	return size;
}

/* Plans how the raw data of a tracepoint is scrubbed. Returns false without memory. */
static bool fill_plan(const struct pv_scrubber *s, struct pv_plan *plan,
		      const struct pd_tracepoint *tp)
{
	uint8_t *marks = calloc(1, DATA_MOST);
	bool ok;

	plan->specials = malloc((tp->n_fields + 1) * sizeof(*plan->specials));
	if (!marks || !plan->specials) {
		free(marks);
		return false;
	}
	for (uint32_t i = 0; i < tp->n_fields; i++) {
		const struct pd_tracepoint_field *field = &tp->fields[i];
		bool is_number = has_numbers(s, field);
		bool is_result = s->places && i == tp->arg_ret;

		if (is_number && !is_result && field->storage == PD_ARG_FIXED)
			mark_field(marks, field, 1);
		else
			plan->specials[plan->n_specials++] = (struct special){
				field, kind_of_text(tp, field), is_number, is_result
			};
	}
	for (size_t i = 0; i < plan->n_specials; i++)
		mark_field(marks, plan->specials[i].field, 0);
	ok = make_ranges(plan, marks, tp->n_fields + plan->n_specials + 1);
	plan->plain_size = ok ? measure_plain(plan) : 0;
	free(marks);
	return ok;
}

/* Returns the plan of an event, which is made once; NULL without memory. */
static const struct pv_plan *plan_of(struct pv_scrubber *s, const struct pd_event *event)
{
	struct pv_plan *plan;

	if (event->index >= s->n_plans &&
	    !pb_extend(s->plans, s->n_plans, (size_t)event->index + 1))
		return NULL;
	if (s->plans[event->index])
		return s->plans[event->index];
	plan = calloc(1, sizeof(*plan));
	if (!plan || !fill_plan(s, plan, event->tracepoint)) {
		pv_plan_destroy(plan);
		return NULL;
	}
	return s->plans[event->index] = plan;
}

/* The raw data in the making. */
struct made {
	const uint8_t *raw;
	uint32_t size; /* of the raw data */
	uint8_t *out;
	uint32_t n, room;
	bool swap;
};

/* Makes the descriptor of a field say where its data is. */
static void put_descriptor(struct made *made, const struct pd_tracepoint_field *field,
			   uint32_t at, uint32_t n)
{
	uint8_t *p = made->out + field->offset;

	if (field->storage == PD_ARG_REL)
		at -= field->offset + 4;
	if (field->storage == PD_ARG_SHORT)
		pv_store16(p, (uint16_t)at, made->swap);
	else if (field->storage == PD_ARG_DATA || field->storage == PD_ARG_REL)
		pv_store32(p, at | n << 16, made->swap);
}

/* Puts a text that took the place of the one at `at`, or after all data if it is too long. */
static void put_shown(struct made *made, const struct pd_tracepoint_field *field, uint32_t at,
		      uint32_t n, struct pd_text shown)
{
	bool is_dynamic = field->storage == PD_ARG_DATA || field->storage == PD_ARG_REL;
	uint32_t more = ((uint32_t)shown.n + 8) & ~7u;

	if (shown.n >= n && is_dynamic && more <= made->room - made->n &&
	    made->n + more <= UINT16_MAX) {
		at = made->n;
		n = (uint32_t)shown.n + 1;
		memset(made->out + at, 0, more);
		made->n += more;
	}
	if (shown.n >= n)
		shown.n = n ? n - 1 : 0;
	memcpy(made->out + at, shown.p, shown.n);
	put_descriptor(made, field, at, n);
}

/* Puts a field that is a text, or bytes; what it refers to is zeros so far. */
static void put_text(struct pv_scrubber *s, const struct special *special, struct made *made,
		     uint32_t at, uint32_t n)
{
	const struct pd_tracepoint_field *field = special->field;
	enum pv_action action = s->rules.of[special->kind];

	if (field->kind != PD_ARG_TEXT) {
		if (pv_meet(s, special->kind, n))
			memcpy(made->out + at, made->raw + at, n);
	} else {
		struct pd_text text = pd_text_in(made->raw + at, n);

		s->found[special->kind].n += text.n > 0;
		if (text.n && action != PV_DROP) {
			put_shown(made, field, at, n, pv_show(&s->names, special->kind, text));
			return;
		}
	}
	put_descriptor(made, field, at, n);
}

/*
 * Returns whether the result of a system call may be an address, as those of mmap() are: not an
 * error, and larger than the bytes that a call can read or write.
 */
static bool may_be_address(const struct made *made, uint32_t at, uint32_t n)
{
	uint64_t result = n == 8 ? pb_load64(made->raw + at, made->swap) : 0;

	return result > UINT32_MAX && result < (uint64_t)-4095;
}

/*
 * Puts the fields that are not numbers at fixed offsets. In damaged data they overlap: texts
 * take the place of numbers.
 */
static void put_specials(struct pv_scrubber *s, const struct pd_tracepoint *tp,
			 const struct pv_plan *plan, struct made *made)
{
	enum {
		NUMBERS,
		ZEROS,
		TEXTS,
		STEPS
	};

	for (unsigned step = NUMBERS; step < STEPS; step++) {
		for (size_t i = 0; i < plan->n_specials; i++) {
			const struct special *special = &plan->specials[i];
			const struct pd_tracepoint_field *field = special->field;
			uint32_t at, n;

			/* if there is none, its bytes, or its descriptor, are zeros */
			if (special->is_number != (step == NUMBERS) ||
			    !pd_args_find(tp, field, made->raw, made->size, &at, &n))
				continue;
			if (step == ZEROS)
				memset(made->out + at, 0, n);
			else if (step == TEXTS)
				put_text(s, special, made, at, n);
			else if (!special->is_result || !may_be_address(made, at, n))
				memcpy(made->out + at, made->raw + at, n);
			if (step == NUMBERS)
				put_descriptor(made, field, at, n);
		}
	}
}

/* Returns whether the raw data of a tracepoint has a format in the scrubbed recording. */
static bool has_format(const struct pv_scrubber *s, const struct pd_tracepoint *tp)
{
	return tp && s->has_formats && !(s->rules.of[PV_PROBE] == PV_DROP && pv_is_probe(tp));
}

static bool is_zero(const uint8_t *p, uint32_t n)
{
	while (n && !*p) {
		p++;
		n--;
	}
	return !n;
}

const struct pv_plan *pv_plain_plan(struct pv_scrubber *s, const struct pd_record *rec,
				    uint32_t n)
{
	const struct pd_event *event = pd_recorded_event(rec);
	const struct pv_plan *plan = has_format(s, event->tracepoint) ? plan_of(s, event) :
									NULL;

	return plan && plan->plain_size && plan->plain_size <= n ? plan : NULL;
}

bool pv_plain_stays(const struct pv_plan *plan, const uint8_t *raw, uint32_t n)
{
	uint32_t at = 0;

	if (plan->n_specials)
		return false;
	for (size_t i = 0; i < plan->n_ranges; i++) {
		if (!is_zero(raw + at, plan->ranges[i].from - at))
			return false;
		at = plan->ranges[i].to;
	}
	return is_zero(raw + at, n - at);
}

void pv_put_plain(struct pv_scrubber *s, const struct pv_plan *plan, const uint8_t *raw,
		  uint32_t n, uint8_t *out)
{
	struct made made = { raw, n, out, n, n, false };
	uint32_t at = 0;

	for (size_t i = 0; i < plan->n_ranges; i++) {
		memset(out + at, 0, plan->ranges[i].from - at);
		at = plan->ranges[i].to;
	}
	memset(out + at, 0, n - at);
	for (size_t i = 0; i < plan->n_specials; i++) {
		const struct special *special = &plan->specials[i];

		put_text(s, special, &made, special->field->offset, special->field->size);
	}
}

uint32_t pv_raw(struct pv_scrubber *s, const struct pd_record *rec, const uint8_t *raw,
		uint32_t n, uint8_t *out, uint32_t room)
{
	const struct pd_event *event = pd_recorded_event(rec);
	const struct pv_plan *plan = NULL;
	struct made made = { raw, n, out, n, room, false };

	if (has_format(s, event->tracepoint)) {
		plan = plan_of(s, event);
		s->failed = s->failed || !plan;
	} else if (pv_meet(s, PV_RAW, n) && !event->tracepoint) {
		memcpy(out, raw, n);
		return n;
	}
	if (!plan) { /* as little as the size's alignment takes */
		memset(out, 0, 4);
		return 4;
	}
	made.swap = event->tracepoint->swap;
	memset(out, 0, n);
	for (size_t i = 0; i < plan->n_ranges && plan->ranges[i].from < n; i++) {
		struct range r = plan->ranges[i];

		memcpy(out + r.from, raw + r.from, (r.to < n ? r.to : n) - r.from);
	}
	put_specials(s, event->tracepoint, plan, &made);
	return made.n;
}
