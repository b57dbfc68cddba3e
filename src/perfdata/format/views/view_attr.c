/*
 * The attr of the event in a header_attr record.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

/* view.extra: bytes of the attr */
void pd_open_attr(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t size = 0;

	if (pd_fits(rec, at, PD_ATTR_MIN)) {
		size = pd_rec32(rec, at + 4);
		size = size ? size : PD_ATTR_MIN;
	}
	if (size < PD_ATTR_MIN || !pd_fits(rec, at, size)) {
		out->type = PD_NIL;
		return;
	}
	out->view.extra = size;
}

static void get_attr_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	const struct pd_shape *shape = view->rec->layout->shape;
	struct pd_attr attr;

	out->type = PD_NIL;
	if (pd_attr_parse(&attr, view->rec->bytes + view->at, (size_t)view->extra, shape->swap,
			  shape->big))
		pd_attr_member(&attr, m, out);
}

static void code_attr(struct pd_coder *c, const char *name)
{
	pd_code_attr(c, name, 0);
}

const struct pd_view_desc pd_view_attr = {
	.name = "attr",
	.doc = "An event's attribute, by the names of struct perf_event_attr.",
	.members = pd_attr_members,
	.member = get_attr_member,
	.code = code_attr,
};
