/*
 * Compares values: their order, whether they are in a set of constants, and which comparisons
 * are ranges.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static bool adapts_sign(enum pq_kind kind) /* is as signed as what it is compared with */
{
	return kind == PQ_K_NATURAL || kind == PQ_K_BITS || kind == PQ_K_ANY;
}

unsigned pq_order_signs(enum pq_kind a, enum pq_kind b)
{
	const unsigned both = PQ_LEFT_UNSIGNED | PQ_RIGHT_UNSIGNED;

	if (pq_is_unsigned(a))
		return pq_is_unsigned(b) || adapts_sign(b) ? both : PQ_LEFT_UNSIGNED;
	if (pq_is_unsigned(b))
		return adapts_sign(a) ? both : PQ_RIGHT_UNSIGNED;
	if ((a == PQ_K_BITS && b == PQ_K_ANY) || (a == PQ_K_ANY && b == PQ_K_BITS))
		return both;
	return 0;
}

static bool is_integer(enum pq_kind kind)
{
	return kind == PQ_K_SIGNED || kind == PQ_K_NATURAL || kind == PQ_K_BITS ||
	       pq_is_unsigned(kind);
}

/*
 * Makes a comparison with a constant into a range: from the lowest integer or the constant to
 * the constant or the highest one. Whether integers are signed follows from the other operand.
 */
static void set_range(struct pq_insn *insn, uint64_t constant)
{
	uint64_t lowest = insn->signs & PQ_LEFT_UNSIGNED ? 0 : (uint64_t)INT64_MIN;
	uint64_t highest = lowest - 1, low = constant, high = constant;
	bool less = insn->orders & 1 << PQ_IS_LESS;
	bool greater = insn->orders & 1 << PQ_IS_GREATER;
	bool equal = insn->orders & 1 << PQ_IS_EQUAL;
	bool none = (less && !equal && constant == lowest) ||
		    (greater && !equal && constant == highest);

	if (none) { /* matches all others */
		union pq_target yes = insn->yes;

		insn->yes = insn->no;
		insn->no = yes;
		low = lowest;
		high = highest;
	} else if (less) {
		low = lowest;
		high = equal ? constant : constant - 1;
	} else if (greater) {
		low = equal ? constant : constant + 1;
		high = highest;
	}
	insn->low = low;
	insn->width = high - low;
}

/* Returns true if a comparison can be a range: both sides have the same signedness. */
static bool is_range(const struct pq_insn *insn, const struct pq_node *left,
		     const struct pq_node *right)
{
	return is_integer(left->kind) && is_integer(right->kind) && right->op == PQ_CONST &&
	       right->constant.type == PQ_INT &&
	       (insn->signs == 0 || insn->signs == (PQ_LEFT_UNSIGNED | PQ_RIGHT_UNSIGNED) ||
		right->constant.i >= 0);
}

/* Returns the integer field of which a tree takes bits: "field & 3"; NULL: it does not. */
static const struct pq_node *get_masked_field(const struct pq_node *node)
{
	if (node->op != PQ_BAND || !node->left || !node->right)
		return NULL;
	if (node->left->op != PQ_FIELD || !is_integer(node->left->kind) ||
	    node->right->op != PQ_CONST || node->right->constant.type != PQ_INT)
		return NULL;
	return node->left;
}

bool pq_range_of(struct pq_insn *insn, const struct pq_node **left, const struct pq_node *right)
{
	const struct pq_node *field;

	if (!is_range(insn, *left, right))
		return false;
	set_range(insn, right->constant.u);
	field = get_masked_field(*left);
	insn->mask = field ? (*left)->right->constant.u : UINT64_MAX;
	*left = field ? field : *left;
	return true;
}

static enum pq_order reverse_order(enum pq_order order)
{
	return order > PQ_IS_GREATER ? order : (enum pq_order)(PQ_IS_GREATER - order);
}

static enum pq_order signed_order(int64_t a, int64_t b)
{
	return a < b ? PQ_IS_LESS : a > b ? PQ_IS_GREATER : PQ_IS_EQUAL;
}

static enum pq_order unsigned_order(uint64_t a, uint64_t b)
{
	return a < b ? PQ_IS_LESS : a > b ? PQ_IS_GREATER : PQ_IS_EQUAL;
}

static enum pq_order float_order(double a, double b)
{
	if (a < b)
		return PQ_IS_LESS;
	if (a > b)
		return PQ_IS_GREATER;
	return a == b ? PQ_IS_EQUAL : PQ_UNORDERED;
}

