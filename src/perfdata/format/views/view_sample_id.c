/*
 * The sample_id trailer as recorded: those of TID, TIME, ID, STREAM_ID, CPU and IDENTIFIER that
 * the event's sample_type has, eight bytes each. See perf_event__output_id_sample,
 * kernel/events/core.c.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

void pd_open_sample_id(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint32_t size = rec->layout->trailer_size;

	(void)at;
	if (!size || rec->size < size + 8)
		out->type = PD_NIL;
	else
		out->view.at = rec->size - size;
}

static const struct pd_member members[] = {
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
} words[] = {
	{ PD_SAMPLE_TID, 0, true },	    { PD_SAMPLE_TID, 4, true },
	{ PD_SAMPLE_TIME, 0, false },	    { PD_SAMPLE_ID, 0, false },
	{ PD_SAMPLE_STREAM_ID, 0, false },  { PD_SAMPLE_CPU, 0, true },
	{ PD_SAMPLE_IDENTIFIER, 0, false },
};

static void get_sample_id_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	uint64_t type = view->rec->layout->shape->sample_type;
	uint32_t at = view->at + words[m].at;

	out->type = PD_NIL;
	if (!(type & words[m].bit))
		return;
	for (unsigned i = 0; i < m; i++)
		if (i != 1 && words[i].bit != words[m].bit && (type & words[i].bit))
			at += 8;
	if (words[m].s32)
		pd_set_int(out, (int32_t)pd_rec32(view->rec, at));
	else
		pd_set_uint(out, PD_UINT, pd_rec64(view->rec, at));
}

static void code_sample_id(struct pd_coder *c, const char *name)
{
	pd_code_begin(c, name);
	for (unsigned m = 0; members[m].name; m++) {
		if (!(c->shape->sample_type & words[m].bit))
			continue;
		pd_code_int(c, members[m].name, words[m].s32 ? 4 : 8,
			    words[m].s32 ? PD_AS_INT : PD_AS_UINT);
		if (words[m].bit == PD_SAMPLE_CPU)
			pd_code_pad(c, 4); /* reserved */
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_sample_id = {
	.name = "sample_id",
	.doc = "The trailer of a record that is not a sample, as recorded.",
	.members = members,
	.member = get_sample_id_member,
	.code = code_sample_id,
};
