/*
 * A saved result: a line that says what its keys and measures are, a letter or two for each;
 * the head, up to a tab; and the body, to which the end is added.
 *
 * A loaded result is saved as a line that loads as the same result, also when it is added to
 * itself.
 */
#include "common.h"
#include "result/saved.h"

#include <stdlib.h>
#include <string.h>

#define N_SECTIONS 3
#define MOST	   16 /* keys; measures */

struct text {
	char *p;
	size_t n;
};

static void add_bytes(void *arg, const char *p, size_t n)
{
	struct text *text = arg;

	text->p = realloc(text->p, text->n + n);
	memcpy(text->p + text->n, p, n);
	text->n += n;
}

static struct text save_result(const struct pr_result *result, const struct fuzz_part *head)
{
	struct pd_print *out = malloc(sizeof(*out));
	struct text text = { 0 };

	pd_print_init(out, add_bytes, &text);
	FUZZ_CHECK(pr_save(out, result, (const char *)head->bytes, head->n));
	pd_print_flush(out);
	free(out);
	return text;
}

/*
 * Kinds of values, by letter. A capital letter begins a measure, whose number it is, from A on;
 * its kind comes after it.
 */
static enum pr_kind kind_of_letter(uint8_t c)
{
	static const char kinds[] = "nsuafptbk";
	const char *at = c ? strchr(kinds, c) : NULL;

	return at ? (enum pr_kind)(at - kinds) : PR_ANY;
}

static bool has_state(unsigned measure)
{
	const struct pq_measure_row *row = pq_measure_row(measure);

	return pq_count_parts(row) || row->last_bucket || row->has_set;
}

static void read_shape(const uint8_t *p, size_t n, struct pr_shape *shape, struct pr_key *keys,
		       struct pr_measure *measured)
{
	for (size_t i = 0; i < n; i++) {
		unsigned measure = p[i] - (unsigned)'A';

		if (p[i] < 'A' || p[i] > 'Z') {
			if (shape->n_keys < MOST)
				keys[shape->n_keys++].kind = kind_of_letter(p[i]);
			continue;
		}
		measure %= PQ_MEASURE_KINDS;
		if (has_state(measure) && shape->n_measures < MOST)
			measured[shape->n_measures++] = (struct pr_measure){
				(enum pq_measure_kind)measure,
				i + 1 < n ? kind_of_letter(p[++i]) : PR_ANY,
			};
	}
}

/* Splits an input at the first byte `at` of it. Returns false if there is none. */
static bool split_input(struct fuzz_part *rest, char at, struct fuzz_part *part)
{
	const uint8_t *end = rest->n ? memchr(rest->bytes, at, rest->n) : NULL;

	if (!end)
		return false;
	*part = (struct fuzz_part){ rest->bytes, (size_t)(end - rest->bytes) };
	*rest = (struct fuzz_part){ end + 1, rest->n - part->n - 1 };
	return true;
}

static struct pr_result *load_line(const struct text *line, const struct fuzz_part *head,
				   const struct pr_shape *shape, struct pq_stacks *stacks)
{
	const char *body = (const char *)memchr(line->p, '\t', line->n) + 1;
	struct pr_load_error err;

	return pr_load((const char *)head->bytes, head->n, body,
		       line->n - 1 - (size_t)(body - line->p), shape, stacks, N_SECTIONS, &err);
}

static void check_saved_again(const struct pr_result *result, const struct fuzz_part *head)
{
	struct pq_stacks *stacks = pq_stacks_create();
	struct text line = save_result(result, head), again;
	struct pr_result *loaded = load_line(&line, head, &result->shape, stacks);

	FUZZ_CHECK(loaded);
	again = save_result(loaded, head);
	FUZZ_CHECK(again.n == line.n && memcmp(again.p, line.p, line.n) == 0);
	free(line.p);
	free(again.p);
	pr_destroy(loaded);
	pq_stacks_destroy(stacks);
}

/* Adds a result to itself: its sums may become too large, its groups stay as many. */
static void check_added(const struct pr_result *result)
{
	struct pr_result *sum = pr_create(&result->shape, result->stacks);
	struct pq_value keys[MOST + 1];
	struct pq_state states[MOST];
	size_t at;

	for (size_t i = 0, n = pr_size(result); i < 2 * n; i++) {
		for (size_t k = 0; k <= result->shape.n_keys; k++)
			pq_groups_key(result->groups, i % n, k, &keys[k]);
		for (size_t m = 0; m < result->shape.n_measures; m++)
			pq_groups_state(result->groups, i % n, m, &states[m]);
		FUZZ_CHECK(pr_put(sum, keys, states, &at) && at == i % n);
	}
	FUZZ_CHECK(pr_size(sum) == pr_size(result));
	pr_destroy(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_part rest = { bytes, n }, letters, head;
	struct pr_key keys[MOST] = { 0 };
	struct pr_measure measured[MOST];
	struct pr_shape shape = { .keys = keys, .measures = measured };
	struct pq_stacks *stacks;
	struct pr_load_error err;
	struct pr_result *result;
	struct text body = { 0 };

	if (!split_input(&rest, '\n', &letters) || !split_input(&rest, '\t', &head))
		return 0;
	read_shape(letters.bytes, letters.n, &shape, keys, measured);
	add_bytes(&body, (const char *)rest.bytes, rest.n);
	add_bytes(&body, "end", 3);
	stacks = pq_stacks_create();
	result = pr_load((const char *)head.bytes, head.n, body.p, body.n, &shape, stacks,
			 N_SECTIONS, &err);
	FUZZ_CHECK(result || (err.expected && err.at <= body.n));
	if (result) {
		check_saved_again(result, &head);
		check_added(result);
	}
	pr_destroy(result);
	pq_stacks_destroy(stacks);
	free(body.p);
	return 0;
}
