/*
 * The namespaces of a thread, each as the device and inode of its /proc/PID/ns file. See
 * perf_event_namespaces, kernel/events/core.c.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

/* In the order of the enum in include/uapi/linux/perf_event.h; later ones have numbers. */
static const char *const names[] = {
	"net",	  "uts", "ipc", "pid", "user", "mnt",
	"cgroup", "ns7", "ns8", "ns9", "ns10", "ns11",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

void pd_open_namespaces(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	pd_open_counted(rec, at, 16, out);
	if (out->type == PD_VIEW && out->view.count > NAMES)
		out->view.count = NAMES;
}

static const struct pd_member items[] = {
	{ PD_MEMBER(UINT, "dev", "Device number of the namespace's file.") },
	{ PD_MEMBER(UINT, "ino", "Inode number: the number in \"net:[4026531840]\".") },
	{ .name = NULL },
};

static void get_namespace(const struct pd_view *view, uint32_t i, unsigned m,
			  struct pd_value *out)
{
	pd_set_uint(out, PD_UINT, pd_rec64(view->rec, view->at + 16 * i + 8 * m));
}

static const char *get_namespace_name(const struct pd_view *view, uint32_t i)
{
	(void)view;
	return names[i];
}

static void code_namespaces(struct pd_coder *c, const char *name)
{
	uint32_t n = pd_code_members(c, name, 8, 16);

	for (uint32_t i = 0; i < n && i < NAMES; i++) {
		pd_code_begin(c, names[i]);
		pd_code_int(c, "dev", 8, PD_AS_UINT);
		pd_code_int(c, "ino", 8, PD_AS_UINT);
		pd_code_end(c);
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_namespaces = {
	.name = "namespaces",
	.doc = "Namespaces by name: net, uts, ipc, pid, user, mnt, cgroup.",
	.items = items,
	.item = get_namespace,
	.key = get_namespace_name,
	.code = code_namespaces,
};
