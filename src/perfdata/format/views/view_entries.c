/* Views that are lists: of structs, of numbers, of namespaces. */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

/* Arrays of structs in perf's own records: see tools/lib/perf/include/perf/event.h. */

#define ID_ENTRY     32
#define GUEST_ENTRY  16
#define THREAD_ENTRY 24
#define BPF_KEY	     64
#define BPF_VALUE    256

/*
 * Opens the entries of an id_index. As many entries that name the guest of each may follow and
 * end the record; view.extra is their offset, or 0. They begin with a process id.
 */
void pd_open_id_index(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t guests;

	pd_open_counted(rec, at, ID_ENTRY, out);
	if (out->type == PD_NIL)
		return;
	guests = out->view.at + ID_ENTRY * out->view.count;
	if (out->view.count &&
	    pd_body_end(rec) == guests + (uint64_t)GUEST_ENTRY * out->view.count &&
	    pd_rec64(rec, guests) <= UINT32_MAX)
		out->view.extra = guests;
}

uint32_t pd_measure_id_index(const struct pd_record *rec)
{
	struct pd_value out = { .type = PD_VIEW, .view = { .rec = rec, .at = 8 } };

	pd_open_id_index(rec, 8, &out);
	if (out.type == PD_NIL)
		return UINT32_MAX;
	return 8 + (out.view.extra ? ID_ENTRY + GUEST_ENTRY : ID_ENTRY) * out.view.count;
}

static const struct pd_member id_members[] = {
	{ PD_MEMBER(UINT, "id", "Id of an event as samples carry it.") },
	{ PD_MEMBER(UINT, "idx",
		    "Index of the ring buffer that the event was recorded through.") },
	{ PD_MEMBER(INT, "cpu", "Processor that the event counted on; -1 for any.") },
	{ PD_MEMBER(INT, "tid", "Thread that the event counted; -1 for any.") },
	{ PD_MEMBER(UINT, "machine_pid",
		    "Process id of the guest's virtual machine; 0 for the host.") },
	{ PD_MEMBER(UINT, "vcpu", "Virtual processor of the guest.") },
	{ .name = NULL },
};

static void get_id_item(const struct pd_view *view, uint32_t i, unsigned m,
			struct pd_value *out)
{
	uint32_t guests = (uint32_t)view->extra;

	out->type = PD_NIL;
	if (m < 2)
		pd_set_uint(out, PD_UINT, pd_rec64(view->rec, view->at + ID_ENTRY * i + 8 * m));
	else if (m < 4)
		pd_set_int(out, (int64_t)pd_rec64(view->rec, view->at + ID_ENTRY * i + 8 * m));
	else if (guests)
		pd_set_uint(out, PD_UINT,
			    pd_rec64(view->rec, guests + GUEST_ENTRY * i + 8 * (m - 4)));
}

/* Codes the entries, and the guests after them, which lie apart. */
static void code_id_index(struct pd_coder *c, const char *name)
{
	uint32_t n = pd_code_count(c, name, 8, ID_ENTRY), at = c->at;
	uint32_t guests = at + ID_ENTRY * n, end = guests;
	bool has_guests = !c->encodes && n && c->end == guests + (uint64_t)GUEST_ENTRY * n;

	for (uint32_t i = 0; i < n && !c->failed; i++) {
		c->at = at + ID_ENTRY * i;
		pd_code_begin(c, NULL);
		pd_code_int(c, "id", 8, PD_AS_UINT);
		pd_code_int(c, "idx", 8, PD_AS_UINT);
		pd_code_int(c, "cpu", 8, PD_AS_INT);
		pd_code_int(c, "tid", 8, PD_AS_INT);
		if (c->encodes && i == 0)
			has_guests = pd_code_find(c, "machine_pid") || pd_code_find(c, "vcpu");
		c->at = guests + GUEST_ENTRY * i;
		if (has_guests) {
			pd_code_int(c, "machine_pid", 8, PD_AS_UINT);
			pd_code_int(c, "vcpu", 8, PD_AS_UINT);
			end = c->at;
		}
		pd_code_end(c);
	}
	c->at = end;
	pd_code_end(c);
}

const struct pd_view_desc pd_view_id_index = {
	.name = "id_index",
	.doc = "The event that each id belongs to.",
	.items = id_members,
	.item = get_id_item,
	.code = code_id_index,
};