/* Compares an integer with a float: with its whole part, an integer, then with its fraction. */
static enum pq_order mixed_order(const struct pq_value *a, bool is_unsigned, double f)
{
	double whole = floor(f);
	enum pq_order order;

	if (isnan(f))
		return PQ_UNORDERED;
	if (f >= (is_unsigned ? 0x1p64 : 0x1p63))
		return PQ_IS_LESS;
	if (f < (is_unsigned ? 0 : -0x1p63))
		return PQ_IS_GREATER;
	order = is_unsigned ? unsigned_order(a->u, (uint64_t)whole) :
			      signed_order(a->i, (int64_t)whole);
	return order == PQ_IS_EQUAL && f > whole ? PQ_IS_LESS : order;
}

static enum pq_order integer_order(const struct pq_value *a, const struct pq_value *b,
				   unsigned signs)
{
	switch (signs) {
	case 0:
		return signed_order(a->i, b->i);
	case PQ_LEFT_UNSIGNED:
		return b->i < 0 ? PQ_IS_GREATER : unsigned_order(a->u, b->u);
	case PQ_RIGHT_UNSIGNED:
		return a->i < 0 ? PQ_IS_LESS : unsigned_order(a->u, b->u);
	default:
		return unsigned_order(a->u, b->u);
	}
}

static enum pq_order text_order(const struct pq_value *a, const struct pq_value *b)
{
	size_t n = a->size < b->size ? a->size : b->size;
	int diff = n ? memcmp(a->p, b->p, n) : 0;

	if (diff)
		return diff < 0 ? PQ_IS_LESS : PQ_IS_GREATER;
	return unsigned_order(a->size, b->size);
}

enum pq_order pq_order(const struct pq_value *a, const struct pq_value *b, unsigned signs)
{
	if (a->type == PQ_INT && b->type == PQ_INT)
		return integer_order(a, b, signs);
	if (a->type == PQ_INT && b->type == PQ_FLOAT)
		return mixed_order(a, signs & PQ_LEFT_UNSIGNED, b->f);
	if (a->type == PQ_FLOAT && b->type == PQ_INT)
		return reverse_order(mixed_order(b, signs & PQ_RIGHT_UNSIGNED, a->f));
	if (a->type != b->type)
		return PQ_UNORDERED;
	switch (a->type) {
	case PQ_FLOAT:
		return float_order(a->f, b->f);
	case PQ_TEXT:
		return text_order(a, b);
	case PQ_BOOL:
	case PQ_CHAIN:
	case PQ_OBJECT:
		return a->u == b->u ? PQ_IS_SAME : PQ_UNORDERED;
	case PQ_EVENT:
		return a->event == b->event ? PQ_IS_SAME : PQ_UNORDERED;
	default:
		return PQ_UNORDERED;
	}
}

struct pq_set {
	size_t n;
	struct pq_value values[]; /* normalised and sorted */
};

/* Orders values so that only equal ones compare as equal; the order has no other meaning. */
static int compare_in_set(const struct pq_value *a, const struct pq_value *b)
{
	int diff = 0;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->type != PQ_TEXT)
		return a->u < b->u ? -1 : a->u > b->u;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	if (a->size)
		diff = memcmp(a->p, b->p, a->size);
	return diff;
}

static int compare_any(const void *a, const void *b)
{
	return compare_in_set(a, b);
}

struct pq_set *pq_set_create(const struct pq_value *values, size_t n)
{
	struct pq_set *set = n > SIZE_MAX / 2 / sizeof(*values) ?
				     NULL :
				     malloc(sizeof(*set) + n * sizeof(*values));

	if (!set)
		return NULL;
	set->n = n;
	for (size_t i = 0; i < n; i++) {
		set->values[i] = values[i];
		pq_normalise(&set->values[i]);
	}
	if (n)
		qsort(set->values, n, sizeof(*values), compare_any);
	return set;
}

void pq_set_destroy(struct pq_set *set)
{
	free(set);
}

bool pq_set_has(const struct pq_set *set, const struct pq_value *value)
{
	struct pq_value wanted = *value;
	size_t low = 0, high = set->n;

	pq_normalise(&wanted);
	if (wanted.type == PQ_NIL)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int diff = compare_in_set(&wanted, &set->values[middle]);

		if (!diff)
			return true;
		if (diff < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}
