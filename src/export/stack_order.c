#define _GNU_SOURCE /* qsort_r */

#include "stack_order.h"

#include <stdlib.h>

#include "base/vector.h"

/* A line with the node that called it, and what was added to it. */
struct node {
	uint64_t own, total; /* weight of stacks that end here; of all that it is in */
	uint32_t callee;     /* the heaviest; PE_NONE: none */
	uint32_t next;	     /* the callee of its caller that weighs less; PE_NONE: none */
	bool is_end;	     /* stacks end here */
	bool is_added;
};

struct pe_stack_order {
	const struct pe_profile *profile;
	struct pb_set calls; /* of pq_call_node, whose frames are lines: a node each */
	uint32_t *of_chains; /* [chains + 1]: their nodes; PE_NONE: not known yet */
	struct node *nodes;  /* [n_nodes], at least as many as calls */
	uint32_t *added;     /* [room of n_added] nodes of the stacks that were added */
	uint32_t *ends;	     /* [room of n_ends] those where stacks end */
	uint32_t *lines;     /* [n_lines], at least as many as a stack has */
	size_t n_nodes, added_room, n_added, ends_room, n_ends, n_lines;
};

static const struct pq_call_node *call_at(const struct pe_stack_order *order, uint32_t i)
{
	return pb_set_at(&order->calls, i);
}

struct pe_stack_order *pe_stack_order_create(const struct pe_profile *p)
{
	size_t n = (p->chains ? pq_chains_size(p->chains) : 0) + 1;
	struct pe_stack_order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	order->profile = p;
	pb_set_init(&order->calls, sizeof(struct pq_call_node));
	order->of_chains = malloc(n * sizeof(*order->of_chains));
	if (!order->of_chains) {
		pe_stack_order_destroy(order);
		return NULL;
	}
	memset(order->of_chains, 0xff, n * sizeof(*order->of_chains));
	return order;
}

void pe_stack_order_destroy(struct pe_stack_order *order)
{
	if (!order)
		return;
	pb_set_deinit(&order->calls);
	free(order->nodes);
	free(order->of_chains);
	free(order->added);
	free(order->ends);
	free(order->lines);
	free(order);
}

/* Returns the node of an entry's stack; PE_NONE: no memory. */
static uint32_t place_stack(struct pe_stack_order *order, const struct pe_entry *entry)
{
	struct pq_call_node call = { PQ_NO_CALLER, 0 };
	size_t n, depth = 0;
	const uint32_t *frames = pe_entry_frames(order->profile, entry, &n);

	while (n--) {
		uint32_t n_lines;
		const uint32_t *lines = pe_frame_lines(order->profile, frames[n], &n_lines);

		depth += n_lines;
		while (n_lines--) {
			call.frame = lines[n_lines];
			call.caller = pb_set_add(&order->calls, &call);
			if (call.caller == PE_NONE)
				return PE_NONE;
		}
	}
	if (depth > order->n_lines && !pb_extend(order->lines, order->n_lines, 2 * depth))
		return PE_NONE;
	return call.caller;
}

/* Makes nodes of new calls, and room for them. Returns false without memory. */
static bool extend_nodes(struct pe_stack_order *order)
{
	size_t n = order->n_nodes, wanted = 2 * order->calls.n;

	if (order->calls.n <= n)
		return true;
	if (!pb_reserve_more(order->added, 0, wanted, order->added_room) ||
	    !pb_reserve_more(order->ends, order->n_ends, wanted, order->ends_room) ||
	    !pb_extend(order->nodes, order->n_nodes, wanted))
		return false;
	for (; n < wanted; n++)
		order->nodes[n].callee = order->nodes[n].next = PE_NONE;
	return true;
}

