#include "node.h"

static bool is_same_leaf(const struct pq_node *a, const struct pq_node *b)
{
	if (a->op != b->op || a->kind != b->kind)
		return false;
	if (a->op == PQ_FIELD)
		return a->field == b->field;
	return a->op == PQ_CONST && a->constant.type == PQ_INT && b->constant.type == PQ_INT &&
	       a->constant.u == b->constant.u;
}

bool pq_computes_same(const struct pq_node *a, const struct pq_node *b)
{
	if (a->op == PQ_FIELD)
		return is_same_leaf(a, b);
	return a->op == b->op && a->kind == b->kind && a->op >= PQ_ADD && a->op < PQ_NEG &&
	       is_same_leaf(a->left, b->left) && is_same_leaf(a->right, b->right);
}
