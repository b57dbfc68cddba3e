/*
 * Counter values as read() returns them, of one event or of a whole group. See
 * perf_output_read, kernel/events/core.c.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/event.h"
#include "perfdata/format/sample.h"
#include "perfdata/format/views.h"

static uint64_t get_read_format(const struct pd_record *rec)
{
	return rec->layout->shape->read_format;
}

void pd_open_read(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint64_t format = get_read_format(rec);
	uint32_t header = pd_read_header_size(format), each = pd_read_entry_size(format);

	if (format & PD_READ_GROUP) {
		uint64_t n;

		if (pd_fits(rec, at, header) &&
		    (n = pd_rec64(rec, at)) <= (pd_body_end(rec) - at - header) / each) {
			out->view.count = (uint32_t)n;
			return;
		}
	} else if (pd_fits(rec, at, header + each)) {
		return;
	}
	out->type = PD_NIL;
}

uint32_t pd_measure_read(const struct pd_record *rec)
{
	uint64_t format = get_read_format(rec);
	struct pd_value out = { .type = PD_VIEW, .view = { .rec = rec, .at = 16 } };

	pd_open_read(rec, 16, &out);
	if (out.type == PD_NIL)
		return UINT32_MAX;
	return pd_read_header_size(format) +
	       pd_read_entry_size(format) * (format & PD_READ_GROUP ? out.view.count : 1);
}

enum {
	VALUE,
	TIME_ENABLED,
	TIME_RUNNING,
	ID,
	LOST
};

static const struct pd_member members[] = {
	[VALUE] = { PD_MEMBER(UINT, "value",
			      "The counter; nil for a group, whose items have their own.") },
	[TIME_ENABLED] = { PD_MEMBER(UINT, "time_enabled",
				     "Nanoseconds that the event was enabled.") },
	[TIME_RUNNING] = { PD_MEMBER(
		UINT, "time_running",
		"Nanoseconds that the event was counted; less than time_enabled if it was "
		"multiplexed.") },
	[ID] = { PD_MEMBER(UINT, "id", "Id of the event; nil for a group.") },
	[LOST] = { PD_MEMBER(UINT, "lost",
			     "Samples of the event that were lost so far; nil for a group.") },
	{ .name = NULL },
};

static void get_read_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	uint64_t format = get_read_format(view->rec);
	bool group = format & PD_READ_GROUP;
	/*
	 * which members are there, in the order on disk; a group has its count in place of the
	 * value
	 */
	const bool present[] = {
		[VALUE] = true,
		[TIME_ENABLED] = format & PD_READ_TOTAL_TIME_ENABLED,
		[TIME_RUNNING] = format & PD_READ_TOTAL_TIME_RUNNING,
		[ID] = !group && (format & PD_READ_ID),
		[LOST] = !group && (format & PD_READ_LOST),
	};
	uint32_t at = view->at;

	out->type = PD_NIL;
	if (!present[m] || (m == VALUE && group))
		return;
	for (unsigned before = 0; before < m; before++)
		at += present[before] ? 8 : 0;
	pd_set_uint(out, PD_UINT, pd_rec64(view->rec, at));
}

enum {
	ITEM_VALUE,
	ITEM_ID,
	ITEM_LOST,
	ITEM_EVENT
};

static const struct pd_member items[] = {
	[ITEM_VALUE] = { PD_MEMBER(UINT, "value", "The counter.") },
	[ITEM_ID] = { PD_MEMBER(UINT, "id", "Id of the event.") },
	[ITEM_LOST] = { PD_MEMBER(UINT, "lost",
				  "Samples of the event that were lost so far.") },
	[ITEM_EVENT] = { PD_MEMBER(EVENT, "event", "The event, found by its id.") },
	{ .name = NULL },
};

static void set_event(const struct pd_record *rec, uint64_t id, struct pd_value *out)
{
	if (!rec->event || !rec->event->recorded_with)
		return;
	out->event = pd_event_by_id(rec->event->recorded_with, id);
	if (out->event)
		out->type = PD_EVENT;
}

static void get_read_item(const struct pd_view *view, uint32_t i, unsigned m,
			  struct pd_value *out)
{
	uint64_t format = get_read_format(view->rec);
	bool has_id = format & PD_READ_ID, has_lost = format & PD_READ_LOST;
	uint32_t at = view->at + pd_read_header_size(format) + i * pd_read_entry_size(format);

	out->type = PD_NIL;
	if (m == ITEM_VALUE)
		pd_set_uint(out, PD_UINT, pd_rec64(view->rec, at));
	else if (m == ITEM_ID && has_id)
		pd_set_uint(out, PD_UINT, pd_rec64(view->rec, at + 8));
	else if (m == ITEM_LOST && has_lost)
		pd_set_uint(out, PD_UINT, pd_rec64(view->rec, at + (has_id ? 16 : 8)));
	else if (m == ITEM_EVENT && has_id)
		set_event(view->rec, pd_rec64(view->rec, at + 8), out);
}

static void code_counter(struct pd_coder *c)
{
	uint64_t format = c->shape->read_format;

	if (format & PD_READ_ID)
		pd_code_int(c, "id", 8, PD_AS_UINT);
	if (format & PD_READ_LOST)
		pd_code_int(c, "lost", 8, PD_AS_UINT);
}

static void code_times(struct pd_coder *c)
{
	uint64_t format = c->shape->read_format;

	if (format & PD_READ_TOTAL_TIME_ENABLED)
		pd_code_int(c, "time_enabled", 8, PD_AS_UINT);
	if (format & PD_READ_TOTAL_TIME_RUNNING)
		pd_code_int(c, "time_running", 8, PD_AS_UINT);
}

static void code_read(struct pd_coder *c, const char *name)
{
	uint32_t n;

	if (!(c->shape->read_format & PD_READ_GROUP)) {
		pd_code_begin(c, name);
		pd_code_int(c, "value", 8, PD_AS_UINT);
		code_times(c);
		code_counter(c);
		pd_code_end(c);
		return;
	}
	n = pd_code_count(c, name, 8, 8);
	code_times(c);
	for (uint32_t i = 0; i < n; i++) {
		pd_code_begin(c, NULL);
		pd_code_int(c, "value", 8, PD_AS_UINT);
		code_counter(c);
		pd_code_end(c);
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_read = {
	.name = "read",
	.doc = "Counter values that were read with the record: the value of one event, or "
	       "an array of those of a group.",
	.members = members,
	.items = items,
	.member = get_read_member,
	.item = get_read_item,
	.code = code_read,
};
