/* Arrays of structs in perf's own records: see tools/lib/perf/include/perf/event.h. */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

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
