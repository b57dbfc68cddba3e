/*
 * Open spans by key. One array holds the values of all spans: the key of each, then the kept
 * values of the record that opened it. There may be millions of spans, so a value is a word of
 * 4 bytes, or of 8 if it was too large for one span, and its type lies in a second array, which
 * is made for the first one that is not an integer.
 *
 * A list links the spans in the order in which they were opened; lost spans are not in it, and
 * are found by key only. The places of closed spans are used again.
 */
#ifndef PERFLUA_QUERY_SPANS_H
#define PERFLUA_QUERY_SPANS_H

#include <string.h>

#include "base/map.h"
#include "query/chains/strings.h"
#include "query/scope/scope.h"

#define PQ_NO_SPAN UINT32_MAX

/* The state of a span besides its values. */
union pq_span_state {
	/*
	 * an open span: numbers of the spans opened before and after it; a closed span: `after`
	 * is the number of the one that was closed before it
	 */
	struct {
		uint32_t before, after;
	};
	uint64_t at_least; /* a lost span: ns that it was open, which the caller sets */
};

/* The rest of a value besides its word, as in struct pq_value. */
struct pq_word_kind {
	uint8_t type;
	uint16_t id;
	uint32_t size;
};

/* The place of a word among those of a span. */
struct pq_word_place {
	uint32_t at;  /* offset in bytes */
	bool is_wide; /* it has 8 bytes, else 4 */
};

struct pq_spans {
	struct pq_calls *calls; /* holds the objects among values; NULL: no value is one */
	struct pb_secret secret;
	struct pb_map map; /* numbers of open spans, by key */
	size_t n, capacity;
	char *words;		      /* [capacity * stride] */
	struct pq_word_place *places; /* [n_values] */
	size_t stride;		      /* bytes of a span's words */
	struct pq_word_kind *kinds;   /* [kinds_room * n_values]; NULL: all are integers */
	size_t kinds_room;
	union pq_span_state *states; /* [states_room], by span */
	size_t states_room;
	uint8_t *lost; /* [n_lost_bytes]: a bit for each span, set if it is lost */
	size_t n_lost_bytes;
	uint16_t *sources; /* [n_sources]: recording of each span; NULL: all have `source` */
	size_t n_sources;
	uint16_t source;
	uint32_t first, last;	 /* ends of the list; PQ_NO_SPAN: it is empty */
	uint32_t closed;	 /* the span that was closed last; PQ_NO_SPAN: none */
	size_t n_lost;		 /* number of lost spans */
	size_t n_keys, n_values; /* numbers of values of a key, and of a span */
};

/* Initializes *spans. Returns false without memory; call pq_spans_deinit() even then. */
bool pq_spans_init(struct pq_spans *spans, size_t n_keys, size_t n_kept,
		   struct pq_calls *calls);
void pq_spans_deinit(struct pq_spans *spans);

/* Returns the word of the value at `i` of a span: those of its key, then the kept ones. */
static inline uint64_t pq_span_word(const struct pq_spans *spans, uint32_t span, size_t i)
{
	const struct pq_word_place *place = &spans->places[i];
	const char *p = spans->words + span * spans->stride + place->at;
	uint64_t wide;
	uint32_t narrow;

	if (place->is_wide) {
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, p, sizeof(narrow));
	return narrow;
}

/* Sets *out to the value at `i` of a span, to which it still belongs. */
static inline void pq_span_get(const struct pq_spans *spans, uint32_t span, size_t i,
			       struct pq_value *out)
{
	const struct pq_word_kind *kind;

	out->type = PQ_INT;
	out->u = pq_span_word(spans, span, i);
	if (!spans->kinds)
		return;
	kind = &spans->kinds[span * spans->n_values + i];
	out->type = kind->type;
	out->id = kind->id;
	out->size = kind->size;
	if (sizeof(out->p) < sizeof(out->u) && (out->type == PQ_TEXT || out->type == PQ_EVENT))
		out->p = (const char *)(uintptr_t)out->u;
}

