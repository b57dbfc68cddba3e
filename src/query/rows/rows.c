#include "rows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/producer.h"
#include "base/vector.h"
#include "rows_cover.h"
#include "rows_maker.h"
#include "rows_pairs.h"

#define MOST_ROWS   1024 /* of a batch */
#define MOST_VALUES (255 * MOST_ROWS)
#define MOST_LOOKED \
	65536 /* records read for a batch: its caller waits, and may be interrupted */
#define MOST_TEXT ((size_t)256 << 10) /* bytes of texts in a batch */
#define ASK_EVERY 64 /* records between two reports of progress: a filter may unwind each */
#define GROWTH	  4  /* of batches: the first is one row, for those who want no more */
#define AHEAD	  6  /* batches that may wait */

/* A batch with the memory it needs. */
struct batch {
	struct pq_value *values; /* [MOST_ROWS * n], or for fewer rows, of the first ones */
	size_t room;		 /* rows that fit */
	size_t n_rows;
	double part; /* part of the session that was read when it was made */
	struct pq_row_texts texts;
	enum {
		BATCH_ROWS,   /* more may come */
		BATCH_END,    /* these are the last */
		BATCH_FAILED, /* after these comes rows->error */
	} end;
};

struct pq_rows {
	const struct pq_scope *scope;
	size_t n;		/* values of a row */
	struct pq_pairs *pairs; /* NULL: each record is a row, or `cover` makes them */
	struct pq_cover *cover;
	struct pq_columns columns;
	unsigned time_id;
	bool passes; /* its records can be read only once */
	bool looks;  /* each record must be checked for being in the scope */
	struct pq_row_maker maker;
	struct pd_record rec; /* record whose items are rows */
	bool is_inside;	      /* more items of `rec` are to come; else read the next record */
	struct pd_walk walk;
	bool walking;
	size_t n_batches; /* batches made so far */
	size_t most;	  /* rows of the next batch, at most */
	size_t most_rows; /* rows of any batch, at most */
	bool has_all;	  /* the walk came to its end */
	bool ended;	  /* the last batch was made */
	/* one is the caller's, AHEAD wait, one is being made */
	struct batch batches[AHEAD + 2];
	struct pb_producer *producer; /* NULL: they are made when they are asked for */
	bool asked_thread;
	atomic_bool stop;	  /* the thread is told to end */
	const struct batch *last; /* the batch that the caller has */
	struct pd_error error;
};

static bool fail_without_memory(const struct pq_rows *rows, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", rows->scope->session->files[0]->path, PD_NO_OFFSET,
			    "no memory for rows");
}

/*
 * Creates rows->pairs or rows->cover. Returns true also if `paired` is NULL: then records are
 * not paired.
 */
static bool open_pairs(struct pq_rows *rows, const struct pq_node *const *nodes,
		       const struct pq_paired *paired)
{
	if (!paired)
		return true;
	rows->columns = (struct pq_columns){
		.fields = &rows->maker.fields,
		.nodes = nodes,
		.exprs = rows->maker.exprs,
		.numbers = rows->maker.numbers,
		.items = rows->maker.items,
	};
	if (paired->covering)
		rows->cover = pq_cover_create(paired->covering, rows->scope, &rows->columns);
	else
		rows->pairs = pq_pairs_create(paired->how, &rows->columns, rows->scope->calls);
	return rows->pairs || rows->cover;
}

/*
 * Leaves out the samples that pairs do not need. A filter and the scope choose from them by
 * more than their events. Returns false without memory.
 */
static bool choose_samples(struct pq_rows *rows, struct pd_error *err)
{
	if (!rows->pairs || rows->scope->filter || rows->looks)
		return true;
	return pq_pairs_choose(rows->pairs, &rows->walk.options.choice) ||
	       fail_without_memory(rows, err);
}