uint32_t pe_stack_order_find(struct pe_stack_order *order, const struct pe_entry *entry)
{
	const struct pq_chains *chains = order->profile->chains;
	uint32_t chain = entry->stack;

	if (chain == PE_NONE)
		chain = chains ? (uint32_t)pq_chains_size(chains) : 0;
	if (order->of_chains[chain] == PE_NONE)
		order->of_chains[chain] = place_stack(order, entry);
	return order->of_chains[chain];
}

const struct pq_call_node *pe_stack_order_calls(const struct pe_stack_order *order, size_t *n)
{
	*n = order->calls.n;
	return (const void *)order->calls.items;
}

bool pe_stack_order_add(struct pe_stack_order *order, const struct pe_entry *entry)
{
	uint32_t number = pe_stack_order_find(order, entry);
	struct node *node;

	if (number == PE_NONE || !extend_nodes(order))
		return false;
	node = &order->nodes[number];
	if (!node->is_end)
		order->ends[order->n_ends++] = number;
	node->is_end = true;
	node->own += entry->weight;
	return true;
}

/* Adds to each node what the stacks weigh that it is in. */
static void add_totals(struct pe_stack_order *order)
{
	for (size_t i = 0; i < order->n_ends; i++) {
		uint64_t weight = order->nodes[order->ends[i]].own;

		for (uint32_t at = order->ends[i]; at != PE_NONE;
		     at = call_at(order, at)->caller) {
			struct node *node = &order->nodes[at];

			if (!node->is_added)
				order->added[order->n_added++] = at;
			node->is_added = true;
			node->total += weight;
		}
	}
}

/* Compares nodes by weight, the lightest first; those that weigh the same by line. */
static int compare_nodes(const void *left, const void *right, void *arg)
{
	const struct pe_stack_order *order = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t total_a = order->nodes[a].total, total_b = order->nodes[b].total;

	if (total_a != total_b)
		return total_a < total_b ? -1 : 1;
	return (call_at(order, a)->frame < call_at(order, b)->frame) -
	       (call_at(order, a)->frame > call_at(order, b)->frame);
}

/* Lists the callees of each node. Returns the heaviest node without a caller, or PE_NONE. */
static uint32_t list_callees(struct pe_stack_order *order)
{
	uint32_t first = PE_NONE;

	qsort_r(order->added, order->n_added, sizeof(*order->added), compare_nodes, order);
	for (size_t i = 0; i < order->n_added; i++) {
		uint32_t number = order->added[i], caller = call_at(order, number)->caller;
		uint32_t *list = caller == PE_NONE ? &first : &order->nodes[caller].callee;

		order->nodes[number].next = *list;
		*list = number;
	}
	return first;
}

const uint32_t *pe_stack_order_sort(struct pe_stack_order *order, size_t *n)
{
	uint32_t at;

	add_totals(order);
	at = list_callees(order);
	*n = 0;
	while (at != PE_NONE) {
		while (order->nodes[at].callee != PE_NONE)
			at = order->nodes[at].callee;
		do {
			if (order->nodes[at].is_end)
				order->ends[(*n)++] = at;
			if (order->nodes[at].next != PE_NONE)
				break;
			at = call_at(order, at)->caller;
		} while (at != PE_NONE);
		if (at != PE_NONE)
			at = order->nodes[at].next;
	}
	return order->ends;
}

const uint32_t *pe_stack_order_lines(struct pe_stack_order *order, uint32_t number, size_t *n)
{
	*n = 0;
	for (; number != PE_NONE; number = call_at(order, number)->caller)
		order->lines[(*n)++] = call_at(order, number)->frame;
	return order->lines;
}

uint64_t pe_stack_order_weight(const struct pe_stack_order *order, uint32_t number)
{
	return order->nodes[number].own;
}

void pe_stack_order_clear(struct pe_stack_order *order)
{
	for (size_t i = 0; i < order->n_added; i++) {
		struct node *node = &order->nodes[order->added[i]];

		*node = (struct node){
			.callee = PE_NONE,
			.next = PE_NONE,
		};
	}
	order->n_added = order->n_ends = 0;
}
