/*
 * Spans that are open, by their keys: an array of values, in which each has its key's and those
 * that are kept of the record that opened it, found by slots with open addressing. Closed ones
 * make room for others.
 */
#ifndef PERFLUA_QUERY_SPANS_H
#define PERFLUA_QUERY_SPANS_H

#include "base/map.h"
#include "query/expr/strings.h"
#include "query/expr/scope.h"

struct pq_spans {
	struct pq_calls *calls; /* who knows objects among values; NULL: there are none */
	struct pq_secret secret;
	struct pb_map map; /* of open spans, by their keys */
	struct pq_value *values;
	size_t n, capacity;
	uint32_t *free; /* [capacity]: numbers of closed spans, n_free of them */
	size_t n_free;
	size_t n_keys, stride; /* values of a key, of a span */
};

/* False: no memory; then, too, pq_spans_deinit is to be called. */
bool pq_spans_init(struct pq_spans *spans, size_t n_keys, size_t n_kept,
		   struct pq_calls *calls);
void pq_spans_deinit(struct pq_spans *spans);

/* Its key, and behind it what is kept. */
static inline struct pq_value *pq_spans_at(const struct pq_spans *spans, uint32_t span)
{
	return &spans->values[span * spans->stride];
}

/*
 * Makes values absent. Those of a span own their texts, but for those that have a number, which
 * stay, and hold their objects.
 */
void pq_span_forget(const struct pq_spans *spans, struct pq_value *values, size_t n);

/* Of a key without PQ_NIL whose values have one form (pq_normalise). */
uint32_t pq_spans_hash(const struct pq_spans *spans, const struct pq_value *key);

/*
 * The slot of the key's span, or the free one where it would be: until a span is opened or
 * closed.
 */
struct pb_slot *pq_spans_find(const struct pq_spans *spans, const struct pq_value *key,
			      uint32_t hash);

/*
 * Opens a span of a key that has none; all its values are absent yet, the key's, too.
 * UINT32_MAX: no memory.
 */
uint32_t pq_spans_open(struct pq_spans *spans, const struct pq_value *key, uint32_t hash);

void pq_spans_close(struct pq_spans *spans, struct pb_slot *slot);

static inline size_t pq_spans_n_open(const struct pq_spans *spans)
{
	return spans->map.n;
}

/* Closes all. */
void pq_spans_clear(struct pq_spans *spans);

#endif