static struct pq_rows *open_made_rows(const struct pq_scope *scope,
				      const struct pq_node *const *nodes, size_t n,
				      const struct pq_paired *paired, struct pd_error *err)
{
	struct pq_rows *rows = calloc(1, sizeof(*rows));

	if (!rows) {
		pd_error_set(err, "ENOMEM", scope->session->files[0]->path, PD_NO_OFFSET,
			     "no memory for rows");
		return NULL;
	}
	rows->scope = scope;
	rows->n = paired ? paired->n_row : n;
	rows->most = 1;
	rows->most_rows = rows->n * MOST_ROWS > MOST_VALUES ? MOST_VALUES / rows->n : MOST_ROWS;
	rows->passes = pq_scope_passes(scope);
	rows->looks = scope->events || scope->by_time;
	rows->time_id = pd_field_name_id(&scope->session->files[0]->field_names, "time", 4);
	if (!pq_row_maker_init(&rows->maker, scope, nodes, n) ||
	    !open_pairs(rows, nodes, paired))
		fail_without_memory(rows, err);
	else /* ahead: a filter drops records faster than they are read; rows take longer */
		rows->walking = pq_scope_open_walk(scope, scope->filter, &rows->walk, err);
	if (rows->walking && choose_samples(rows, err))
		return rows;
	pq_rows_close(rows);
	return NULL;
}

struct pq_rows *pq_rows_open(const struct pq_scope *scope, const struct pq_node *const *nodes,
			     size_t n, struct pd_error *err)
{
	return open_made_rows(scope, nodes, n, NULL, err);
}

struct pq_rows *pq_rows_open_pairs(const struct pq_scope *scope, const struct pq_paired *paired,
				   struct pd_error *err)
{
	return open_made_rows(scope, paired->nodes, paired->n, paired, err);
}

void pq_rows_number_chains(struct pq_rows *rows, size_t at, struct pq_chains *chains)
{
	rows->maker.fields.chains = chains;
	rows->maker.chain_at = at;
}

/* Ends the thread and the walk. */
static void end_walk(struct pq_rows *rows)
{
	atomic_store_explicit(&rows->stop, true, memory_order_relaxed);
	pb_producer_stop(rows->producer);
	rows->producer = NULL;
	if (rows->walking)
		pd_walk_deinit(&rows->walk);
	rows->walking = false;
}

void pq_rows_close(struct pq_rows *rows)
{
	if (!rows)
		return;
	end_walk(rows);
	for (size_t i = 0; i < AHEAD + 2; i++) {
		free(rows->batches[i].values);
		pq_row_texts_deinit(&rows->batches[i].texts);
	}
	pq_pairs_destroy(rows->pairs);
	pq_cover_destroy(rows->cover);
	pq_row_maker_deinit(&rows->maker);
	free(rows);
}

struct pq_pair_counts pq_rows_counts(struct pq_rows *rows)
{
	end_walk(rows);
	if (rows->cover)
		return pq_cover_counts(rows->cover);
	return rows->pairs ? pq_pairs_counts(rows->pairs) : (struct pq_pair_counts){ 0 };
}

uint64_t pq_rows_late(const struct pq_rows *rows)
{
	return rows->walk.late;
}

static bool is_paired(const struct pq_rows *rows)
{
	return rows->pairs || rows->cover;
}

/*
 * Adds the row of a pair if the current record makes one. Returns false without
 * memory, also if a value read before had none.
 */
static bool add_pair(struct pq_rows *rows, struct batch *b)
{
	struct pq_pair_row row = { &b->values[b->n_rows * rows->n], &b->texts,
				   &rows->maker.known, false };

	if (rows->cover)
		return pq_cover_meet(rows->cover, &rows->maker.known) &&
		       !rows->maker.fields.failed;
	if (!pq_pairs_meet(rows->pairs, &row) || rows->maker.fields.failed)
		return false;
	b->n_rows += row.made;
	return true;
}

/* Returns true if rows may be left that the next record does not make. */
static bool has_waiting(const struct pq_rows *rows)
{
	return rows->cover ? pq_cover_has_rows(rows->cover) :
			     rows->pairs && pq_pairs_has_rows(rows->pairs);
}

/* Handles the end of the records. Returns false without memory. */
static bool finish_pairs(struct pq_rows *rows)
{
	rows->has_all = true;
	if (rows->cover)
		return pq_cover_finish(rows->cover, &rows->maker.known);
	return !rows->pairs || pq_pairs_finish(rows->pairs);
}

/*
 * Adds rows of records that waited for the end of their span, if there are some. Returns false
 * without memory.
 */
static bool add_waiting(struct pq_rows *rows, struct batch *b, size_t most)
{
	while (b->n_rows < most && has_waiting(rows)) {
		struct pq_pair_row row = { &b->values[b->n_rows * rows->n], &b->texts,
					   &rows->maker.known, false };

		if (rows->has_all && rows->scope->calls) /* objects of each row are its own */
			pq_calls_next(rows->scope->calls);
		if (!(rows->cover ? pq_cover_next_row(rows->cover, &row) :
				    pq_pairs_next_row(rows->pairs, &row)) ||
		    rows->maker.fields.failed)
			return false;
		b->n_rows += row.made;
	}
	return true;
}

