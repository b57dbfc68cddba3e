#define _GNU_SOURCE
#include "jitdump.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#include "base/cursor.h"
#include "base/vector.h"

#define MAGIC	    0x4a695444u /* "JiTD" */
#define HEADER	    40u
#define PREFIX	    16u
#define LOAD	    0u
#define MOVE	    1u
#define LOAD_BODY   40u
#define MOVE_BODY   48u
#define MAX_NAME    65536u
#define CYCLES	    1u /* flag: times are in cycles */
#define KNOWN_FLAGS CYCLES

/* A pass over the file. */
struct reading {
	struct ps_jitdump *dump;
	FILE *file;
	bool swapped, cycles;
	bool no_memory;
	off_t end;	 /* of the last whole record */
	size_t capacity; /* capacity of the dump's ranges */
	char *name;	 /* [MAX_NAME] */
};

static struct ps_jit_span *add_span(struct reading *reading, uint64_t start, uint64_t size,
				    uint64_t stamp)
{
	struct ps_jitdump *dump = reading->dump;
	struct ps_jit_span *span;

	if (!pb_reserve(dump->spans, dump->n, reading->capacity)) {
		reading->no_memory = true;
		return NULL;
	}
	span = &dump->spans[dump->n];
	*span = (struct ps_jit_span){ .start = start, .end = start + size };
	span->from = dump->monotonic && !reading->cycles ? stamp : 0;
	span->order = (uint32_t)dump->n++;
	return span;
}

static bool add_jit_symbol(struct reading *reading, struct ps_jit_span *span, const char *name,
			   uint32_t length)
{
	const struct ps_symbol symbol = {
		.start = span->start,
		.name = name,
		.length = length,
		.binding = PS_GLOBAL,
		.function = true,
	};

	span->symbol = (uint32_t)reading->dump->table.n;
	reading->no_memory = !ps_table_add(&reading->dump->table, &symbol,
					   span->end - span->start);
	return !reading->no_memory;
}

static bool is_span(uint64_t start, uint64_t size)
{
	return size && start + size > start;
}

/*
 * Reads pid, tid, vma, address, size, number; then the name, and the code. Returns false if
 * there is nothing more to read.
 */
static bool read_load(struct reading *reading, uint64_t left, uint64_t stamp)
{
	unsigned char body[LOAD_BODY];
	off_t at = ftello(reading->file);
	struct ps_jit_span *span;
	uint64_t start, size, all = left;
	size_t n;

	if (left < LOAD_BODY || fread(body, sizeof(body), 1, reading->file) != 1)
		return false;
	left -= LOAD_BODY;
	start = pb_load64(body + 16, reading->swapped);
	size = pb_load64(body + 24, reading->swapped);
	left -= size < left ? size : left;
	n = left < MAX_NAME ? (size_t)left : MAX_NAME;
	n = fread(reading->name, 1, n, reading->file);
	/* a name without an end may be part of another record */
	if (strnlen(reading->name, n) == n || !*reading->name || !is_span(start, size))
		return true;
	span = add_span(reading, start, size, stamp);
	if (!span)
		return false;
	span->code = pb_load64(body + 32, reading->swapped);
	n = strlen(reading->name);
	if (at >= 0 && size <= all && LOAD_BODY + n + 1 <= all - size)
		span->bytes = (uint64_t)at + LOAD_BODY + n + 1;
	return add_jit_symbol(reading, span, reading->name, (uint32_t)n);
}

/* Reads pid, tid, vma, old address, new address, size, number. */
static bool read_move(struct reading *reading, uint64_t left, uint64_t stamp)
{
	unsigned char body[MOVE_BODY];
	struct ps_jit_span *span;
	uint64_t start, size;

	if (left < MOVE_BODY || fread(body, sizeof(body), 1, reading->file) != 1)
		return false;
	start = pb_load64(body + 24, reading->swapped);
	size = pb_load64(body + 32, reading->swapped);
	if (!is_span(start, size))
		return true;
	span = add_span(reading, start, size, stamp);
	if (!span)
		return false;
	span->code = pb_load64(body + 40, reading->swapped);
	span->symbol = PS_JIT_MOVED;
	return true;
}

/* Reads a record. Other types (source lines, unwinding, the end) are skipped. */
static bool read_record(struct reading *reading)
{
	unsigned char prefix[PREFIX];
	uint64_t size, stamp;
	uint32_t id;
	off_t at;

	if (fread(prefix, sizeof(prefix), 1, reading->file) != 1)
		return false;
	at = ftello(reading->file);
	id = pb_load32(prefix, reading->swapped);
	size = pb_load32(prefix + 4, reading->swapped);
	stamp = pb_load64(prefix + 8, reading->swapped);
	if (at < 0 || size < PREFIX)
		return false;
	size -= PREFIX;
	if ((id == LOAD && !read_load(reading, size, stamp)) ||
	    (id == MOVE && !read_move(reading, size, stamp)))
		return false;
	if (fseeko(reading->file, at + (off_t)size, SEEK_SET) != 0)
		return false;
	reading->end = at + (off_t)size;
	return true;
}

