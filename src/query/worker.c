#include "worker.h"

#define ASK_EVERY (512 * 1024) /* bytes between two calls of go_on */

bool pq_worker_init(struct pq_worker *w, const struct pq_scope *scope,
		    const struct pq_grouping *grouping)
{
	*w = (struct pq_worker){
		.scope = scope,
		.time_id = pd_name_id(&scope->session->files[0]->names, "time", 4),
		.picks = scope->events || scope->by_time,
	};
	if (scope->machine && !(w->resolver = pm_resolver_create(scope->machine)))
		return false;
	if (!pq_fields_init(&w->fields, scope->session, w->resolver))
		return false;
	if (scope->filter && !(w->filter = pq_expr_create(scope->filter, &w->fields)))
		return false;
	w->groups = pq_groups_create(grouping, &w->fields);
	return w->groups != NULL;
}

void pq_worker_deinit(struct pq_worker *w)
{
	pq_groups_destroy(w->groups);
	pq_expr_destroy(w->filter);
	pq_fields_deinit(&w->fields);
	pm_resolver_destroy(w->resolver);
	*w = (struct pq_worker){ 0 };
}

/* The event that an id is of: in a row they are mostly the same. */
struct met {
	bool known;
	uint64_t id;
	const struct pd_event *event;
	const struct pd_layout *layout;
};

/* As pd_bind. */
static inline void bind(const struct pd_binder *binder, struct met *met, struct pd_record *rec)
{
	uint32_t at = binder->sample_id_at;
	bool by_id = rec->type == PD_RECORD_SAMPLE && at && at + 8 <= rec->size;
	uint64_t id = by_id ? pd_load64(rec->bytes + at, binder->file->swap) : 0;

	if (by_id && met->known && met->id == id) {
		rec->event = met->event;
		rec->layout = met->layout;
		return;
	}
	pd_bind(binder, rec);
	if (by_id)
		*met = (struct met){ true, id, rec->event, rec->layout };
}

/* Takes the records of the reader's block in, as long as nothing about them is unusual. */
static bool take_block(struct pq_worker *w, struct pd_reader *reader)
{
	const struct pd_binder *binder = &reader->binder;
	struct pd_blocks *b = &reader->blocks;
	const uint8_t *p = b->pos, *end = pd_reader_at_plain(reader) ? b->end : p;
	struct pd_types want = reader->want;
	struct met met = { .known = false };
	bool swap = reader->swap, ok = true;
	struct pd_record rec = {
		.offset = b->offset,
		.chunk_offset = PD_NO_CHUNK,
		.source = reader->file->source,
		.stream = reader->stream->number,
	};

	while (ok && (rec.size = pd_plain_size(p, end, swap))) {
		rec.type = pd_load32(p, swap);
		if (pd_types_has(&want, rec.type)) {
			rec.misc = pd_load16(p + 4, swap);
			rec.bytes = p;
			bind(binder, &met, &rec);
			ok = pq_worker_take(w, &rec);
		}
		p += rec.size;
		rec.offset += rec.size;
	}
	pd_blocks_skip(b, (uint64_t)(p - b->pos));
	return ok;
}

enum pq_read pq_worker_read(struct pq_worker *w, struct pd_reader *reader,
			    bool (*go_on)(void *arg), void *arg, struct pd_error *err)
{
	uint64_t asked = reader->blocks.offset;
	struct pd_record rec;
	int got;

	reader->want = w->scope->types;
	while ((got = pd_reader_next(reader, &rec, err)) > 0) {
		if (!pq_worker_take(w, &rec) || !take_block(w, reader)) {
			pd_error_set(err, "ENOMEM", reader->stream->input->path, rec.offset,
				     "no memory for the groups of records");
			return PQ_READ_FAILED;
		}
		if (go_on && reader->blocks.offset - asked >= ASK_EVERY) {
			asked = reader->blocks.offset;
			if (!go_on(arg))
				return PQ_READ_ENDED;
		}
	}
	return got < 0 ? PQ_READ_FAILED : PQ_READ_ALL;
}
