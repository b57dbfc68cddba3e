#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "perfdata/format/print_scalar.h"

static int compare_texts(struct pd_text a, struct pd_text b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare_labels(const void *left, const void *right)
{
	const struct px_label *a = left, *b = right;
	int order = compare_texts(a->symbol, b->symbol);

	return order ? order : compare_texts(a->binary, b->binary);
}

void px_labels_sort(struct px_labels *labels)
{
	qsort(labels->list, labels->n, sizeof(labels->list[0]), compare_labels);
}

static struct pd_text text_of(const struct pq_value *value)
{
	if (value->type != PQ_TEXT)
		return (struct pd_text){ "", 0 };
	return (struct pd_text){ value->p, value->size };
}

void px_labels_print(const struct px_labels *labels, const struct pq_value *symbol,
		     const struct pq_value *binary, struct pd_print *out)
{
	const struct px_label key = { .symbol = text_of(symbol), .binary = text_of(binary) };
	const struct px_label *found;
	struct pd_text text = { "-", 1 };

	if (symbol->type == PQ_TEXT) {
		found = bsearch(&key, labels->list, labels->n, sizeof(key), compare_labels);
		text = found ? found->text : labels->none;
	}
	pd_print_bytes(out, text.p, text.n);
}
