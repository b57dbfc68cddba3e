#include "print.h"

#include <string.h>

#include "event.h"
#include "print_scalar.h"
#include "rows.h"
#include "views.h"

#define SHOWN_BYTES 64 /* bytes of a blob shown in text, at most */

static void print_view(struct pd_print *out, const struct pd_view *view, bool json);

static void print_json_scalar(struct pd_print *out, const struct pd_value *value)
{
	if (value->type == PD_ADDR) {
		pd_print_char(out, '"');
		pd_print_hex(out, value->u);
		pd_print_char(out, '"');
	} else if (value->type == PD_STR) {
		pd_print_json_string(out, value->s.p, value->s.n);
	} else if (value->type == PD_EVENT) {
		pd_print_json_string(out, value->event->name, strlen(value->event->name));
	} else if (value->type == PD_HEX || value->type == PD_BLOB) {
		pd_print_char(out, '"');
		pd_print_digits(out, value->s.p, value->s.n);
		pd_print_char(out, '"');
	} else {
		pd_print_const(out, "null");
	}
}

static void print_text_scalar(struct pd_print *out, const struct pd_value *value, bool in_view)
{
	if (value->type == PD_ADDR) {
		pd_print_hex(out, value->u);
	} else if (value->type == PD_STR) {
		pd_print_text(out, value->s.p, value->s.n, in_view);
	} else if (value->type == PD_EVENT) {
		pd_print_text(out, value->event->name, strlen(value->event->name), in_view);
	} else if (value->type == PD_HEX) {
		pd_print_digits(out, value->s.p, value->s.n);
	} else if (value->type == PD_BLOB) {
		pd_print_uint(out, value->s.n);
		pd_print_char(out, ':');
		pd_print_digits(out, value->s.p,
				value->s.n < SHOWN_BYTES ? value->s.n : SHOWN_BYTES);
	} else {
		pd_print_char(out, '-');
	}
}

static void print_value(struct pd_print *out, const struct pd_value *value, bool json,
			bool in_view)
{
	if (value->type == PD_UINT)
		pd_print_uint(out, value->u);
	else if (value->type == PD_INT)
		pd_print_int(out, value->i);
	else if (value->type == PD_BOOL)
		pd_print_name(out, value->u ? "true" : "false");
	else if (value->type == PD_FLOAT)
		pd_print_float(out, value->f, json);
	else if (value->type == PD_VIEW)
		print_view(out, &value->view, json);
	else if (json)
		print_json_scalar(out, value);
	else
		print_text_scalar(out, value, in_view);
}

/* Prints a separator, unless the value is the first, and the value's name. */
static void print_key(struct pd_print *out, const char *name, bool *first, bool json)
{
	if (!*first)
		pd_print_char(out, ',');
	*first = false;
	if (json)
		pd_print_char(out, '"');
	pd_print_name(out, name);
	if (json)
		pd_print_char(out, '"');
	pd_print_char(out, json ? ':' : '=');
}

static void print_member(struct pd_print *out, const struct pd_member *member,
			 const struct pd_value *value, bool *first, bool json)
{
	if (value->type == PD_NIL || value->type == PD_SYSTEM)
		return;
	print_key(out, member->name, first, json);
	if (!json && value->type == PD_UINT && member->is_time)
		pd_print_seconds(out, value->u);
	else
		print_value(out, value, json, true);
}

static void print_item(struct pd_print *out, const struct pd_view *view, uint32_t i, bool json)
{
	const struct pd_member *items = view->desc->items;
	struct pd_value value;
	bool first = true;

	if (!items) {
		value.type = PD_NIL;
		view->desc->item(view, i, 0, &value);
		print_value(out, &value, json, true);
		return;
	}
	pd_print_char(out, '{');
	for (unsigned m = 0; items[m].name; m++) {
		value.type = PD_NIL;
		view->desc->item(view, i, m, &value);
		print_member(out, &items[m], &value, &first, json);
	}
	pd_print_char(out, '}');
}

static void print_items(struct pd_print *out, const struct pd_view *view, bool json)
{
	pd_print_char(out, '[');
	for (uint32_t i = 0; i < view->count; i++) {
		if (i)
			pd_print_char(out, ',');
		print_item(out, view, i, json);
	}
	pd_print_char(out, ']');
}

static void print_callchain(struct pd_print *out, const struct pd_view *view, bool json)
{
	struct pd_frames frames;
	int mode = -1;
	uint64_t ip, cookie;
	bool first = true;

	pd_print_char(out, '[');
	pd_frames_init(&frames, view);
	while (pd_frames_next(&frames, &ip)) {
		const char *name = pd_cpumode_name(frames.mode);

		if (!first)
			pd_print_char(out, ',');
		first = false;
		if (json) {
			pd_print_const(out, "{\"ip\":\"");
			pd_print_hex(out, ip);
			pd_print_const(out, "\",\"cpumode\":\"");
			pd_print_name(out, name);
			pd_print_const(out, "\"}");
			continue;
		}
		if ((int)frames.mode != mode) {
			pd_print_name(out, name);
			pd_print_char(out, ',');
		}
		mode = (int)frames.mode;
		pd_print_hex(out, ip);
	}
	if (pd_frames_cookie(view, &cookie)) {
		pd_print_name(out, first ? "" : ",");
		pd_print_name(out, json ? "{\"cookie\":" : "deferred,");
		pd_print_uint(out, cookie);
		pd_print_name(out, json ? "}" : "");
	}
	pd_print_char(out, ']');
}

