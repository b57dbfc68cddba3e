/*
 * Arrays of u64: ids, addresses, private data of an AUX area's driver.
 */
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

const struct pd_view_desc pd_view_ids = {
	.name = "ids",
	.doc = "Ids of the event, one for each processor or thread that it was opened on.",
	.item = get_uint_item,
};

const struct pd_view_desc pd_view_ips = {
	.name = "ips",
	.doc = "Addresses as recorded.",
	.item = get_addr_item,
};

const struct pd_view_desc pd_view_priv = {
	.name = "priv",
	.doc = "Words; their meaning depends on the type of the AUX area.",
	.item = get_addr_item,
};
