/*
 * The mapping that covered a sample's ip: what it holds, the recorded system knows.
 */
#include "perfdata/format/fields.h"
#include "perfdata/format/views.h"

static const struct pd_member members[] = {
	{ "start", PD_ADDR, "Where it began." },
	{ "len", PD_UINT, "Its size in bytes." },
	{ "pgoff", PD_ADDR,
	  "Offset in the file; of the kernel the address of its first symbol." },
	{ "filename", PD_STR, "What was mapped, as it was recorded." },
	{ "build_id", PD_STR, "Build-id of the file in hex digits; nil if it is not known." },
	{ "prot", PD_UINT, "PROT_…: 1 read, 2 write, 4 execute; nil if it was not recorded." },
	{ NULL, PD_NIL, NULL },
};

static void member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	(void)view;
	out->type = PD_MACHINE;
	out->asked = (struct pd_asked){ .field = PD_M_MAP_START + m };
}

const struct pd_view_desc pd_view_map = {
	.name = "map",
	.doc = "The mapping that covered an address.",
	.members = members,
	.member = member,
};
