#define _GNU_SOURCE /* qsort_r */
#include "report_rank.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/radix.h"

#define MANY 10000 /* numbers that are sorted without comparing them */

/*
 * A value to be ranked: an integer, or a text. A value with `behind` sorts behind all others:
 * it is an address, or begins like one.
 */
struct ranked {
	union {
		uint64_t number;
		const char *p;
	};
	uint32_t of;	    /* number of the owner or part */
	uint32_t size : 29; /* bytes of the text */
	uint32_t is_text : 1, behind : 1;
};

#define MAX_TEXT ((1u << 29) - 1) /* bytes of a text that count */
#define HEX_ROOM 24

/* Returns the text that a value is compared by, as in spec/support/model/report/order.lua. */
static struct pd_text as_text(const struct ranked *r, char room[HEX_ROOM])
{
	int n;

	if (r->is_text)
		return (struct pd_text){ r->p, r->size };
	n = snprintf(room, HEX_ROOM, r->behind ? "0x%016llx" : "%016llx",
		     (unsigned long long)r->number);
	return (struct pd_text){ room, (size_t)n };
}

static int compare_ranked(const void *left, const void *right, void *arg)
{
	const struct ranked *a = left, *b = right;
	struct pd_text text, other;
	char room[2][HEX_ROOM];
	int order;

	(void)arg;
	if (a->behind != b->behind)
		return a->behind ? 1 : -1;
	if (!a->is_text && !b->is_text)
		return (a->number > b->number) - (a->number < b->number);
	if (a->is_text && b->is_text && a->p == b->p)
		return 0;
	text = as_text(a, room[0]);
	other = as_text(b, room[1]);
	order = memcmp(text.p, other.p, text.n < other.n ? text.n : other.n);
	return order ? order : (text.n > other.n) - (text.n < other.n);
}

/*
 * Sorts a list of many numbers, which lies in the order of `of`, without comparing them.
 * Returns false, with the list unchanged, if there are few, others, large ones, or no memory.
 */
static bool sort_numbers(struct ranked *list, size_t n)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(n | 1);
	uint64_t *words, *sorted;

	for (size_t i = 0; i < n; i++)
		if (list[i].is_text || list[i].behind != list[0].behind ||
		    list[i].number >> (64 - bits))
			return false;
	words = n > MANY ? malloc(2 * n * sizeof(*words)) : NULL;
	if (!words)
		return false;
	for (size_t i = 0; i < n; i++)
		words[i] = list[i].number << bits | i;
	sorted = pb_radix_sort(words, words + n, n, bits);
	for (size_t i = 0; i < n; i++) {
		list[i].number = sorted[i] >> bits;
		list[i].of = (uint32_t)(sorted[i] & ((UINT64_C(1) << bits) - 1));
	}
	free(words);
	return true;
}

/*
 * Sets ranks[of] to the place of each among the different ones. Returns the number of these, at
 * least 1.
 */
static uint32_t rank_values(struct ranked *list, size_t n, uint32_t *ranks)
{
	uint32_t at = 0;

	if (!sort_numbers(list, n))
		qsort_r(list, n, sizeof(*list), compare_ranked, NULL);
	for (size_t i = 0; i < n; i++) {
		if (i && compare_ranked(&list[i - 1], &list[i], NULL) != 0)
			at++;
		ranks[list[i].of] = at;
	}
	return at + 1;
}

/* Writes a float as Lua shows it. */
static void float_text(double f, char *room, size_t size)
{
	int n = snprintf(room, size, "%.14g", f);

	if (n > 0 && (size_t)n + 3 < size && !room[strspn(room, "-0123456789")])
		memcpy(room + n, ".0", 3);
}

static void set_rank_text(struct ranked *r, struct pd_text text)
{
	r->p = text.p;
	r->size = text.n < MAX_TEXT ? (uint32_t)text.n & MAX_TEXT : MAX_TEXT;
	r->is_text = 1;
}

/* Keeps a copy of a text. Returns false without memory. */
static bool keep_column_text(struct pq_report *report, const char *text, size_t n,
			     struct ranked *r)
{
	uint32_t number = pm_string_pool_add(&report->strings,
					     (struct pd_text){ text, strnlen(text, n) });

	if (number != PM_NO_STRING)
		set_rank_text(r, report->strings.texts[number]);
	return number != PM_NO_STRING;
}

