/*
 * A set of processors in one of three encodings: a list, a bitmap, a range. See struct
 * perf_record_cpu_map_data, tools/lib/perf/include/perf/event.h.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

enum {
	LIST,
	MASK,
	RANGE
};

#define MAX_CPUS 32768 /* perf counts processors in 15 bits */

/* view.extra: the encoding in the low byte, then by encoding: */
#define LONG_BYTES(extra) ((uint32_t)((extra) >> 8 & 0xff)) /* MASK */
#define ANY(extra)	  ((uint32_t)((extra) >> 8 & 1))    /* RANGE: -1 comes first */
#define START(extra)	  ((uint32_t)((extra) >> 16 & 0xffff))
#define WORDS(extra)	  ((uint32_t)((extra) >> 16))

static uint64_t load_mask_word(const struct pd_view *view, uint32_t i)
{
	if (LONG_BYTES(view->extra) == 4)
		return pd_rec32(view->rec, view->at + 4 * i);
	return pd_rec64(view->rec, view->at + 8 * i);
}

/* Opens a bitmap; `nr` and `long_size` are at offset `at`. */
static bool open_mask(const struct pd_record *rec, uint32_t at, struct pd_view *view)
{
	uint32_t n, size;

	if (!pd_fits(rec, at, 4))
		return false;
	n = pd_rec16(rec, at);
	size = pd_rec16(rec, at + 2);
	if ((size != 4 && size != 8) || n * size > MAX_CPUS / 8)
		return false;
	/*
	 * the struct is packed: u64 words come after four bytes of padding, but nothing is
	 * aligned
	 */
	view->at = at + (size == 4 ? 4 : 8);
	if (!pd_fits(rec, view->at, n * size))
		return false;
	view->extra = MASK | size << 8 | (uint64_t)n << 16;
	for (uint32_t i = 0; i < n; i++)
		view->count += (uint32_t)__builtin_popcountll(load_mask_word(view, i));
	return true;
}

static bool open_list(const struct pd_record *rec, uint32_t at, struct pd_view *view)
{
	if (!pd_fits(rec, at, 2) || !pd_fits(rec, at + 2, 2u * pd_rec16(rec, at)))
		return false;
	view->extra = LIST;
	view->count = pd_rec16(rec, at);
	view->at = at + 2;
	return true;
}

static bool open_range(const struct pd_record *rec, uint32_t at, struct pd_view *view)
{
	uint32_t any, start, end;

	if (!pd_fits(rec, at, 6))
		return false;
	any = rec->bytes[at] != 0;
	start = pd_rec16(rec, at + 2);
	end = pd_rec16(rec, at + 4);
	if (end >= MAX_CPUS)
		return false;
	view->extra = RANGE | any << 8 | start << 16;
	view->count = any + (end >= start ? end - start + 1 : 0);
	return true;
}

void pd_open_cpus(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	static bool (*const opens[])(const struct pd_record *, uint32_t, struct pd_view *) = {
		[LIST] = open_list,
		[MASK] = open_mask,
		[RANGE] = open_range,
	};
	uint32_t encoding = pd_fits(rec, at, 2) ? pd_rec16(rec, at) : UINT32_MAX;

	if (encoding > RANGE || !opens[encoding](rec, at + 2, &out->view))
		out->type = PD_NIL;
}

uint32_t pd_measure_cpus(const struct pd_record *rec, uint32_t at)
{
	struct pd_value out = { .type = PD_VIEW, .view = { .rec = rec, .at = at } };
	uint64_t extra;

	pd_open_cpus(rec, at, &out);
	extra = out.view.extra;
	if (out.type == PD_NIL)
		return UINT32_MAX;
	if ((extra & 0xff) == LIST)
		return out.view.at - at + 2 * out.view.count;
	if ((extra & 0xff) == MASK)
		return out.view.at - at + LONG_BYTES(extra) * WORDS(extra);
	return 8;
}

/* Returns the number of the i-th bit that is set in the bitmap. */
static uint32_t find_nth_bit(const struct pd_view *view, uint32_t i)
{
	for (uint32_t w = 0; w < WORDS(view->extra); w++) {
		uint64_t bits = load_mask_word(view, w);
		uint32_t n = (uint32_t)__builtin_popcountll(bits);

		if (i < n) {
			for (; i; i--)
				bits &= bits - 1;
			return 8 * LONG_BYTES(view->extra) * w +
			       (uint32_t)__builtin_ctzll(bits);
		}
		i -= n;
	}
	return 0;
}

static void get_cpu(const struct pd_view *view, uint32_t i, unsigned m, struct pd_value *out)
{
	uint64_t extra = view->extra;

	(void)m;
	if ((extra & 0xff) == LIST) /* 0xffff is -1 */
		pd_set_int(out, (int16_t)pd_rec16(view->rec, view->at + 2 * i));
	else if ((extra & 0xff) == MASK)
		pd_set_int(out, find_nth_bit(view, i));
	else if (ANY(extra) && i == 0)
		pd_set_int(out, -1);
	else
		pd_set_int(out, (int64_t)START(extra) + i - ANY(extra));
}

static void code_range(struct pd_coder *c)
{
	pd_code_int(c, "any", 1, PD_AS_UINT);
	c->at++; /* padding */
	pd_code_int(c, "first", 2, PD_AS_UINT);
	pd_code_int(c, "last", 2, PD_AS_UINT);
}

/* Codes the words of a bitmap after their number and size. */
static void code_mask(struct pd_coder *c)
{
	uint32_t n = c->encodes ? 0 : (uint32_t)pd_code_load(c, 2), size;

	n = (uint32_t)pd_code_value(c, "words", n, 2, PD_AS_UINT);
	if (c->encodes)
		pd_code_store(c, 2, n);
	size = (uint32_t)pd_code_int(c, "long_size", 2, PD_AS_UINT);
	if (size != 4 && size != 8) {
		pd_code_fail(c, pd_code_find(c, "long_size"), "long_size", "4 or 8");
		return;
	}
	c->at += size - 4;
	for (uint32_t i = 0; i < n && !c->failed; i++)
		pd_code_int(c, NULL, size, PD_AS_HEX);
}

static void code_cpus(struct pd_coder *c, const char *name)
{
	uint64_t encoding;
	uint32_t n;

	pd_code_begin(c, name);
	encoding = pd_code_int(c, "encoding", 2, PD_AS_UINT);
	if (encoding == MASK) {
		code_mask(c);
	} else if (encoding == RANGE) {
		code_range(c);
	} else if (encoding == LIST) {
		n = pd_code_count(c, "list", 2, 2);
		for (uint32_t i = 0; i < n; i++)
			pd_code_int(c, NULL, 2, PD_AS_INT);
		pd_code_end(c);
	} else {
		pd_code_fail(c, pd_code_find(c, "encoding"), "encoding",
			     "0 (a list), 1 (a bitmap) or 2 (a range)");
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_cpus = {
	.name = "cpus",
	.doc = "Numbers of processors, ascending; -1 stands for any.",
	.item = get_cpu,
	.code = code_cpus,
};