static const char *read_header(struct reading *reading)
{
	unsigned char header[HEADER];
	uint64_t flags;
	uint32_t size;

	if (fread(header, sizeof(header), 1, reading->file) != 1)
		return "shorter than its header";
	if (pb_load32(header, reading->swapped) != MAGIC) {
		reading->swapped = true;
		if (pb_load32(header, reading->swapped) != MAGIC)
			return "no jitdump";
	}
	size = pb_load32(header + 8, reading->swapped);
	reading->dump->machine = (uint16_t)pb_load32(header + 12, reading->swapped);
	reading->dump->is_big = reading->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	flags = pb_load64(header + 32, reading->swapped);
	reading->cycles = flags & CYCLES;
	if (flags & ~(uint64_t)KNOWN_FLAGS)
		return "has unknown flags";
	if (size < HEADER || fseeko(reading->file, (off_t)size, SEEK_SET) != 0)
		return "the size of its header is wrong";
	return NULL;
}

static int compare_codes(const void *pa, const void *pb)
{
	const struct ps_jit_span *a = pa, *b = pb;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int compare_starts(const void *pa, const void *pb)
{
	const struct ps_jit_span *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Gives moved code the name that it had before. Ranges without one are dropped. */
static void name_moved_code(struct reading *reading)
{
	struct ps_jitdump *dump = reading->dump;
	struct ps_jit_span *spans = dump->spans, *last = NULL;
	size_t kept = 0;

	if (dump->n)
		qsort(spans, dump->n, sizeof(*spans), compare_codes);
	for (size_t i = 0; i < dump->n && !reading->no_memory; i++) {
		struct ps_jit_span span = spans[i];

		if (span.symbol == PS_JIT_MOVED) {
			const struct ps_symbol *named;

			if (!last || last->code != span.code)
				continue;
			named = &dump->table.symbols[last->symbol];
			if (!add_jit_symbol(reading, &span, named->name, named->length))
				break;
			if (last->end - last->start == span.end - span.start)
				span.bytes = last->bytes;
		}
		spans[kept] = span;
		last = &spans[kept++];
	}
	dump->n = kept;
}

void ps_jitdump_sort(struct ps_jitdump *dump)
{
	uint64_t reach = 0;

	if (dump->n)
		qsort(dump->spans, dump->n, sizeof(*dump->spans), compare_starts);
	for (size_t i = 0; i < dump->n; i++) {
		if (dump->spans[i].end > reach)
			reach = dump->spans[i].end;
		dump->spans[i].reach = reach;
	}
}

bool ps_jitdump_parse(struct ps_jitdump *dump, FILE *file, const char **reason)
{
	struct reading reading = { .dump = dump, .file = file, .name = malloc(MAX_NAME) };

	*reason = reading.name ? read_header(&reading) : "no memory";
	if (!*reason) {
		reading.end = ftello(file);
		while (read_record(&reading))
			continue;
		dump->is_cut = fseeko(file, 0, SEEK_END) != 0 || ftello(file) != reading.end;
		dump->timed = dump->monotonic && !reading.cycles;
		name_moved_code(&reading);
		ps_jitdump_sort(dump);
		if (reading.no_memory || !dump->n)
			*reason = reading.no_memory ? "no memory" : "no functions in it";
	}
	if (*reason)
		dump->n = 0;
	free(reading.name);
	return !*reason;
}

void ps_jitdump_destroy(struct ps_jitdump *dump)
{
	if (!dump)
		return;
	ps_table_deinit(&dump->table);
	free(dump->spans);
	free(dump);
}

/* Returns the number of ranges that begin at or below an address. */
static size_t count_spans_up_to(const struct ps_jitdump *dump, uint64_t address)
{
	size_t low = 0, high = dump->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dump->spans[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_later(const struct ps_jit_span *a, const struct ps_jit_span *b)
{
	return a->from != b->from ? a->from > b->from : a->order > b->order;
}

const struct ps_symbol *ps_jitdump_find(const struct ps_jitdump *dump, uint64_t address,
					uint64_t time)
{
	const struct ps_jit_span *found = NULL;

	for (size_t i = count_spans_up_to(dump, address);
	     i && dump->spans[i - 1].reach > address; i--) {
		const struct ps_jit_span *span = &dump->spans[i - 1];

		if (span->end > address && span->from <= time &&
		    (!found || is_later(span, found)))
			found = span;
	}
	return found ? &dump->table.symbols[found->symbol] : NULL;
}

const struct ps_jit_span *ps_jitdump_span(const struct ps_jitdump *dump,
					  const struct ps_symbol *symbol)
{
	for (size_t i = 0; i < dump->n; i++)
		if (&dump->table.symbols[dump->spans[i].symbol] == symbol)
			return &dump->spans[i];
	return NULL;
}

uint64_t ps_jitdump_last(const struct ps_jitdump *dump, uint64_t address, uint64_t time)
{
	uint64_t last = UINT64_MAX;

	for (size_t i = count_spans_up_to(dump, address);
	     i && dump->spans[i - 1].reach > address; i--) {
		const struct ps_jit_span *span = &dump->spans[i - 1];

		if (span->end > address && span->from > time && span->from - 1 < last)
			last = span->from - 1;
	}
	return last;
}