/* Makes spans->kinds. Returns false without memory. */
bool pq_spans_make_kinds(struct pq_spans *spans);

/* Makes the words at `i` of all spans wide. Returns false without memory. */
bool pq_spans_widen(struct pq_spans *spans, size_t i);

/*
 * Sets the value at `i` of a span, which then owns it; the value before is not released.
 * Returns false without memory.
 */
static inline bool pq_span_set(struct pq_spans *spans, uint32_t span, size_t i,
			       const struct pq_value *value)
{
	const struct pq_word_place *place = &spans->places[i];
	uint64_t word = value->type == PQ_NIL ? 0 : pq_bits(value);
	uint32_t narrow = (uint32_t)word;
	char *p;

	if (value->type != PQ_INT && !spans->kinds && !pq_spans_make_kinds(spans))
		return false;
	if (narrow != word && !place->is_wide && !pq_spans_widen(spans, i))
		return false;
	p = spans->words + span * spans->stride + place->at;
	if (place->is_wide)
		memcpy(p, &word, sizeof(word));
	else
		memcpy(p, &narrow, sizeof(narrow));
	if (spans->kinds)
		spans->kinds[span * spans->n_values + i] = (struct pq_word_kind){ value->type,
										  value->id,
										  value->size };
	return true;
}

static inline bool pq_span_is_lost(const struct pq_spans *spans, uint32_t span)
{
	return spans->n_lost && spans->lost[span / 8] >> span % 8 & 1;
}

static inline uint16_t pq_span_source(const struct pq_spans *spans, uint32_t span)
{
	return spans->sources ? spans->sources[span] : spans->source;
}

/* Sets the recording of a span. Returns false without memory. */
bool pq_span_set_source(struct pq_spans *spans, uint32_t span, uint16_t source);

/* Frees a text that has no number, or releases an object. */
void pq_span_release(const struct pq_spans *spans, const struct pq_value *value);

/*
 * Makes n values of a span absent from `i` on, and releases them; integers stay where all
 * values are such.
 */
void pq_span_clear(const struct pq_spans *spans, uint32_t span, size_t i, size_t n);

/*
 * Makes n values absent that lie elsewhere. Frees their texts, except for those with a number,
 * and releases their objects.
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

/* Returns the hash of a key of any values: pq_spans_hash(). */
uint32_t pq_spans_hash_values(const struct pq_spans *spans, const struct pq_value *key);

/* Returns the hash of a key whose values are normalised (pq_normalise) and not PQ_NIL. */
static inline uint32_t pq_spans_hash(const struct pq_spans *spans, const struct pq_value *key)
{
	if (spans->n_keys != 1 || key->type != PQ_INT)
		return pq_spans_hash_values(spans, key);
	return (uint32_t)pb_mix(key->u ^ spans->secret.a, spans->secret.b ^ PQ_INT);
}

/*
 * Returns the slot of the span with this key, or the empty slot where it belongs. The slot is
 * valid until a span is opened or closed.
 */
struct pb_slot *pq_spans_find(const struct pq_spans *spans, const struct pq_value *key,
			      uint32_t hash);

/* Returns the slot of an open span; a free one if the span is not open. */
struct pb_slot *pq_spans_slot(const struct pq_spans *spans, uint32_t span);

/*
 * Opens a span for a key without an open one, in the free slot that was found for it. The
 * caller sets its values, also those of the key. Returns its number; PQ_NO_SPAN without memory.
 */
uint32_t pq_spans_open(struct pq_spans *spans, const struct pq_value *key, uint32_t hash,
		       struct pb_slot *slot);

/*
 * Gives an open span another key, which no open span has, and which it then owns. The values of
 * its old key are released. Returns false without memory.
 */
bool pq_spans_move(struct pq_spans *spans, uint32_t span, const struct pq_value *key,
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
