/*
 * Open spans by key, in one array of values: each has the values of its key, then those kept of
 * the record that opened it. They are also listed in the order in which they were opened; lost
 * ones are not, and are only found by their key. The room of closed spans is used again.
 */
#ifndef PERFLUA_QUERY_SPANS_H
#define PERFLUA_QUERY_SPANS_H

#include "base/map.h"
#include "query/expr/strings.h"
#include "query/expr/scope.h"

#define PQ_NO_SPAN UINT32_MAX

/* The state of an open span besides its values. */
struct pq_span_state {
	uint32_t before, after; /* numbers of the spans opened before and after it */
	uint16_t source;	/* number of the recording that it is of; set by the caller */
	bool is_lost;		/* its end may have been among records that were lost */
	uint64_t at_least;	/* ns that it was open if is_lost; set by the caller */
	uint64_t order;		/* how many spans were opened before it, and it */
};

struct pq_spans {
	struct pq_calls *calls; /* knows the objects among values; NULL: there are none */
	struct pb_secret secret;
	struct pb_map map; /* numbers of open spans, by key */
	struct pq_value *values;
	size_t n, capacity;
	uint32_t *free; /* [free_room]: numbers of closed spans, n_free of them */
	size_t n_free, free_room;
	struct pq_span_state *states; /* [states_room], by span */
	size_t states_room;
	uint32_t first, last;  /* opened; PQ_NO_SPAN: none is open */
	uint64_t n_opened;     /* so far */
	size_t n_lost;	       /* spans that are lost */
	size_t n_keys, stride; /* values of a key; values of a span */
};

/*
 * Initializes *spans. Returns false without memory; the caller calls pq_spans_deinit() also
 * then.
 */
bool pq_spans_init(struct pq_spans *spans, size_t n_keys, size_t n_kept,
		   struct pq_calls *calls);
void pq_spans_deinit(struct pq_spans *spans);

/* Returns the values of a span: its key, then what is kept. */
static inline struct pq_value *pq_spans_at(const struct pq_spans *spans, uint32_t span)
{
	return &spans->values[span * spans->stride];
}

/*
 * Makes values absent. Spans own their texts, except for those with a number, and hold their
 * objects.
 */
void pq_span_forget(const struct pq_spans *spans, struct pq_value *values, size_t n);

/* Returns the hash of a key without PQ_NIL, whose values are normalised (pq_normalise). */
uint32_t pq_spans_hash(const struct pq_spans *spans, const struct pq_value *key);

/*
 * Returns the slot of the span with that key, or the free one for it. It is valid until a span
 * is opened or closed.
 */
struct pb_slot *pq_spans_find(const struct pq_spans *spans, const struct pq_value *key,
			      uint32_t hash);

/*
 * Opens a span for a key that has none. All its values are absent, those of the key, too.
 * Returns its number; PQ_NO_SPAN without memory.
 */
uint32_t pq_spans_open(struct pq_spans *spans, const struct pq_value *key, uint32_t hash);

/* Makes an open or lost span the one that was opened last. */
void pq_spans_reopen(struct pq_spans *spans, uint32_t span);

/* Makes an open span a lost one. */
void pq_spans_lose(struct pq_spans *spans, uint32_t span);

void pq_spans_close(struct pq_spans *spans, struct pb_slot *slot);

/* Makes lost spans open ones again, listed among the others. Returns false without memory. */
bool pq_spans_find_lost(struct pq_spans *spans);

static inline size_t pq_spans_n_open(const struct pq_spans *spans)
{
	return spans->map.n - spans->n_lost;
}

#endif
