/* Colours of cells, and widths that fit a terminal. */
#include <math.h>
#include <string.h>

#include "base/columns.h"
#include "cell_internal.h"
#include "writer.h"

#define RED   "31"
#define GREEN "32"

const char *pr_share_color(double percent)
{
	return fabs(percent) >= 5 ? RED : fabs(percent) > 0.5 ? GREEN : NULL;
}

/* Returns the colour of a verdict by its first word: more is red, less is green. */
static const char *verdict_color(const struct pq_value *cell)
{
	static const struct {
		const char *word, *color;
	} colors[] = { { "slower", RED },   { "more", RED },   { "new", RED },
		       { "faster", GREEN }, { "less", GREEN }, { "gone", GREEN } };

	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
		size_t n = strlen(colors[i].word);

		if (cell->size >= n && memcmp(cell->p, colors[i].word, n) == 0 &&
		    (cell->size == n || cell->p[n] == ' '))
			return colors[i].color;
	}
	return NULL;
}

const char *pr_cell_color(const struct pq_value *cell, const struct pr_column *column)
{
	if (cell->type == PQ_FLOAT && column->kind == PR_PERCENT)
		return pr_share_color(cell->f);
	if (cell->type == PQ_TEXT && column->is_verdict)
		return verdict_color(cell);
	return NULL;
}

void pr_print_colored(struct pd_print *out, const char *color, struct pd_text text)
{
	if (color) {
		pd_print_const(out, "\33[");
		pd_print_name(out, color);
		pd_print_char(out, 'm');
	}
	pd_print_bytes(out, text.p, text.n);
	if (color)
		pd_print_const(out, "\33[0m");
}

size_t pr_print_shortened(struct pd_print *out, const char *color, struct pd_text text,
			  size_t columns)
{
	size_t head, tail;
	const char *end = text.p + text.n;

	if (!pb_shorten(text.p, text.n, columns, &head, &tail)) {
		pr_print_colored(out, color, text);
		return pb_count_columns(text.p, text.n);
	}
	pr_print_colored(out, color, (struct pd_text){ text.p, head });
	pd_print_const(out, "…");
	pr_print_colored(out, tail ? color : NULL, (struct pd_text){ end - tail, tail });
	return pb_count_columns(text.p, head) + 1 + pb_count_columns(end - tail, tail);
}

/* Returns the column that is the widest of those that may shrink; `n`: there is none. */
static size_t find_widest(const size_t *widths, const size_t *least, size_t n)
{
	size_t widest = n;

	for (size_t i = 0; i < n; i++)
		if (widths[i] > least[i] && (widest == n || widths[i] > widths[widest]))
			widest = i;
	return widest;
}

void pr_fit_columns(size_t *widths, const size_t *least, size_t n, size_t room)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += widths[i];
	while (all > room) {
		size_t i = find_widest(widths, least, n), next = 0, less;

		if (i == n)
			return;
		/* down to the next one, so that the widest become equally wide */
		for (size_t k = 0; k < n; k++)
			if (widths[k] > least[k] && widths[k] < widths[i] && widths[k] > next)
				next = widths[k];
		less = widths[i] - (next > least[i] ? next : least[i]);
		less = next ? (less < all - room ? less : all - room) : 1;
		widths[i] -= less;
		all -= less;
	}
}
