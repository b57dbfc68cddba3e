/*
 * Open spans by key. One array holds the values of all spans: the key of each, then the kept
 * values of the record that opened it. A list links the spans in the order in which they were
 * opened; lost spans are not in it, and are found by key only. The places of closed spans are
 * used again.
 */
#ifndef PERFLUA_QUERY_SPANS_H
#define PERFLUA_QUERY_SPANS_H

#include "base/map.h"
#include "query/chains/strings.h"
#include "query/scope/scope.h"

#define PQ_NO_SPAN UINT32_MAX

/* The state of a span besides its values: 12 bytes, as there may be millions of them. */
struct pq_span_state {
	union {
		/*
		 * numbers of the spans opened before and after this one; of a closed one
		 * `after` is the next closed one
		 */
		struct {
			uint32_t before, after;
		};
		uint64_t at_least; /* if is_lost: ns that it was open; set by the caller */
	};
	uint16_t source; /* number of its recording; set by the caller */
	bool is_lost;	 /* its closing record may be among lost records */
} __attribute__((packed, aligned(4)));

struct pq_spans {
	struct pq_calls *calls; /* holds the objects among values; NULL: there are none */
	struct pb_secret secret;
	struct pb_map map; /* numbers of open spans, by key */
	struct pq_value *values;
	size_t n, capacity;
	struct pq_span_state *states; /* [states_room], by span */
	size_t states_room;
	uint32_t first, last;  /* of the list; PQ_NO_SPAN: it is empty */
	uint32_t closed;       /* the span that was closed last; PQ_NO_SPAN: none */
	size_t n_lost;	       /* spans that are lost */
	size_t n_keys, stride; /* values of a key; values of a span */
};

/* Initializes *spans. Returns false without memory; call pq_spans_deinit() even then. */
bool pq_spans_init(struct pq_spans *spans, size_t n_keys, size_t n_kept,
		   struct pq_calls *calls);
void pq_spans_deinit(struct pq_spans *spans);

/* Returns the values of a span: its key, then its kept values. */
static inline struct pq_value *pq_spans_at(const struct pq_spans *spans, uint32_t span)
{
	return &spans->values[span * spans->stride];
}

/* Frees a text that has no number, or releases an object. */
void pq_span_release(const struct pq_spans *spans, const struct pq_value *value);

/*
 * Makes n values absent. Frees their texts, except for those with a number, and releases their
 * objects.
 */
static inline void pq_span_forget(const struct pq_spans *spans, struct pq_value *values,
				  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (values[i].type >= PQ_TEXT)
			pq_span_release(spans, &values[i]);
		values[i].type = PQ_NIL;
	}
}

/* Returns the hash of a key whose values are normalised (pq_normalise) and not PQ_NIL. */
uint32_t pq_spans_hash(const struct pq_spans *spans, const struct pq_value *key);

/*
 * Returns the slot of the span with this key, or the empty slot where it belongs. The slot is
 * valid until a span is opened or closed.
 */
struct pb_slot *pq_spans_find(const struct pq_spans *spans, const struct pq_value *key,
			      uint32_t hash);

/*
 * Opens a span for a key without an open one, in the free slot that was found for it. Its
 * values are all absent, even those of the key. Returns its number; PQ_NO_SPAN without memory.
 */
uint32_t pq_spans_open(struct pq_spans *spans, const struct pq_value *key, uint32_t hash,
		       struct pb_slot *slot);

/*
 * Gives an open span another key, which no open span has, and which it then owns. The values of
 * its old key are released.
 */
void pq_spans_move(struct pq_spans *spans, uint32_t span, const struct pq_value *key,
		   uint32_t hash);

/* Moves an open or lost span to the end of the list, as if it had been opened now. */
void pq_spans_reopen(struct pq_spans *spans, uint32_t span);

/* Marks an open span as lost, and takes it off the list. */
void pq_spans_lose(struct pq_spans *spans, uint32_t span);

void pq_spans_close(struct pq_spans *spans, struct pb_slot *slot);

/*
 * Marks lost spans as open, and puts them back into the list, by their second kept values: the
 * serial numbers of their openings. Returns false without memory.
 */
bool pq_spans_find_lost(struct pq_spans *spans);

static inline size_t pq_spans_n_open(const struct pq_spans *spans)
{
	return spans->map.n - spans->n_lost;
}

#endif
