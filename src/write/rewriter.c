#include "rewriter.h"

#include <stdlib.h>

#include "base/helpers.h"
#include "perfdata/format/format.h"
#include "perfdata/format/sample.h"
#include "perfdata/format/views.h"
#include "sections.h"

#define SAMPLE_MOST  ((size_t)UINT16_MAX - 7) /* bytes of a record; a multiple of 8 */
#define CONTEXT_USER ((uint64_t)-512)	      /* PERF_CONTEXT_USER */

struct part {
	uint32_t at, size;
};

/* A sample as it is taken apart. */
struct sample {
	const struct pd_record *rec;
	struct part chain; /* of size 0, where it belongs, if it was not recorded */
	struct part regs, stack;
	uint32_t n_kept;     /* entries of the chain that stay */
	const uint64_t *ips; /* [n]: frames that follow these */
	size_t n;
	bool keeps_stack;
};

static bool find_part(const struct pd_record *rec, enum pd_part part, struct part *out)
{
	return pd_part_find(rec, part, &out->at, &out->size);
}

/* Finds where the call chain lies, or belongs: before the next part that was recorded. */
static bool find_chain(struct sample *s)
{
	const struct pd_record *rec = s->rec;

	for (unsigned part = PD_PART_CALLCHAIN; part < PD_PARTS; part++) {
		if (!pd_part_present(rec->layout->shape, part))
			continue;
		if (!find_part(rec, part, &s->chain))
			return false;
		if (part != PD_PART_CALLCHAIN)
			s->chain.size = 0;
		s->n_kept = s->chain.size ? (uint32_t)pd_rec64(rec, s->chain.at) : 0;
		return true;
	}
	return false;
}

/*
 * Returns the valid bytes of a copy of the stack that has registers beside it, without which it
 * leads nowhere.
 */
static uint64_t usable_stack(const struct sample *s)
{
	uint32_t size = s->stack.size < 16 ? 0 : s->stack.size - 16;
	uint64_t valid = size ? pd_rec64(s->rec, s->stack.at + 8 + size) : 0;

	return s->regs.size > 8 ? valid : 0;
}

static void put64(struct pb_string *out, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	pb_string_add(out, (const char *)&value, sizeof(value));
}

static void put_bytes(struct pb_string *out, const struct sample *s, uint32_t from, uint32_t to)
{
	pb_string_add(out, (const char *)s->rec->bytes + from, to - from);
}

static void put_chain(struct pb_string *out, const struct sample *s)
{
	bool swap = s->rec->layout->swap;
	uint32_t entries = s->chain.at + 8;

	put64(out, s->n_kept + (s->n ? s->n + 1 : 0), swap);
	put_bytes(out, s, entries, entries + 8 * s->n_kept);
	if (s->n)
		put64(out, CONTEXT_USER, swap);
	for (size_t i = 0; i < s->n; i++)
		put64(out, s->ips[i], swap);
}

/*
 * Puts a copy of the stack without its last bytes, if the record would become too large: it has
 * a call chain that the recorded one lacked.
 */
static void put_stack(struct pb_string *out, const struct sample *s, size_t others)
{
	bool swap = s->rec->layout->swap;
	uint64_t size = s->stack.size - 16, valid = usable_stack(s), most;

	most = others + 16 < SAMPLE_MOST ? SAMPLE_MOST - others - 16 : 0;
	most = size < most ? size : most;
	put64(out, most, swap);
	put_bytes(out, s, s->stack.at + 8, s->stack.at + 8 + (uint32_t)most);
	if (most)
		put64(out, valid < most ? valid : most, swap);
}

/* Returns false, and puts nothing, if the sample is too large for a record. */
static bool put_sample(struct pb_string *out, const struct sample *s, const struct pw_how *how)
{
	const struct pd_record *rec = s->rec;
	bool swap = rec->layout->swap;
	uint32_t after = s->chain.at + s->chain.size, stack_end = s->stack.at + s->stack.size;
	size_t start = out->n;
	uint16_t size;

	put_bytes(out, s, 0, s->chain.at);
	put_chain(out, s);
	if (s->keeps_stack) {
		put_bytes(out, s, after, s->stack.at);
		put_stack(out, s, out->n - start + rec->size - stack_end);
	} else if (s->stack.size) {
		put_bytes(out, s, after, s->regs.at);
		for (unsigned i = 0; how->keeps_stacks && i < 2; i++)
			put64(out, 0, swap); /* no registers, an empty stack */
	} else {
		stack_end = after;
	}
	put_bytes(out, s, stack_end, rec->size);
	if (out->failed)
		return true;
	if (out->n - start > SAMPLE_MOST) {
		out->n = start;
		return false;
	}
	size = (uint16_t)(out->n - start);
	size = swap ? __builtin_bswap16(size) : size;
	memcpy(out->p + start + 6, &size, sizeof(size));
	return true;
}

/* Returns the number of frames that were recorded later; sets s->n_kept to leave the cookie. */
static size_t join_deferred(struct pm_resolver *resolver, struct sample *s, uint64_t *ips,
			    struct pw_chain_counts *counts)
{
	struct pd_value value = { .type = PD_VIEW };
	uint64_t cookie;
	size_t n = 0;

	value.view = (struct pd_view){ .desc = &pd_view_callchain,
				       .rec = s->rec,
				       .at = s->chain.at };
	pd_open_callchain(s->rec, s->chain.at, &value);
	if (value.type != PD_VIEW || !pd_frames_cookie(&value.view, &cookie))
		return 0;
	s->n_kept -= 2; /* the mark and the cookie */
	if (pm_deferred_frames(resolver, s->rec, cookie, ips, &n))
		counts->joined++;
	else
		counts->unmatched++;
	return n;
}

/*
 * Appends the bytes of a sample, rewritten as `how` tells, to `out`, unless *leaves_out is set.
 * `resolver` is that of the worker. A sample that has nothing to rewrite is appended as it is.
 */
static void rewrite_chain(const struct pw_how *how, struct pm_resolver *resolver,
			  const struct pd_record *rec, struct pb_string *out,
			  struct pw_chain_counts *counts, bool *leaves_out)
{
	struct sample s = { .rec = rec };
	bool unwinds = pw_unwinds(how, rec->layout->shape->sample_type), is_whole = true;
	uint64_t ips[PM_MAX_FRAMES];

	*leaves_out = false;
	if (!rec->event || (!unwinds && !how->joins)) {
		pb_string_add(out, (const char *)rec->bytes, rec->size);
		return;
	}
	if (!pd_sample_extent(rec) || !find_chain(&s) ||
	    (unwinds && !(find_part(rec, PD_PART_REGS_USER, &s.regs) &&
			  find_part(rec, PD_PART_STACK_USER, &s.stack)))) {
		counts->damaged++;
		*leaves_out = true;
		return;
	}
	s.ips = ips;
	if (how->joins && s.chain.size)
		s.n = join_deferred(resolver, &s, ips, counts);
	if (unwinds && usable_stack(&s)) {
		s.n = pm_unwound_frames(resolver, rec, ips, &is_whole);
		s.keeps_stack = !is_whole;
		counts->unwound += is_whole;
		counts->kept += !is_whole;
		s.n = is_whole ? s.n : 0;
	}
	if (put_sample(out, &s, how))
		return;
	s.n = 0; /* a chain of thousands of frames beside large data */
	counts->damaged++;
	*leaves_out = !put_sample(out, &s, how);
}

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
		rewrite_chain(how, r->resolvers[worker], rec, out, &r->counts[worker],
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