static void print_view(struct pd_print *out, const struct pd_view *view, bool json)
{
	const struct pd_view_desc *desc = view->desc;
	struct pd_value value;
	bool first = true;

	if (desc == &pd_view_callchain) {
		print_callchain(out, view, json);
		return;
	}
	if (!desc->members && !desc->key) {
		print_items(out, view, json);
		return;
	}
	pd_print_char(out, '{');
	for (unsigned m = 0; desc->members && desc->members[m].name; m++) {
		value.type = PD_NIL;
		desc->member(view, m, &value);
		print_member(out, &desc->members[m], &value, &first, json);
	}
	for (uint32_t i = 0; desc->key && i < view->count; i++) {
		const char *name = desc->key(view, i);

		if (!name)
			continue;
		print_key(out, name, &first, json);
		print_item(out, view, i, json);
	}
	if (desc->item && !desc->key && (view->count || first)) {
		print_key(out, "items", &first, json);
		print_items(out, view, json);
	}
	pd_print_char(out, '}');
}

static const char *get_type_name(const struct pd_record *rec)
{
	return rec->layout->desc ? rec->layout->desc->name : "unknown";
}

static void print_head_text(struct pd_print *out, const struct pd_record *rec)
{
	pd_print_hex(out, rec->offset);
	pd_print_char(out, ' ');
	pd_print_name(out, get_type_name(rec));
	if (!rec->layout->desc) {
		pd_print_const(out, " type_id=");
		pd_print_uint(out, rec->type);
	}
	if (rec->type == PD_RECORD_SAMPLE) {
		const char *name = rec->event ? rec->event->name : "-";

		pd_print_char(out, ' ');
		pd_print_text(out, name, strlen(name), false);
	}
	pd_print_const(out, " size=");
	pd_print_uint(out, rec->size);
	pd_print_const(out, " misc=");
	pd_print_hex(out, rec->misc);
	pd_print_const(out, " cpumode=");
	pd_print_name(out, pd_cpumode_name(rec->misc & PD_MISC_CPUMODE));
}

static void print_head_json(struct pd_print *out, const struct pd_record *rec)
{
	pd_print_const(out, "{\"offset\":");
	pd_print_uint(out, rec->offset);
	pd_print_const(out, ",\"type\":\"");
	pd_print_name(out, get_type_name(rec));
	pd_print_const(out, "\",\"type_id\":");
	pd_print_uint(out, rec->type);
	pd_print_const(out, ",\"size\":");
	pd_print_uint(out, rec->size);
	pd_print_const(out, ",\"misc\":\"");
	pd_print_hex(out, rec->misc);
	pd_print_const(out, "\",\"cpumode\":\"");
	pd_print_name(out, pd_cpumode_name(rec->misc & PD_MISC_CPUMODE));
	pd_print_char(out, '"');
	if (rec->event) {
		pd_print_const(out, ",\"event\":");
		pd_print_json_string(out, rec->event->name, strlen(rec->event->name));
	}
}

static void print_columns_text(struct pd_print *out, const struct pd_record *rec)
{
	const struct pd_column *c = rec->layout->columns, *end = c + rec->layout->n_columns;
	struct pd_value value;

	for (; c < end; c++) {
		pd_record_get(rec, c->index, &value);
		if (value.type == PD_NIL)
			continue;
		memcpy(pd_print_room(out, sizeof(c->label)), c->label, sizeof(c->label));
		out->n += c->label_size;
		if (c->time && value.type == PD_UINT)
			pd_print_seconds(out, value.u);
		else
			print_value(out, &value, false, false);
	}
}

static void print_columns_json(struct pd_print *out, const struct pd_record *rec)
{
	const struct pd_column *c = rec->layout->columns, *end = c + rec->layout->n_columns;
	struct pd_value value;
	bool first = false;

	for (; c < end; c++) {
		pd_record_get(rec, c->index, &value);
		if (value.type == PD_NIL)
			continue;
		print_key(out, rec->layout->bound[c->index].field->name, &first, true);
		print_value(out, &value, true, false);
	}
}

void pd_print_recorded(struct pd_print *out, const struct pd_record *rec, bool json)
{
	if (json) {
		print_head_json(out, rec);
		print_columns_json(out, rec);
	} else {
		print_head_text(out, rec);
		print_columns_text(out, rec);
	}
}

void pd_print_field(struct pd_print *out, const char *name, const struct pd_value *value,
		    bool json)
{
	bool first = !json;

	if (value->type == PD_NIL || value->type == PD_SYSTEM)
		return;
	if (!json)
		pd_print_char(out, ' ');
	print_key(out, name, &first, json);
	print_value(out, value, json, false);
}

void pd_print_end(struct pd_print *out, bool json)
{
	if (json)
		pd_print_char(out, '}');
	pd_print_char(out, '\n');
}

void pd_print_record(struct pd_print *out, const struct pd_record *rec, bool json)
{
	pd_print_recorded(out, rec, json);
	pd_print_end(out, json);
}
