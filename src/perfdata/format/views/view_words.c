/*
 * Arrays of u64: ids, addresses, private data of an AUX area's driver.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

/*
 * The ids follow the attr: see perf_event__synthesize_attr, tools/perf/util/synthetic-events.c.
 */
void pd_open_ids(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t size;

	if (!pd_fits(rec, at, PD_ATTR_MIN)) {
		out->type = PD_NIL;
		return;
	}
	size = pd_rec32(rec, at + 4);
	size = size ? size : PD_ATTR_MIN;
	if (!pd_fits(rec, at, size)) {
		out->type = PD_NIL;
		return;
	}
	out->view.at = at + size;
	out->view.count = (pd_body_end(rec) - at - size) / 8;
}

void pd_open_ips(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	pd_open_counted(rec, at, 8, out);
}

void pd_open_priv(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, 0))
		out->view.count = (pd_body_end(rec) - at) / 8;
	else
		out->type = PD_NIL;
}

static void get_uint_item(const struct pd_view *view, uint32_t i, unsigned m,
			  struct pd_value *out)
{
	(void)m;
	pd_set_uint(out, PD_UINT, pd_rec64(view->rec, view->at + 8 * i));
}

static void get_addr_item(const struct pd_view *view, uint32_t i, unsigned m,
			  struct pd_value *out)
{
	(void)m;
	pd_set_uint(out, PD_ADDR, pd_rec64(view->rec, view->at + 8 * i));
}

static void code_words(struct pd_coder *c, const char *name, uint32_t width,
		       enum pd_shown shown)
{
	uint32_t n = pd_code_count(c, name, width, 8);

	for (uint32_t i = 0; i < n; i++)
		pd_code_int(c, NULL, 8, shown);
	pd_code_end(c);
}

/* The ids follow the attr, whose size was coded with it. */
static void code_ids(struct pd_coder *c, const char *name)
{
	c->at = c->most;
	code_words(c, name, 0, PD_AS_UINT);
}

static void code_ips(struct pd_coder *c, const char *name)
{
	code_words(c, name, 8, PD_AS_HEX);
}

static void code_priv(struct pd_coder *c, const char *name)
{
	code_words(c, name, 0, PD_AS_HEX);
}

const struct pd_view_desc pd_view_ids = {
	.name = "ids",
	.doc = "Ids of the event, one for each processor or thread that it was opened on.",
	.item = get_uint_item,
	.code = code_ids,
};

const struct pd_view_desc pd_view_ips = {
	.name = "ips",
	.doc = "Addresses as recorded.",
	.item = get_addr_item,
	.code = code_ips,
};

const struct pd_view_desc pd_view_priv = {
	.name = "priv",
	.doc = "Words; their meaning depends on the type of the AUX area.",
	.item = get_addr_item,
	.code = code_priv,
};
