#include "scribe.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/fields.h"

#define HEADER 8

void pw_scribe_init(struct pw_scribe *s, bool swap, bool big)
{
	*s = (struct pw_scribe){ .bare = { .swap = swap, .big = big } };
}

void pw_scribe_deinit(struct pw_scribe *s)
{
	free(s->events);
	s->events = NULL;
	pb_string_deinit(&s->coder.out);
}

bool pw_scribe_add_event(struct pw_scribe *s, const uint8_t *bytes, size_t n, uint64_t first_id)
{
	struct pw_scribe_event *event;
	struct pd_attr attr;

	if (!pd_attr_parse(&attr, bytes, n, s->bare.swap, s->bare.big) ||
	    !pb_reserve(s->events, s->n_events, s->events_room))
		return false;
	event = &s->events[s->n_events++];
	*event = (struct pw_scribe_event){ .shape = s->bare, .first_id = first_id };
	pd_shape_set(&event->shape, &attr);
	return true;
}

void pw_scribe_take_feature(struct pw_scribe *s, uint64_t bit, const uint8_t *bytes, size_t n)
{
	struct pb_cursor c;
	struct pd_text text;

	pb_cursor_init(&c, bytes, n, s->bare.swap);
	if (bit == PD_FEATURE_E_MACHINE) {
		s->e_machine = pb_take32(&c);
	} else if (bit == PD_FEATURE_ARCH) {
		text = pd_take_string(&c);
		snprintf(s->arch, sizeof(s->arch), "%.*s", text.n < 31 ? (int)text.n : 0,
			 text.p);
	} else {
		return;
	}
	s->bare.arch = pd_arch_find(s->arch, s->e_machine);
	for (size_t i = 0; i < s->n_events; i++)
		s->events[i].shape.arch = s->bare.arch;
}

const struct pd_shape *pw_scribe_shape(const struct pw_scribe *s, uint32_t event)
{
	if (event < s->n_events)
		return &s->events[event].shape;
	return s->n_events ? NULL : &s->bare;
}

/* Returns whether a record type has a statement of its own, and its description. */
static const struct pd_record_desc *find_statement(struct pw_scribe *s, const char *name)
{
	const struct pd_record_desc *desc = s->last;

	if (desc && strcmp(desc->name, name) == 0)
		return desc;
	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		desc = pd_record_desc(type);
		if (desc && strcmp(desc->name, name) == 0) {
			s->last = desc;
			return desc;
		}
	}
	return NULL;
}

bool pw_has_event(const struct pd_record_desc *desc)
{
	return desc->trailer || desc->type == PD_RECORD_SAMPLE || desc->type == PD_RECORD_READ;
}

/* Sets the event of a record: the one that it names, or else the first. */
static void choose_event(struct pw_scribe *s, const struct pd_record_desc *desc)
{
	struct pd_coder *c = &s->coder;
	const struct pd_node *node = pw_has_event(desc) ? pd_code_find(c, "event") : NULL;
	uint64_t number = node ? pd_code_value(c, "event", 0, 4, PD_AS_UINT) : 1;

	if (node && (number < 1 || number > s->n_events))
		pd_code_fail(c, node, "event", "the number of an event before this statement");
	c->shape = c->failed ? &s->bare : pw_scribe_shape(s, (uint32_t)number - 1);
	if (!c->failed && s->n_events)
		c->default_id = s->events[number - 1].first_id;
}

bool pw_scribe_encode(struct pw_scribe *s, const char *name, struct pd_node *root)
{
	const struct pd_record_desc *desc = find_statement(s, name);
	struct pd_coder *c = &s->coder;

	pd_coder_encode(c, root, s->bare.swap);
	c->what = name;
	if (desc)
		choose_event(s, desc);
	if (!desc && strcmp(name, "record") == 0)
		pd_code_unknown(c, (uint32_t)pd_code_value(c, "type", 0, 4, PD_AS_UINT));
	else if (!desc)
		pd_code_fail_found(c, NULL, NULL, "an unknown statement",
				   "perf_data, event, feature, data, bytes_at, record or a "
				   "type of records");
	else if (!c->failed)
		pd_code_record(c, desc);
	if (!c->failed)
		pd_code_check_used(c, root);
	return !c->failed;
}

bool pw_scribe_learn(struct pw_scribe *s, const uint8_t *bytes, size_t n)
{
	uint32_t type = pb_load32(bytes, s->bare.swap), size;
	const uint8_t *body = bytes + HEADER;

	n -= HEADER;
	if (type == PD_RECORD_HEADER_FEATURE && n >= 8)
		pw_scribe_take_feature(s, pb_load64(body, s->bare.swap), body + 8, n - 8);
	if (type != PD_RECORD_HEADER_ATTR || n < PD_ATTR_MIN)
		return true;
	size = pb_load32(body + 4, s->bare.swap);
	size = size ? size : PD_ATTR_MIN;
	return pw_scribe_add_event(s, body, n,
				   size <= n && n - size >= 8 ?
					   pb_load64(body + size, s->bare.swap) :
					   0);
}
