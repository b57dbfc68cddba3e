#include "worker.h"

#include <string.h>

#define ASK_EVERY (512 * 1024) /* bytes between two reports of progress */

bool pq_worker_init(struct pq_worker *w, const struct pq_scope *scope,
		    const struct pq_grouping *grouping)
{
	*w = (struct pq_worker){
		.scope = scope,
		.time_id = pd_field_name_id(&scope->session->files[0]->field_names, "time", 4),
		.picks = scope->events || scope->by_time,
	};
	if (scope->system && !(w->resolver = pm_resolver_create(scope->system)))
		return false;
	if (w->resolver && scope->later_names)
		pm_resolver_use_later_names(w->resolver);
	if (!pq_fields_init(&w->fields, scope->session, w->resolver))
		return false;
	if (scope->filter && !(w->filter = pq_expr_create(scope->filter, &w->fields)))
		return false;
	if (scope->unnest && !(w->items = pq_items_create(scope->unnest, &w->fields)))
		return false;
	w->groups = pq_groups_create(grouping, &w->fields);
	return w->groups != NULL;
}

void pq_worker_deinit(struct pq_worker *w)
{
	pq_groups_destroy(w->groups);
	pq_items_destroy(w->items);
	pq_expr_destroy(w->filter);
	pq_fields_deinit(&w->fields);
	pm_resolver_destroy(w->resolver);
	*w = (struct pq_worker){ 0 };
}

bool pq_worker_take_items(struct pq_worker *w)
{
	if (!pq_groups_add_whole(w->groups))
		return false;
	pq_items_begin(w->items);
	while (pq_items_next(w->items))
		if (!pq_groups_add(w->groups))
			return false;
	return !w->fields.failed;
}

/* Forgets what is known of ids, which are those of one file. */
static void look_at(struct pq_worker *w, const struct pd_file *file)
{
	if (w->file != file)
		memset(w->met, 0, sizeof(w->met));
	w->file = file;
}

/*
 * Does what pd_bind() and pq_fields_enter() do. After that, late events are found by their id,
 * too.
 */
static inline __attribute__((always_inline)) bool enter(struct pq_worker *w,
							const struct pd_binder *binder,
							struct pd_record *rec)
{
	uint32_t at = binder->sample_id_at;
	struct pq_met *met;
	uint64_t id;

	if (rec->type != PD_RECORD_SAMPLE || !at || at + 8 > rec->size) {
		pd_bind(binder, rec);
		return pq_fields_enter(&w->fields, rec);
	}
	id = pb_load64(rec->bytes + at, binder->file->swap);
	met = &w->met[id % PQ_MET];
	if (met->id == id && met->bound) {
		rec->event = met->bound->event;
		rec->layout = met->bound->layout;
		pq_fields_enter_again(&w->fields, rec, met->bound);
		return true;
	}
	pd_bind(binder, rec);
	if (!pq_fields_enter(&w->fields, rec))
		return false;
	if (rec->event && pd_binds_by_id(binder))
		*met = (struct pq_met){ id, w->fields.bound };
	return true;
}

/* Adds the records of the reader's block, up to one that is unusual. */
static inline __attribute__((always_inline)) bool take_plain(struct pq_worker *w,
							     struct pd_reader *reader,
							     bool swap)
{
	const struct pd_binder *binder = &reader->binder;
	struct pd_types want = reader->want;
	uint64_t n = 0;
	struct pd_run run;
	bool ok = true;
	struct pd_record rec = pd_reader_record(reader);

	pd_run_begin(&run, reader);
	while (ok && pd_run_has(&run, swap)) {
		rec.type = pb_load32(run.at, swap);
		rec.size = pb_load16(run.at + 6, swap);
		if (pd_types_has(&want, rec.type)) {
			rec.misc = pb_load16(run.at + 4, swap);
			rec.bytes = run.at;
			n++;
			ok = enter(w, binder, &rec) && pq_worker_take_entered(w, &rec);
		}
		pd_run_skip(&run, rec.size);
		rec.offset += rec.size;
	}
	pd_run_end(&run, reader);
	w->n_records += n;
	return ok;
}

/*
 * Most recordings have the byte order of this host, for which a loop of its own needs no test
 * of it.
 */
static bool take_block(struct pq_worker *w, struct pd_reader *reader)
{
	return reader->swap ? take_plain(w, reader, true) : take_plain(w, reader, false);
}

bool pq_worker_take_range(struct pq_worker *w, const struct pd_stream *stream,
			  const struct pd_binder *binder, const struct pd_record_range *range,
			  bool *unknown)
{
	const uint8_t *p = range->bytes, *end = p + range->size;
	struct pd_types want = w->scope->types;
	bool swap = binder->file->swap, outside = range->chunk_offset == PD_NO_CHUNK;
	bool ok = true;
	struct pd_record rec = {
		.offset = range->offset,
		.chunk_offset = range->chunk_offset,
		.source = binder->file->source,
		.stream = stream->number,
	};

	look_at(w, binder->file);
	for (; ok && p < end; p += rec.size) {
		pd_record_header(&rec, p, swap, binder->file->simpleperf);
		if (pd_types_has(&want, rec.type)) {
			rec.bytes = p;
			w->n_records++;
			ok = enter(w, binder, &rec) && pq_worker_take_entered(w, &rec);
			*unknown = *unknown || !rec.event;
		}
		if (outside)
			rec.offset += rec.size;
		else
			rec.chunk_offset += rec.size;
	}
	w->fields.rec = NULL; /* rec goes out of scope */
	return ok;
}

void pq_worker_count(const struct pq_worker *w, uint64_t before)
{
	pb_stage_count(w->scope->session->timing, NULL, PB_STAGE_GROUPS, w->n_records - before,
		       0);
}

static enum pb_outcome set_worker_no_memory(const struct pd_reader *reader,
					    struct pd_error *err)
{
	pd_error_set(err, "ENOMEM", reader->stream->input->path, reader->blocks.offset,
		     "no memory for the groups of records");
	return PB_FAILED;
}

/* Does what pq_worker_read() does, but for groups that were deferred. */
static enum pb_outcome read_records(struct pq_worker *w, struct pd_reader *reader,
				    const struct pb_progress *progress, struct pd_error *err)
{
	const struct pd_blocks *b = &reader->blocks;
	uint64_t size = b->limit - b->start, asked = b->offset;
	struct pd_record rec;
	int got;

	if (!pb_goes_on(progress, 0, size))
		return PB_STOPPED;
	reader->want = w->scope->types;
	look_at(w, reader->file);
	while ((got = pd_reader_next(reader, &rec, err)) > 0) {
		if (!pq_worker_take(w, &rec) || !take_block(w, reader))
			return set_worker_no_memory(reader, err);
		if (b->offset - asked >= ASK_EVERY) {
			asked = b->offset;
			if (!pb_goes_on(progress, asked - b->start, size))
				return PB_STOPPED;
		}
	}
	return got < 0 ? PB_FAILED : PB_OK;
}

enum pb_outcome pq_worker_read(struct pq_worker *w, struct pd_reader *reader,
			       const struct pb_progress *progress, struct pd_error *err)
{
	uint64_t before = w->n_records;
	enum pb_outcome read;

	if (!pq_groups_defer(w->groups))
		return set_worker_no_memory(reader, err);
	read = read_records(w, reader, progress, err);
	pq_worker_count(w, before);
	return pq_groups_settle(w->groups) ? read : set_worker_no_memory(reader, err);
}
