/*
 * Words of call chains that are not addresses: where code keeps no frame pointers, a chain has
 * words of the stack, such as pieces of texts.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "internal.h"
#include "perfdata/format/views.h"
#include "perfdata/order/walk.h"

#define MOST_UNSORTED 64

/* markers among the words of a call chain: see enum perf_callchain_context */
#define MARKERS	    ((uint64_t)-4095)
#define OF_USER	    ((uint64_t)-512)
#define OF_DEFERRED ((uint64_t)-640) /* a cookie follows */

struct range {
	uint64_t start, end;
};

/* The addresses at which processes had mappings, whichever and whenever. */
struct pv_mapped {
	struct range *list; /* [n]: up to n_sorted apart and in order */
	size_t n, room, n_sorted;
	size_t last; /* the range that was found last */
	bool is_whole;
};

struct pv_mapped *pv_mapped_create(void)
{
	return calloc(1, sizeof(struct pv_mapped));
}

void pv_mapped_destroy(struct pv_mapped *mapped)
{
	if (mapped)
		free(mapped->list);
	free(mapped);
}

void pv_note_mapping(struct pv_scrubber *s, const struct pd_record *rec)
{
	enum {
		START = 16,
		LENGTH = 24
	};
	struct pv_mapped *mapped = s->mapped;
	unsigned mode = rec->misc & PD_MISC_CPUMODE;
	struct range range;

	if (mapped->is_whole || mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_GUEST_KERNEL)
		return;
	range.start = pd_rec64(rec, START);
	range.end = range.start + pd_rec64(rec, LENGTH);
	if (range.end < range.start)
		range.end = UINT64_MAX;
	if (pb_reserve(mapped->list, mapped->n, mapped->room))
		mapped->list[mapped->n++] = range;
	else
		s->failed = true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Sorts the ranges, and joins those that touch. */
static void sort_ranges(struct pv_mapped *mapped)
{
	size_t n = 0;

	qsort(mapped->list, mapped->n, sizeof(*mapped->list), compare_ranges);
	for (size_t i = 0; i < mapped->n; i++) {
		const struct range range = mapped->list[i];

		if (!n || range.start > mapped->list[n - 1].end)
			mapped->list[n++] = range;
		else if (range.end > mapped->list[n - 1].end)
			mapped->list[n - 1].end = range.end;
	}
	mapped->n = mapped->n_sorted = n;
	mapped->last = 0;
}

/*
 * Reads the mappings of the whole recording: in a file a sample may come before the record of
 * its mapping, which another processor's buffer had.
 */
static void read_ahead(struct pv_scrubber *s)
{
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;

	s->mapped->is_whole = false;
	if (pd_walk_init(&walk, s->session, PD_ORDER_FILE, &err)) {
		walk.options.types = (struct pd_types){ .bits = { 0 } };
		pd_types_add(&walk.options.types, PD_RECORD_MMAP);
		pd_types_add(&walk.options.types, PD_RECORD_MMAP2);
		while (pd_walk_next(&walk, &rec, &err) > 0)
			if (pd_fits(&rec, 16, 16))
				pv_note_mapping(s, &rec);
		pd_walk_deinit(&walk);
	}
	s->mapped->is_whole = true;
}

static bool has_address(const struct range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

/* Returns whether a process had a mapping at an address. */
static bool is_mapped(struct pv_scrubber *s, uint64_t address)
{
	struct pv_mapped *mapped = s->mapped;
	size_t low = 0, high;

	if (s->session && !mapped->is_whole)
		read_ahead(s);
	if (mapped->n - mapped->n_sorted > MOST_UNSORTED || mapped->is_whole)
		if (mapped->n > mapped->n_sorted)
			sort_ranges(mapped);
	for (size_t i = mapped->n_sorted; i < mapped->n; i++)
		if (has_address(&mapped->list[i], address))
			return true;
	if (mapped->n_sorted && has_address(&mapped->list[mapped->last], address))
		return true;
	for (high = mapped->n_sorted; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (mapped->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !has_address(&mapped->list[low - 1], address))
		return false;
	mapped->last = low - 1;
	return true;
}

/* Returns whether four bytes of a word in a row are letters, digits, signs or blanks. */
static inline bool has_letters(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t low = word & ~tops;
	uint64_t letters = (low + ones * 0x60) & ~(low + ones) & ~word & tops;

	letters &= letters >> 16;
	return letters & letters >> 8;
}

/* Makes zeros of a word of the record, which then is in s->room. */
static void drop_word(struct pv_scrubber *s, struct pd_record *rec, uint32_t at)
{
	if (rec->bytes != s->room)
		memcpy(s->room, rec->bytes, rec->size);
	rec->bytes = s->room;
	memset(s->room + at, 0, 8);
}

void pv_clean_chain(struct pv_scrubber *s, struct pd_record *rec, uint32_t at, uint64_t n)
{
	uint64_t from = s->impossible.from, many = s->impossible.to - from;
	bool swap = rec->layout->swap, is_users = rec->type != PD_RECORD_SAMPLE;

	for (uint64_t i = 0; i < n; i++, at += 8) {
		uint64_t word = pb_load64(rec->bytes + at, swap);

		if (word >= MARKERS) {
			is_users = word == OF_USER || word == OF_DEFERRED;
			i += word == OF_DEFERRED;
			at += word == OF_DEFERRED ? 8 : 0;
		} else if (word - from < many || (is_users && !s->places && has_letters(word) &&
						  !is_mapped(s, word))) {
			drop_word(s, rec, at);
		}
	}
}
