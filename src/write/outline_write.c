#include "outline_internal.h"

/* A copy in the making. */
struct copying {
	struct pw_writer *w;
	struct pd_stream *stream;
	struct pw_selection selection;
	struct pd_binder binder;
	struct pd_section range; /* bytes of the file that are kept, and not copied yet */
};

static bool flush_range(struct copying *c, struct pd_error *err)
{
	struct pd_section range = c->range;

	c->range.size = 0;
	return !range.size || pw_put_range(c->w, c->stream, range, err);
}

static bool copy_part(struct copying *c, struct pd_section at, struct pd_error *err)
{
	if (c->range.offset + c->range.size != at.offset && !flush_range(c, err))
		return false;
	if (!c->range.size)
		c->range.offset = at.offset;
	c->range.size += at.size;
	return true;
}

/* Gives a record to the writer, unless the selection leaves it out. */
static bool write_record(struct copying *c, struct pd_section at, struct pd_error *err)
{
	struct pd_record rec = {
		.offset = at.offset,
		.chunk_offset = PD_NO_CHUNK,
		.source = c->stream->file->source,
		.stream = c->stream->number,
	};
	uint8_t bytes[UINT16_MAX];

	if (!flush_range(c, err))
		return false;
	at.size = at.size < sizeof(bytes) ? at.size : sizeof(bytes); /* data may follow */
	if (!pd_stream_read(c->stream, at, bytes, err))
		return false;
	pd_record_header(&rec, bytes, c->stream->file->swap, false);
	rec.bytes = bytes;
	pd_bind(&c->binder, &rec);
	return !pw_keeps(&c->selection, &c->w->locator, &rec) || pw_write(c->w, &rec, err);
}

static bool copy_tied(struct copying *c, const struct part *part, struct pd_section at,
		      struct pd_error *err)
{
	enum pw_tie tie = part->fate == OF_THREAD ? PW_TIED_TO_THREAD : PW_TIED_TO_PROCESS;

	if (!pw_keeps_tied(&c->selection, tie, part->id))
		return true;
	c->w->summary.records++;
	c->w->summary.plain_bytes += at.size;
	c->w->in_round++;
	return copy_part(c, at, err);
}

static bool write_part(struct copying *c, const struct part *part, struct pd_section at,
		       struct pd_error *err)
{
	switch (part->fate) {
	case LEFT_OUT:
		break;
	case KEPT:
		c->w->in_round = !part->ends_round;
		return copy_part(c, at, err);
	case OF_THREAD:
	case OF_PROCESS:
		return copy_tied(c, part, at, err);
	case ROUND_END:
		if (!c->w->in_round)
			break;
		c->w->in_round = 0;
		return copy_part(c, at, err);
	case RECORD:
		return write_record(c, at, err);
	}
	return true;
}

static bool write_chapter(struct copying *c, const struct chapter *chapter,
			  struct pd_error *err)
{
	const struct part *parts = chapter->parts;

	for (size_t i = 0; i < chapter->n; i++) {
		uint64_t end = i + 1 < chapter->n ? parts[i + 1].offset : chapter->end;
		struct pd_section at = { parts[i].offset, end - parts[i].offset };

		if (!write_part(c, &parts[i], at, err))
			return false;
	}
	pw_add_counts(c->w, &chapter->counts);
	return flush_range(c, err);
}

/* Returns false with *err if the file may have other bytes than those that were outlined. */
static bool check_unchanged(const struct pw_outline *o, struct pd_error *err)
{
	const struct pd_input *input = o->stream->input;
	struct stat status;

	if (fstat(input->fd, &status) == 0 && status.st_size == o->status.st_size &&
	    status.st_mtim.tv_sec == o->status.st_mtim.tv_sec &&
	    status.st_mtim.tv_nsec == o->status.st_mtim.tv_nsec)
		return true;
	return pd_error_set(err, "ESTALE", input->path, PD_NO_OFFSET,
			    "the recording changed while it was read");
}

bool pw_outline_write(const struct pw_outline *o, struct pw_writer *w,
		      const struct pb_id_map *threads, const struct pb_id_map *processes,
		      const struct pb_progress *progress, struct pd_error *err)
{
	struct copying c = {
		.w = w,
		.stream = o->stream,
		.selection = { o->from, o->to, threads, processes },
	};

	pd_binder_init(&c.binder, w->like);
	for (size_t i = 0; i < o->n; i++) {
		const struct chapter *chapter = o->chapters[i];

		if (!pb_goes_on(progress, chapter->offset - o->stream->data.offset,
				o->stream->data.size))
			break;
		if (!write_chapter(&c, chapter, err))
			return false;
	}
	return check_unchanged(o, err);
}