void pd_open_thread_map(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	pd_open_counted(rec, at, THREAD_ENTRY, out);
}

static const struct pd_member thread_members[] = {
	{ PD_MEMBER(INT, "pid", "Thread id; -1 stands for all threads.") },
	{ PD_MEMBER(STR, "comm", "Name of the event or thread.") },
	{ .name = NULL },
};

static void get_thread_item(const struct pd_view *view, uint32_t i, unsigned m,
			    struct pd_value *out)
{
	uint32_t at = view->at + THREAD_ENTRY * i;

	if (m == 0)
		pd_set_int(out, (int64_t)pd_rec64(view->rec, at));
	else
		pd_set_text(out, view->rec->bytes + at + 8, 16);
}

static void code_thread_map(struct pd_coder *c, const char *name)
{
	uint32_t n = pd_code_count(c, name, 8, THREAD_ENTRY);

	for (uint32_t i = 0; i < n; i++) {
		pd_code_begin(c, NULL);
		pd_code_int(c, "pid", 8, PD_AS_INT);
		pd_code_chars(c, "comm", 16);
		pd_code_end(c);
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_thread_map = {
	.name = "thread_map",
	.doc = "The threads that were recorded, in the order in which stat records number "
	       "them.",
	.items = thread_members,
	.item = get_thread_item,
	.code = code_thread_map,
};

void pd_open_bpf_metadata(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	pd_open_counted(rec, at, BPF_KEY + BPF_VALUE, out);
}

static const struct pd_member bpf_members[] = {
	{ PD_MEMBER(STR, "key", "Name of the program's variable.") },
	{ PD_MEMBER(STR, "value", "Its value as text.") },
	{ .name = NULL },
};

static void get_bpf_item(const struct pd_view *view, uint32_t i, unsigned m,
			 struct pd_value *out)
{
	const uint8_t *p = view->rec->bytes + view->at + (BPF_KEY + BPF_VALUE) * i;

	if (m == 0)
		pd_set_text(out, p, BPF_KEY);
	else
		pd_set_text(out, p + BPF_KEY, BPF_VALUE);
}

static void code_bpf_metadata(struct pd_coder *c, const char *name)
{
	uint32_t n = pd_code_count(c, name, 8, BPF_KEY + BPF_VALUE);

	for (uint32_t i = 0; i < n; i++) {
		pd_code_begin(c, NULL);
		pd_code_chars(c, "key", BPF_KEY);
		pd_code_chars(c, "value", BPF_VALUE);
		pd_code_end(c);
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_bpf_metadata = {
	.name = "bpf_metadata",
	.doc = "Metadata that a BPF program carries.",
	.items = bpf_members,
	.item = get_bpf_item,
	.code = code_bpf_metadata,
};

/*
 * Arrays of u64: ids, addresses, private data of an AUX area's driver.
 */

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

/*
 * The namespaces of a thread, each as the device and inode of its /proc/PID/ns file. See
 * perf_event_namespaces, kernel/events/core.c.
 */

/* In the order of the enum in include/uapi/linux/perf_event.h; later ones have numbers. */
static const char *const namespaces[] = {
	"net",	  "uts", "ipc", "pid", "user", "mnt",
	"cgroup", "ns7", "ns8", "ns9", "ns10", "ns11",
};

#define NAMESPACES (sizeof(namespaces) / sizeof(namespaces[0]))

void pd_open_namespaces(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	pd_open_counted(rec, at, 16, out);
	if (out->type == PD_VIEW && out->view.count > NAMESPACES)
		out->view.count = NAMESPACES;
}

static const struct pd_member namespace_members[] = {
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
	return namespaces[i];
}

static void code_namespaces(struct pd_coder *c, const char *name)
{
	uint32_t n = pd_code_members(c, name, 8, 16);

	for (uint32_t i = 0; i < n && i < NAMESPACES; i++) {
		pd_code_begin(c, namespaces[i]);
		pd_code_int(c, "dev", 8, PD_AS_UINT);
		pd_code_int(c, "ino", 8, PD_AS_UINT);
		pd_code_end(c);
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_namespaces = {
	.name = "namespaces",
	.doc = "Namespaces by name: net, uts, ipc, pid, user, mnt, cgroup.",
	.items = namespace_members,
	.item = get_namespace,
	.key = get_namespace_name,
	.code = code_namespaces,
};
