#include "rewriter.h"

#include <stdlib.h>

#include "base/helpers.h"
#include "perfdata/format/format.h"

#define WORKERS	     (PB_HELPERS_MAX + 1)
#define MOST_RECORDS 512		 /* of a batch */
#define MOST_BYTES   ((size_t)256 << 10) /* of its records, unless one alone is larger */

struct rewrite_batch {
	struct pw_rewriter *rewriter;
	struct pd_record records[MOST_RECORDS]; /* [n] */
	/* offset of each in `bytes`, then in `rewritten`; SIZE_MAX: it is left out */
	size_t at[MOST_RECORDS];
	size_t n;
	struct pb_string bytes;	    /* copies of the records */
	struct pb_string rewritten; /* what is written of them */
};

struct pw_rewriter {
	struct pw_writer *writer;
	struct pb_helpers *helpers; /* NULL: one worker */
	unsigned workers;
	struct pm_resolver *resolvers[WORKERS];
	struct pw_chain_counts counts[WORKERS];
	struct rewrite_batch *batches[PB_ITEMS_MAX];
	size_t n_batches;
	struct rewrite_batch *batch; /* being filled; NULL: none is */
};

/* Rewrites one of the records; appends what is written of it. */
static void rewrite_record(struct pw_rewriter *r, unsigned worker, struct pd_record *rec,
			   size_t *at, struct pb_string *out)
{
	const struct pw_how *how = &r->writer->how;
	bool leaves_out = false;

	*at = out->n;
	if (rec->type == PD_RECORD_SAMPLE)
		pw_rewrite_chain(how, r->resolvers[worker], rec, out, &r->counts[worker],
				 &leaves_out);
	else if (rec->type == PD_RECORD_CALLCHAIN_DEFERRED && how->joins)
		leaves_out = true;
	else
		pb_string_add(out, (const char *)rec->bytes, rec->size);
	rec->size = (uint32_t)(out->n - *at);
	if (leaves_out)
		*at = SIZE_MAX;
}

static void rewrite_batch(void *item, unsigned worker)
{
	struct rewrite_batch *batch = item;

	for (size_t i = 0; i < batch->n; i++) {
		struct pd_record *rec = &batch->records[i];

		rec->bytes = (const uint8_t *)batch->bytes.p + batch->at[i];
		rewrite_record(batch->rewriter, worker, rec, &batch->at[i], &batch->rewritten);
	}
}

struct pw_rewriter *pw_rewriter_create(struct pw_writer *writer, struct pm_system *system,
				       unsigned workers)
{
	struct pw_rewriter *r = calloc(1, sizeof(*r));
	bool failed = false;

	if (!r)
		return NULL;
	r->writer = writer;
	r->workers = workers < WORKERS ? workers : WORKERS;
	for (unsigned i = 0; i < r->workers && !failed; i++) {
		r->resolvers[i] = pm_resolver_create(system);
		failed = !r->resolvers[i];
	}
	if (!failed && r->workers > 1) {
		r->helpers = pb_helpers_start(r->workers - 1, rewrite_batch);
		failed = !r->helpers;
	}
	if (!failed)
		return r;
	pw_rewriter_destroy(r);
	return NULL;
}

void pw_rewriter_destroy(struct pw_rewriter *r)
{
	if (!r)
		return;
	pb_helpers_stop(r->helpers);
	for (size_t i = 0; i < r->n_batches; i++) {
		pb_string_deinit(&r->batches[i]->bytes);
		pb_string_deinit(&r->batches[i]->rewritten);
		free(r->batches[i]);
	}
	for (unsigned i = 0; i < r->workers; i++)
		pm_resolver_destroy(r->resolvers[i]);
	free(r);
}

static bool fail_memory(const struct pw_rewriter *r, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", r->writer->like->path, PD_NO_OFFSET,
			    "no memory to rewrite records");
}

/* Writes the records of a batch that was rewritten, and empties it. Returns false with *err. */
static bool write_batch(struct pw_rewriter *r, struct rewrite_batch *batch,
			struct pd_error *err)
{
	bool ok = !batch->rewritten.failed || fail_memory(r, err);

	for (unsigned i = 0; ok && !r->writer->how.keeps_stacks && i < r->workers; i++)
		if (r->counts[i].kept)
			ok = pd_error_set(err, "STACKS", r->writer->like->path, PD_NO_OFFSET,
					  "a sample keeps its stack");
	for (size_t i = 0; ok && i < batch->n; i++) {
		struct pd_record *rec = &batch->records[i];

		if (batch->at[i] == SIZE_MAX)
			continue;
		rec->bytes = (const uint8_t *)batch->rewritten.p + batch->at[i];
		ok = pw_write(r->writer, rec, err);
	}
	batch->n = 0;
	pb_string_clear(&batch->bytes);
	pb_string_clear(&batch->rewritten);
	return ok;
}

/* Returns a batch to fill; NULL with *err. */
static struct rewrite_batch *find_batch(struct pw_rewriter *r, struct pd_error *err)
{
	struct rewrite_batch *batch;

	if (r->n_batches == PB_ITEMS_MAX ||
	    (r->n_batches && r->helpers && pb_helpers_are_ready(r->helpers))) {
		batch = pb_helpers_take(r->helpers);
		return write_batch(r, batch, err) ? batch : NULL;
	}
	if (!r->helpers && r->n_batches)
		return r->batches[0];
	batch = calloc(1, sizeof(*batch));
	if (!batch) {
		fail_memory(r, err);
		return NULL;
	}
	batch->rewriter = r;
	r->batches[r->n_batches++] = batch;
	return batch;
}

/* Has the batch that was filled rewritten. Returns false with *err. */
static bool end_batch(struct pw_rewriter *r, struct pd_error *err)
{
	struct rewrite_batch *batch = r->batch;

	r->batch = NULL;
	if (!batch)
		return true;
	if (r->helpers) {
		pb_helpers_give(r->helpers, batch);
		return true;
	}
	rewrite_batch(batch, 0);
	return write_batch(r, batch, err);
}

bool pw_rewriter_add(struct pw_rewriter *r, const struct pd_record *rec, struct pd_error *err)
{
	struct rewrite_batch *batch = r->batch;

	if (!batch) {
		batch = r->batch = find_batch(r, err);
		if (!batch)
			return false;
	}
	batch->records[batch->n] = *rec;
	batch->at[batch->n++] = batch->bytes.n;
	pb_string_add(&batch->bytes, (const char *)rec->bytes, rec->size);
	if (batch->bytes.failed) {
		batch->n--;
		return fail_memory(r, err);
	}
	if (r->helpers && batch->n < MOST_RECORDS && batch->bytes.n < MOST_BYTES)
		return true;
	return end_batch(r, err);
}

bool pw_rewriter_finish(struct pw_rewriter *r, struct pd_error *err)
{
	struct rewrite_batch *batch;
	bool ok = end_batch(r, err);

	while (ok && r->helpers && (batch = pb_helpers_take(r->helpers)))
		ok = write_batch(r, batch, err);
	return ok;
}

void pw_rewriter_count(const struct pw_rewriter *r, struct pw_chain_counts *counts)
{
	for (unsigned i = 0; i < r->workers; i++) {
		counts->unwound += r->counts[i].unwound;
		counts->kept += r->counts[i].kept;
		counts->joined += r->counts[i].joined;
		counts->unmatched += r->counts[i].unmatched;
		counts->damaged += r->counts[i].damaged;
	}
}