/* Sets *err to the reason why a row of pairs was not made. */
static bool pairs_failed(const struct pq_rows *rows, struct pd_error *err)
{
	const char *path = rows->scope->session->files[0]->path;

	if (rows->cover ? pq_cover_limit(rows->cover, path, err) :
			  pq_pairs_limit(rows->pairs, path, err))
		return false;
	return fail_without_memory(rows, err);
}

/* Adds a row with the values of the current record. Returns false without memory. */
static bool add_row(struct pq_rows *rows, struct batch *b)
{
	if (!pq_row_make(&rows->maker, &b->texts, &b->values[b->n_rows * rows->n]))
		return false;
	b->n_rows++;
	return true;
}

/* Goes to the next item of the record, and adds its row. Returns false without memory. */
static bool add_item(struct pq_rows *rows, struct batch *b)
{
	rows->is_inside = pq_items_next(rows->maker.items);
	return !rows->maker.fields.failed && (!rows->is_inside || add_row(rows, b));
}

/* Adds rows of the records that pass the filter until the batch is full. */
static bool fill_value_batch(struct pq_rows *rows, struct batch *b, size_t most,
			     struct pd_error *err)
{
	struct pd_record *rec = &rows->rec;

	for (size_t looked = 0;
	     b->n_rows < most && looked < MOST_LOOKED && b->texts.bytes < MOST_TEXT; looked++) {
		int got;

		if (has_waiting(rows)) {
			if (!add_waiting(rows, b, most))
				return pairs_failed(rows, err);
			continue;
		}
		if (atomic_load_explicit(&rows->stop, memory_order_relaxed))
			break;
		if (looked % ASK_EVERY == 0 && !pb_goes_on(&rows->scope->progress, 0, 0)) {
			b->end = BATCH_END;
			break;
		}
		if (rows->is_inside) {
			if (!add_item(rows, b))
				return fail_without_memory(rows, err);
			continue;
		}
		got = rows->has_all ? 0 : pd_walk_next(&rows->walk, rec, err);
		if (got == 0 && !rows->has_all) {
			if (!finish_pairs(rows))
				return pairs_failed(rows, err);
			continue;
		}
		if (got <= 0) {
			b->end = got ? BATCH_FAILED : BATCH_END;
			/* without memory the filter saw an absent value */
			return got == 0 &&
			       (!rows->maker.fields.failed || fail_without_memory(rows, err));
		}
		if (rows->looks && !pq_in_scope(rows->scope, rec, rows->time_id))
			continue;
		if (rows->scope->calls)
			pq_calls_next(rows->scope->calls);
		if (!pq_fields_enter(&rows->maker.fields, rec))
			return fail_without_memory(rows, err);
		if (rows->maker.filter &&
		    !pq_expr_test(rows->maker.filter, &rows->maker.fields))
			continue;
		if (rows->maker.items && !is_paired(rows)) {
			pq_items_begin(rows->maker.items);
			rows->is_inside = true;
			continue;
		}
		if (is_paired(rows) && !add_pair(rows, b))
			return pairs_failed(rows, err);
		if (!is_paired(rows) && !add_row(rows, b))
			return fail_without_memory(rows, err);
	}
	if (rec->bytes)
		b->part = pd_walk_part(&rows->walk, rec);
	return true;
}

/* Makes room for `most` rows in a batch. Returns false without memory. */
static bool reserve_rows(const struct pq_rows *rows, struct batch *b, size_t most)
{
	size_t size = rows->n * sizeof(*b->values);

	if (b->room >= most)
		return true;
	free(b->values);
	b->room = 0;
	b->values = most > SIZE_MAX / (size ? size : 1) ? NULL :
							  pb_pages(most * (size ? size : 1));
	if (b->values)
		b->room = most;
	return b->values != NULL;
}

/*
 * Makes the next batch, in the thread or for the caller that asks for it. Returns NULL if there
 * is none.
 */
