#include "printer.h"

#include <stdlib.h>
#include <string.h>

#include "base/string_builder.h"
#include "query/rows/rows.h"

#define MOST_RECORDS 512		 /* of a batch */
#define MOST_BYTES   ((size_t)128 << 10) /* of its records, unless one alone is larger */
#define KEPT_TEXT    ((size_t)4 << 20)	 /* bytes: the memory of longer texts is freed */

struct print_batch {
	struct pq_printer *printer;
	struct pd_record records[MOST_RECORDS]; /* [n], which lie in `bytes` */
	size_t n;
	uint8_t *bytes;
	size_t used, room;
	struct pb_string text; /* of the records, once they are printed */
	bool failed;
};

struct pq_printer {
	struct pq_printing how;
	struct pb_helpers *helpers; /* NULL: records are printed as they are added */
	struct pd_print *prints[PQ_PRINTERS_MAX];
	struct print_batch *batches[PB_ITEMS_MAX];
	size_t n_batches;
	struct print_batch *batch; /* being filled; NULL: none is */
	bool failed;
};

unsigned pq_printer_workers(const struct pq_scope *scope)
{
	if (scope->threads < 2 || pq_rows_why_alone(scope))
		return 1;
	return scope->threads < PQ_PRINTERS_MAX ? scope->threads : PQ_PRINTERS_MAX;
}

/* Prints the records of a batch. */
static void print_batch(void *item, unsigned worker)
{
	struct print_batch *batch = item;
	const struct pq_printing *how = &batch->printer->how;
	struct pd_print *out = batch->printer->prints[worker];
	struct pb_lap lap = pb_stage_enter(how->timing, how->pass, PB_STAGE_TEXT);

	out->arg = &batch->text;
	for (size_t i = 0; i < batch->n && !batch->failed; i++)
		batch->failed = !how->print(how->arg, worker, &batch->records[i], out);
	pd_print_flush(out);
	batch->failed |= batch->text.failed;
	pb_stage_leave(&lap);
}

static bool start_printing(struct pq_printer *printer)
{
	for (unsigned i = 0; i < printer->how.workers; i++) {
		printer->prints[i] = malloc(sizeof(*printer->prints[i]));
		if (!printer->prints[i])
			return false;
		pd_print_init(printer->prints[i], pd_print_to_string, NULL);
	}
	printer->helpers = pb_helpers_start(printer->how.workers - 1, print_batch);
	return printer->helpers != NULL;
}

struct pq_printer *pq_printer_create(const struct pq_printing *printing)
{
	struct pq_printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return NULL;
	printer->how = *printing;
	if (printing->workers < 2 || start_printing(printer))
		return printer;
	pq_printer_destroy(printer);
	return NULL;
}

void pq_printer_destroy(struct pq_printer *printer)
{
	if (!printer)
		return;
	pb_helpers_stop(printer->helpers);
	for (size_t i = 0; i < printer->n_batches; i++) {
		free(printer->batches[i]->bytes);
		pb_string_deinit(&printer->batches[i]->text);
		free(printer->batches[i]);
	}
	for (unsigned i = 0; i < PQ_PRINTERS_MAX; i++)
		free(printer->prints[i]);
	free(printer);
}

/* Passes the text of the oldest batch on. Returns the batch; NULL: there is none. */
static struct print_batch *take_printed(struct pq_printer *printer)
{
	struct print_batch *batch = pb_helpers_take(printer->helpers);
	struct pd_print *out = printer->how.out;

	if (!batch)
		return NULL;
	if (!printer->failed) {
		pd_print_flush(out);
		out->flush(out->arg, batch->text.p, batch->text.n);
	}
	printer->failed |= batch->failed;
	if (batch->text.capacity > KEPT_TEXT)
		pb_string_deinit(&batch->text);
	pb_string_clear(&batch->text);
	batch->n = batch->used = 0;
	batch->failed = false;
	return batch;
}

/* Returns a batch to fill; NULL without memory. */
static struct print_batch *find_batch(struct pq_printer *printer)
{
	struct print_batch *batch;

	if (printer->n_batches == PB_ITEMS_MAX ||
	    (printer->n_batches && pb_helpers_are_ready(printer->helpers)))
		return take_printed(printer);
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return NULL;
	batch->printer = printer;
	printer->batches[printer->n_batches++] = batch;
	return batch;
}

/* Copies a record into a batch that has room for another. Returns false without memory. */
static bool copy_record(struct print_batch *batch, const struct pd_record *rec)
{
	size_t size = (rec->size + (size_t)7) & ~(size_t)7;
	struct pd_record *copy = &batch->records[batch->n];

	if (batch->used + size > batch->room) {
		free(batch->bytes);
		batch->room = size < MOST_BYTES ? MOST_BYTES : size;
		batch->bytes = malloc(batch->room);
		if (!batch->bytes) {
			batch->room = 0;
			return false;
		}
	}
	*copy = *rec;
	copy->bytes = memcpy(batch->bytes + batch->used, rec->bytes, rec->size);
	batch->used += size;
	batch->n++;
	return true;
}

static void give_batch(struct pq_printer *printer)
{
	if (printer->batch)
		pb_helpers_give(printer->helpers, printer->batch);
	printer->batch = NULL;
}

bool pq_printer_add(struct pq_printer *printer, const struct pd_record *rec)
{
	const struct pq_printing *how = &printer->how;
	struct print_batch *batch = printer->batch;

	if (!printer->helpers)
		return how->print(how->arg, 0, rec, how->out);
	if (batch && (batch->n == MOST_RECORDS ||
		      (batch->n && batch->used + rec->size + 7 > batch->room)))
		give_batch(printer);
	if (!printer->batch)
		printer->batch = find_batch(printer);
	return printer->batch && copy_record(printer->batch, rec) && !printer->failed;
}

bool pq_printer_finish(struct pq_printer *printer)
{
	if (!printer->helpers)
		return true;
	give_batch(printer);
	while (take_printed(printer))
		;
	return !printer->failed;
}
