#include "chains.h"

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

void pw_rewrite_chain(const struct pw_how *how, struct pm_resolver *resolver,
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
