#include "value.h"

#include <string.h>

static void put_value(struct pd_sink *sink, const char *key, const struct pd_value *value)
{
	if (key)
		pd_sink_key(sink, key);
	sink->value(sink, value);
}

static void put_bytes(struct pd_sink *sink, const char *key, enum pd_type type, const void *p,
		      size_t n)
{
	put_value(sink, key, &(struct pd_value){ .type = type, .s = { p, n } });
}

void pd_sink_key(struct pd_sink *sink, const char *name)
{
	sink->key(sink, name, strlen(name));
}

void pd_sink_uint(struct pd_sink *sink, const char *key, uint64_t v)
{
	put_value(sink, key, &(struct pd_value){ .type = PD_UINT, .u = v });
}

void pd_sink_int(struct pd_sink *sink, const char *key, int64_t v)
{
	put_value(sink, key, &(struct pd_value){ .type = PD_INT, .i = v });
}

void pd_sink_addr(struct pd_sink *sink, const char *key, uint64_t v)
{
	put_value(sink, key, &(struct pd_value){ .type = PD_ADDR, .u = v });
}

void pd_sink_bool(struct pd_sink *sink, const char *key, bool v)
{
	put_value(sink, key, &(struct pd_value){ .type = PD_BOOL, .u = v });
}

void pd_sink_str(struct pd_sink *sink, const char *key, const void *p, size_t n)
{
	put_bytes(sink, key, PD_STR, p, n);
}

void pd_sink_hex(struct pd_sink *sink, const char *key, const void *p, size_t n)
{
	put_bytes(sink, key, PD_HEX, p, n);
}

void pd_sink_blob(struct pd_sink *sink, const char *key, const void *p, size_t n)
{
	put_bytes(sink, key, PD_BLOB, p, n);
}

void pd_sink_begin(struct pd_sink *sink, const char *key, bool array)
{
	if (key)
		pd_sink_key(sink, key);
	sink->begin(sink, array);
}

void pd_sink_end(struct pd_sink *sink)
{
	sink->end(sink);
}

/*
 * Feeds a value under its name. An absent one, and one that only the recorded system knows, is
 * left out.
 */
static void put_named(struct pd_sink *sink, const char *name, const struct pd_value *value)
{
	if (value->type == PD_NIL || value->type == PD_SYSTEM)
		return;
	pd_sink_key(sink, name);
	if (value->type == PD_VIEW)
		pd_sink_view(sink, &value->view);
	else
		sink->value(sink, value);
}

static void put_members(struct pd_sink *sink, const struct pd_view *view)
{
	const struct pd_member *members = view->desc->members;
	struct pd_value value;

	for (unsigned m = 0; members[m].name; m++) {
		value.type = PD_NIL;
		view->desc->member(view, m, &value);
		put_named(sink, members[m].name, &value);
	}
}

static void put_item_members(struct pd_sink *sink, const struct pd_view *view, uint32_t i)
{
	const struct pd_member *members = view->desc->items;
	struct pd_value value;

	sink->begin(sink, false);
	for (unsigned m = 0; members[m].name; m++) {
		value.type = PD_NIL;
		view->desc->item(view, i, m, &value);
		put_named(sink, members[m].name, &value);
	}
	sink->end(sink);
}

static void put_item(struct pd_sink *sink, const struct pd_view *view, uint32_t i)
{
	const char *name = view->desc->key ? view->desc->key(view, i) : NULL;
	struct pd_value value = { .type = PD_NIL };

	if (view->desc->key && !name)
		return;
	if (view->desc->items) {
		if (name)
			pd_sink_key(sink, name);
		put_item_members(sink, view, i);
		return;
	}
	view->desc->item(view, i, 0, &value);
	if (name)
		put_named(sink, name, &value);
	else if (value.type == PD_VIEW)
		pd_sink_view(sink, &value.view);
	else /* also PD_NIL: the items after it keep their indices */
		sink->value(sink, &value);
}

static void put_items(struct pd_sink *sink, const struct pd_view *view)
{
	sink->begin(sink, !view->desc->key);
	for (uint32_t i = 0; i < view->count; i++)
		put_item(sink, view, i);
	sink->end(sink);
}

void pd_sink_view(struct pd_sink *sink, const struct pd_view *view)
{
	if (!view->desc->members) {
		put_items(sink, view);
		return;
	}
	sink->begin(sink, false);
	put_members(sink, view);
	if (view->desc->item) {
		pd_sink_key(sink, "items");
		put_items(sink, view);
	}
	sink->end(sink);
}
