/* Views that have members alone. */
#include "perfdata/format/coder.h"
#include "perfdata/format/fields.h"
#include "perfdata/format/views.h"

/* The attr of the event in a header_attr record. */

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

/*
 * The mapping that covers a sample's ip; the recorded system knows its members.
 */

static const struct pd_member map_members[] = {
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
	.members = map_members,
	.member = get_map_member,
};

/*
 * The sample_id trailer as recorded: those of TID, TIME, ID, STREAM_ID, CPU and IDENTIFIER that
 * the event's sample_type has, eight bytes each. See perf_event__output_id_sample,
 * kernel/events/core.c.
 */

void pd_open_sample_id(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t size = rec->layout->trailer_size;

	(void)at;
	if (!size || rec->size < size + 8)
		out->type = PD_NIL;
	else
		out->view.at = rec->size - size;
}

static const struct pd_member sample_id_members[] = {
	{ PD_MEMBER(INT, "pid", "Process id; -1 if it has none any more.") },
	{ PD_MEMBER(INT, "tid", "Thread id; -1 if it has none any more.") },
	{ PD_MEMBER(UINT, "time", "Nanoseconds of the recording's clock."), .is_time = true },
	{ PD_MEMBER(UINT, "id", "Id of the event.") },
	{ PD_MEMBER(UINT, "stream_id", "Id of the event's instance.") },
	{ PD_MEMBER(INT, "cpu", "Processor.") },
	{ PD_MEMBER(UINT, "identifier",
		    "Id of the event, at a position that does not depend on its "
		    "sample_type.") },
	{ .name = NULL },
};

/* The bit of each member, and its offset in those eight bytes. */
static const struct {
	uint64_t bit;
	uint32_t at;
	bool s32;
} sample_id_words[] = {
	{ PD_SAMPLE_TID, 0, true },	    { PD_SAMPLE_TID, 4, true },
	{ PD_SAMPLE_TIME, 0, false },	    { PD_SAMPLE_ID, 0, false },
	{ PD_SAMPLE_STREAM_ID, 0, false },  { PD_SAMPLE_CPU, 0, true },
	{ PD_SAMPLE_IDENTIFIER, 0, false },
};

static void get_sample_id_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	uint64_t type = view->rec->layout->shape->sample_type;
	uint32_t at = view->at + sample_id_words[m].at;

	out->type = PD_NIL;
	if (!(type & sample_id_words[m].bit))
		return;
	for (unsigned i = 0; i < m; i++)
		if (i != 1 && sample_id_words[i].bit != sample_id_words[m].bit &&
		    (type & sample_id_words[i].bit))
			at += 8;
	if (sample_id_words[m].s32)
		pd_set_int(out, (int32_t)pd_rec32(view->rec, at));
	else
		pd_set_uint(out, PD_UINT, pd_rec64(view->rec, at));
}

static void code_sample_id(struct pd_coder *c, const char *name)
{
	pd_code_begin(c, name);
	for (unsigned m = 0; sample_id_members[m].name; m++) {
		if (!(c->shape->sample_type & sample_id_words[m].bit))
			continue;
		pd_code_int(c, sample_id_members[m].name, sample_id_words[m].s32 ? 4 : 8,
			    sample_id_words[m].s32 ? PD_AS_INT : PD_AS_UINT);
		if (sample_id_words[m].bit == PD_SAMPLE_CPU)
			pd_code_pad(c, 4); /* reserved */
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_sample_id = {
	.name = "sample_id",
	.doc = "The trailer of a record that is not a sample, as recorded.",
	.members = sample_id_members,
	.member = get_sample_id_member,
	.code = code_sample_id,
};
