#define _GNU_SOURCE /* for memmem(), qsort_r() */
#include "tracing.h"

#include <stdlib.h>

#include "base/vector.h"
#include "perfdata/format/feature.h"
#include "tracepoint.h"

#define MAX_FORMATS (1u << 20) /* a kernel has some thousands */

/* Reads a text that ends with a NUL. */
static struct pd_text take_name(struct pb_cursor *c)
{
	size_t left = pb_cursor_left(c);
	struct pd_text text = pd_text_in(c->pos, left);

	if (text.n == left) {
		pb_cursor_fail(c, "a name without a NUL");
		return (struct pd_text){ "", 0 };
	}
	pb_take(c, text.n + 1);
	return text;
}

static struct pd_text take_sized_text(struct pb_cursor *c, uint64_t n)
{
	const uint8_t *p = pb_take(c, n);

	return p ? pd_text_in(p, (size_t)n) : (struct pd_text){ "", 0 };
}

static struct pd_text take_headed(struct pb_cursor *c, const char *name, size_t n)
{
	const uint8_t *p = pb_take(c, n);

	if (!p || memcmp(p, name, n) != 0)
		pb_cursor_fail(c, "another heading");
	return take_sized_text(c, pb_take64(c));
}

/* Returns the first occurrence of a word in a text, or NULL. */
static const char *find_in(struct pd_text text, const char *word)
{
	return text.n ? memmem(text.p, text.n, word, strlen(word)) : NULL;
}

/* Reads the number after a word. Returns false if there is none. */
static bool find_number_after(struct pd_text text, const char *word, uint64_t *out)
{
	const char *end = text.p + text.n, *p = find_in(text, word);
	uint64_t v = 0;

	if (!p)
		return false;
	for (p += strlen(word); p < end && *p == ' ';)
		p++;
	if (p == end || *p < '0' || *p > '9')
		return false;
	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*out = v;
	return true;
}

struct pd_text pd_format_name(const struct pd_format *format)
{
	const char *p = find_in(format->text, "name: "), *end;

	if (!p)
		return (struct pd_text){ "", 0 };
	p += 6;
	end = memchr(p, '\n', (size_t)(format->text.p + format->text.n - p));
	return (struct pd_text){ p, end ? (size_t)(end - p) : 0 };
}

static bool add_format(struct pd_tracing *t, struct pd_text system, struct pd_text text,
		       size_t *capacity)
{
	struct pd_format *added;

	if (!pb_reserve(t->formats, t->n_formats, *capacity))
		return false;
	added = &t->formats[t->n_formats++];
	*added = (struct pd_format){ .system = system, .text = text, .id = UINT64_MAX };
	if (!find_number_after(text, "\nID:", &added->id))
		added->id = UINT64_MAX;
	return true;
}

static void take_systems(struct pd_tracing *t, struct pb_cursor *c)
{
	uint32_t n = pb_take32(c);
	size_t capacity = 0;

	for (uint32_t i = 0; i < n && !c->failed; i++) {
		struct pd_text system = take_name(c);
		uint32_t events = pb_take32(c);

		for (uint32_t k = 0; k < events && !c->failed; k++) {
			struct pd_text text = take_sized_text(c, pb_take64(c));

			if (!c->failed && (t->n_formats == MAX_FORMATS ||
					   !add_format(t, system, text, &capacity)))
				pb_cursor_fail(c, "more formats than memory has room for");
		}
	}
}

static int compare_ids(const void *a, const void *b, void *arg)
{
	const struct pd_format *formats = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (formats[x].id != formats[y].id)
		return formats[x].id < formats[y].id ? -1 : 1;
	return (x > y) - (x < y);
}

static bool sort_ids(struct pd_tracing *t)
{
	t->by_id = malloc((t->n_formats + 1) * sizeof(*t->by_id));
	if (!t->by_id)
		return false;
	for (size_t i = 0; i < t->n_formats; i++)
		t->by_id[i] = (uint32_t)i;
	qsort_r(t->by_id, t->n_formats, sizeof(*t->by_id), compare_ids, t->formats);
	return true;
}

/*
 * Corrects long_size. A 32-bit perf on a 64-bit kernel writes the size of its own long; the
 * kernel's is that of the page header's field `commit`.
 */
static void correct_long(struct pd_tracing *t)
{
	const char *commit = find_in(t->header_page, " commit;");
	uint64_t size;

	if (commit &&
	    find_number_after((struct pd_text){ commit, (size_t)(t->header_page.p +
								 t->header_page.n - commit) },
			      "size:", &size) &&
	    (size == 4 || size == 8))
		t->long_size = (uint8_t)size;
}

