/*
 * Prints records as text by several workers. Each takes whole batches of records; the text
 * comes out in the order in which the records were added.
 *
 *	struct pq_printer *printer = pq_printer_create(&printing);
 *
 *	while (…)
 *		if (!pq_printer_add(printer, &rec)) …
 *	if (!pq_printer_finish(printer)) …
 *	pq_printer_destroy(printer);
 *
 * The records of a batch are copies, so that the walk goes on while they are printed. The
 * number of batches is fixed.
 */
#ifndef PERFLUA_QUERY_PRINTER_H
#define PERFLUA_QUERY_PRINTER_H

#include "base/helpers.h"
#include "base/timing.h"
#include "query/scope/scope.h"
#include "perfdata/format/print.h"

#define PQ_PRINTERS_MAX (PB_HELPERS_MAX + 1) /* workers */

struct pq_printing {
	/*
	 * Prints what stands for *rec into `out`, which it has for this call only. It is called
	 * in any thread, but for each worker, by number, by one at a time. Returns false if it
	 * cannot: then nothing further is printed.
	 */
	bool (*print)(void *arg, unsigned worker, const struct pd_record *rec,
		      struct pd_print *out);
	void *arg;
	struct pd_print *out; /* takes the text, in the caller's thread */
	unsigned workers; /* up to PQ_PRINTERS_MAX; 1: records are printed as they are added */
	struct pb_timing *timing;
	struct pb_pass *pass; /* that the helpers' time belongs to */
};

struct pq_printer;

/*
 * Returns how many workers print the records of a scope: 1 where only the caller's thread may
 * look at them.
 */
unsigned pq_printer_workers(const struct pq_scope *scope);

/* Creates a printer. Returns NULL without memory. */
struct pq_printer *pq_printer_create(const struct pq_printing *printing);

/* Ends the threads, and drops what was not printed. NULL: nothing. */
void pq_printer_destroy(struct pq_printer *printer);

/*
 * Adds a record. Returns false without memory, or once a record could not be printed; the text
 * of those before it has then come out.
 */
bool pq_printer_add(struct pq_printer *printer, const struct pd_record *rec);

/* Prints what was added. Returns as pq_printer_add(). */
bool pq_printer_finish(struct pq_printer *printer);

#endif
