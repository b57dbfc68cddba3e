/*
 * The mapping that covers a sample's ip; the recorded system knows its members.
 */
#include "perfdata/format/fields.h"
#include "perfdata/format/views.h"

static const struct pd_member members[] = {
	{ PD_MEMBER(ADDR, "start", "Address of its first byte.") },
	{ PD_MEMBER(UINT, "len", "Its size in bytes.") },
	{ PD_MEMBER(ADDR, "pgoff",
		    "Offset in the file; for the kernel the address of its first symbol.") },
	{ PD_MEMBER(STR, "filename", "The path that was mapped, as recorded.") },
	{ PD_MEMBER(STR, "build_id",
		    "Build-id of the file in hex digits; nil if it is not known.") },
	{ PD_MEMBER(UINT, "prot",
		    "PROT_…: 1 read, 2 write, 4 execute; nil if it was not recorded.") },
	{ .name = NULL },
};

static void get_map_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	(void)view;
	out->type = PD_SYSTEM;
	out->asked = (struct pd_asked){ .field = PD_SYS_MAP_START + m };
}

const struct pd_view_desc pd_view_map = {
	.name = "map",
	.doc = "The mapping that covered an address.",
	.members = members,
	.member = get_map_member,
};