/* Reads the parts in their order: see trace_report, tools/perf/util/trace-event-read.c. */
static void take_parts(struct pd_tracing *t, struct pb_cursor *c)
{
	static const char magic[] = "\x17\x08\x44tracing";
	const uint8_t *p = pb_take(c, sizeof(magic) - 1);
	struct pd_text version;
	uint8_t big;

	if (!p || memcmp(p, magic, sizeof(magic) - 1) != 0)
		pb_cursor_fail(c, "other magic bytes");
	version = take_name(c);
	memcpy(t->version, version.p,
	       version.n < sizeof(t->version) ? version.n : sizeof(t->version) - 1);
	big = pb_take8(c);
	t->big = big == 1;
	t->swap = t->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c->swap = t->swap;
	t->long_size = pb_take8(c);
	if (big > 1 || (t->long_size != 4 && t->long_size != 8))
		pb_cursor_fail(c, "an unknown byte order or size of long");
	t->page_size = pb_take32(c);
	t->header_page = take_headed(c, "header_page", sizeof("header_page"));
	correct_long(t);
	t->header_event = take_headed(c, "header_event", sizeof("header_event"));
	for (uint32_t i = pb_take32(c); i && !c->failed; i--) /* ftrace's own events */
		take_sized_text(c, pb_take64(c));
	take_systems(t, c);
	t->kallsyms = take_sized_text(c, pb_take32(c));
	t->printk = take_sized_text(c, pb_take32(c));
	if (strcmp(t->version, "0.6") >= 0)
		t->cmdlines = take_sized_text(c, pb_take64(c));
}

bool pd_tracing_parse(struct pd_tracing *tracing, uint8_t *bytes, size_t size, size_t *offset)
{
	struct pb_cursor c;

	*tracing = (struct pd_tracing){ .bytes = bytes, .size = size };
	pb_cursor_init(&c, bytes, size, false);
	take_parts(tracing, &c);
	*offset = pb_cursor_offset(&c);
	tracing->complete = sort_ids(tracing) && !c.failed;
	return tracing->complete;
}

void pd_tracing_destroy(struct pd_tracing *tracing)
{
	if (!tracing)
		return;
	for (size_t i = 0; i < tracing->n_formats; i++)
		pd_tracepoint_destroy(tracing->formats[i].parsed);
	free(tracing->formats);
	free(tracing->by_id);
	free(tracing->bytes);
	free(tracing);
}

struct pd_format *pd_tracing_find(const struct pd_tracing *tracing, uint64_t id)
{
	size_t low = 0, high = tracing && tracing->by_id ? tracing->n_formats : 0;
	struct pd_format *found;

	if (id == UINT64_MAX)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tracing->formats[tracing->by_id[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (!tracing || low >= tracing->n_formats || !tracing->by_id)
		return NULL;
	found = &tracing->formats[tracing->by_id[low]];
	return found->id == id ? found : NULL;
}

/*
 * The feature tracing_data in short: version, byte order, page size, events per system. The
 * formats themselves belong to the events.
 */

/* Feeds the number of tracepoints of each system. */
static void feed_systems(const struct pd_tracing *tracing, struct pd_sink *sink)
{
	size_t n;

	pd_sink_begin(sink, "systems", false);
	for (size_t i = 0; i < tracing->n_formats; i += n) {
		struct pd_text system = tracing->formats[i].system;

		for (n = 1; i + n < tracing->n_formats &&
			    tracing->formats[i + n].system.p == system.p;)
			n++;
		sink->key(sink, system.p, system.n);
		pd_sink_uint(sink, NULL, n);
	}
	pd_sink_end(sink);
}

bool pd_decode_tracing_data(struct pb_cursor *c, const struct pd_feature_context *ctx,
			    struct pd_sink *sink)
{
	const struct pd_tracing *tracing = ctx->tracing;
	const char *order = tracing && tracing->big ? "big" : "little";

	if (!tracing || !tracing->complete)
		return false;
	pb_take(c, pb_cursor_left(c));
	pd_sink_begin(sink, NULL, false);
	pd_sink_str(sink, "version", tracing->version, strlen(tracing->version));
	pd_sink_str(sink, "byte_order", order, strlen(order));
	pd_sink_uint(sink, "long_size", tracing->long_size);
	pd_sink_uint(sink, "page_size", tracing->page_size);
	feed_systems(tracing, sink);
	pd_sink_end(sink);
	return true;
}