/* Converts a key's value for ranking. Returns false without memory. */
static bool rank_of_value(struct pq_report *report, const struct pq_value *v, bool is_signed,
			  struct ranked *r)
{
	const char *text;
	char room[40];
	size_t n;

	switch (v->type) {
	case PQ_NIL:
		set_rank_text(r, (struct pd_text){ "\xff", 1 });
		return true;
	case PQ_INT:
		r->number = is_signed ? v->u ^ UINT64_C(1) << 63 : v->u;
		return true;
	case PQ_BOOL:
		set_rank_text(r, v->u ? (struct pd_text){ "true", 4 } :
					(struct pd_text){ "false", 5 });
		return true;
	case PQ_EVENT:
		set_rank_text(r, (struct pd_text){ v->event->name, strlen(v->event->name) });
		return true;
	case PQ_FLOAT:
		float_text(v->f, room, sizeof(room));
		return keep_column_text(report, room, sizeof(room), r);
	case PQ_CHAIN:
		text = pq_chains_text(pq_groups_chains(report->groups), (uint32_t)v->u, &n);
		return text && keep_column_text(report, text, n, r);
	default:
		set_rank_text(r, (struct pd_text){ v->p, v->size });
		return true;
	}
}

/* Lists the values of a key, by owner. Returns false without memory. */
static bool list_key(struct pq_report *report, const struct pq_report_column *column,
		     struct ranked *list)
{
	struct pq_value value;

	for (size_t i = 0; i < report->n_owners; i++) {
		list[i] = (struct ranked){ .of = (uint32_t)i };
		pq_groups_key(report->groups, report->owners[i], column->key, &value);
		if (!rank_of_value(report, &value, column->is_signed, &list[i]))
			return false;
	}
	return true;
}

static void rank_of_symbol(const struct pq_report *report, const struct pq_report_part *part,
			   struct ranked *r)
{
	struct pd_text name = pq_report_symbol(report, part);

	if (name.p)
		set_rank_text(r, name);
	else if (part->placed)
		r->number = part->address;
	else
		set_rank_text(r, (struct pd_text){ PM_UNKNOWN, strlen(PM_UNKNOWN) });
	r->behind = !r->is_text || (r->size >= 2 && memcmp(r->p, "0x", 2) == 0);
}

/* Ranks cpumodes by name. */
static uint64_t rank_of_mode(uint8_t mode)
{
	static const uint8_t by_name[] = {
		[PD_CPUMODE_GUEST_KERNEL] = 0, [PD_CPUMODE_GUEST_USER] = 1,
		[PD_CPUMODE_HYPERVISOR] = 2,   [PD_CPUMODE_KERNEL] = 3,
		[PD_CPUMODE_UNKNOWN] = 4,      [PD_CPUMODE_USER] = 5,
	};

	return by_name[mode];
}

/* Lists the values that a column shows of the parts, by part. */
static void list_parts(const struct pq_report *report, enum pq_report_from from,
		       struct ranked *list)
{
	for (size_t i = 0; i < report->n_parts; i++) {
		const struct pq_report_part *part = &report->parts[i];

		list[i] = (struct ranked){ .of = (uint32_t)i };
		if (from == PQ_FROM_MODE)
			list[i].number = rank_of_mode(part->mode);
		else if (from == PQ_FROM_SYMBOL)
			rank_of_symbol(report, part, &list[i]);
		else
			set_rank_text(&list[i], report->strings.texts[part->dso]);
	}
}

bool pq_ranks_add(struct pq_report *report, const struct pq_report_column *column,
		  struct pq_ranks *ranks)
{
	bool of_parts = column->from != PQ_FROM_KEY;
	size_t n = of_parts ? report->n_parts : report->n_owners;
	struct ranked *list = malloc((n + 1) * sizeof(*list));
	uint32_t *by_number = malloc((n + 1) * sizeof(*by_number));
	bool listed = list && by_number;
	uint32_t different = 0;

	if (listed && of_parts)
		list_parts(report, column->from, list);
	else if (listed)
		listed = list_key(report, column, list);
	if (listed)
		different = rank_values(list, n, by_number);
	if (different > 1) {
		ranks->columns[ranks->n].n = different;
		ranks->columns[ranks->n].ranks = by_number;
		ranks->columns[ranks->n++].of_parts = of_parts;
		by_number = NULL;
	}
	free(list);
	free(by_number);
	return listed;
}