static void *make_value_batch(void *arg, size_t number)
{
	struct pq_rows *rows = arg;
	struct batch *b = &rows->batches[rows->n_batches % (AHEAD + 2)];
	size_t most = rows->most;
	struct pb_lap lap;

	(void)number;
	if (rows->ended)
		return NULL;
	rows->n_batches++;
	b->n_rows = 0;
	b->part = 0;
	b->end = BATCH_ROWS;
	pq_row_texts_clear(&b->texts);
	/*
	 * a record of a stream that is still being written must not wait for the next one, and
	 * functions see a record only after the caller has the row of the one before
	 */
	if (!rows->passes && !rows->scope->calls && rows->most < rows->most_rows)
		rows->most *= GROWTH;
	lap = pb_stage_enter(most > 1 ? rows->scope->session->timing : NULL,
			     rows->walk.options.pass, PB_STAGE_ROWS);
	if (!(reserve_rows(rows, b, most) ? fill_value_batch(rows, b, most, &rows->error) :
					    fail_without_memory(rows, &rows->error)))
		b->end = BATCH_FAILED;
	pb_stage_leave(&lap);
	pb_stage_count(rows->scope->session->timing, rows->walk.options.pass, PB_STAGE_ROWS,
		       b->n_rows, 0);
	rows->ended = b->end != BATCH_ROWS;
	return b;
}

/*
 * Returns true if a producer thread is worth it and possible. The caller's thread makes the
 * index.
 */
static bool wants_thread(const struct pq_rows *rows)
{
	const struct pq_scope *scope = rows->scope;

	return scope->threads > 1 && rows->most >= rows->most_rows &&
	       !pq_rows_why_alone(scope) &&
	       (scope->order != PD_ORDER_TIME || rows->walk.file >= scope->session->n_files);
}

static void start_thread(struct pq_rows *rows)
{
	rows->asked_thread = true;
	/* without a thread, or memory for it, rows are made in the caller's thread */
	if (!rows->maker.resolver || pm_system_prepare(rows->scope->system))
		rows->producer = pb_producer_start(
			(struct pb_producing){ make_value_batch, NULL, rows, AHEAD });
}

int pq_rows_next(struct pq_rows *rows, struct pq_batch *batch, struct pd_error *err)
{
	for (;;) {
		const struct batch *b = rows->last;

		if (b && b->end == BATCH_FAILED)
			*err = rows->error;
		if (b && b->end != BATCH_ROWS) {
			end_walk(rows);
			return b->end == BATCH_FAILED ? -1 : 0;
		}
		if (!rows->asked_thread && wants_thread(rows))
			start_thread(rows);
		if (!pb_goes_on(&rows->scope->progress, 0, 0))
			return 0;
		b = rows->producer ? pb_producer_next(rows->producer) :
				     make_value_batch(rows, 0);
		rows->last = b;
		if (b->n_rows) {
			*batch = (struct pq_batch){ b->values, b->n_rows, 0, b->part };
			return 1;
		}
	}
}

struct pq_record_rows *pq_rows_share(struct pq_rows *rows)
{
	struct pm_system *system = rows->maker.resolver ? rows->scope->system : NULL;

	if (system && !pm_system_prepare(system))
		return NULL;
	return pq_record_rows_create(&rows->maker);
}

int pq_rows_next_record(struct pq_rows *rows, struct pd_record *rec, struct pd_error *err)
{
	int got;

	do
		got = pd_walk_next(&rows->walk, rec, err);
	while (got > 0 && rows->looks && !pq_in_scope(rows->scope, rec, rows->time_id));
	return got;
}

double pq_rows_part(const struct pq_rows *rows, const struct pd_record *rec)
{
	return pd_walk_part(&rows->walk, rec);
}

#define LEAST_BYTES ((uint64_t)1 << 20) /* of records: for less no thread is worth starting */

const char *pq_rows_why_alone(const struct pq_scope *scope)
{
	const struct pd_session *session = scope->session;

	if (pq_scope_passes(scope))
		return "a stream can be read only once";
	if (scope->calls)
		return "a Lua function is called for each record";
	for (size_t i = 0; i < session->n_files; i++)
		if (session->files[i]->pipe)
			return "a pipe describes its events as it goes on";
	return pq_scope_size(scope) < LEAST_BYTES ? "the input is small" : NULL;
}

unsigned pq_rows_threads(const struct pq_scope *scope, const char **why)
{
	*why = NULL;
	if (scope->threads < 2)
		return 1;
	*why = pq_rows_why_alone(scope);
	if (*why)
		return 1;
	*why = "values are made ahead of the loop";
	return 2;
}
