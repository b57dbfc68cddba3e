/*
 * Stacks of a profile in the order in which a left-heavy flame graph has them: of the lines
 * that a line calls the one first that weighs most with all it calls, and what the line spent
 * itself after them.
 */
#ifndef PERFLUA_EXPORT_STACK_ORDER_H
#define PERFLUA_EXPORT_STACK_ORDER_H

#include "profile.h"

struct pe_stack_order;

/* Makes an empty order of the stacks of a profile. Returns NULL without memory. */
struct pe_stack_order *pe_stack_order_create(const struct pe_profile *profile);
void pe_stack_order_destroy(struct pe_stack_order *order);

/* Adds an entry of the profile. Returns false without memory. */
bool pe_stack_order_add(struct pe_stack_order *order, const struct pe_entry *entry);

/*
 * Returns the stacks of the entries in order, and sets *n to how many they are. Those of the
 * same lines are one. The numbers are those of the functions below.
 */
const uint32_t *pe_stack_order_sort(struct pe_stack_order *order, size_t *n);

/* Returns the numbers of a stack's lines, callee first, until the next call, and sets *n. */
const uint32_t *pe_stack_order_lines(struct pe_stack_order *order, uint32_t number, size_t *n);

/* Returns what the stack weighs itself. */
uint64_t pe_stack_order_weight(const struct pe_stack_order *order, uint32_t number);

/*
 * Returns the number of an entry's stack, which is not added to the order; PE_NONE: no memory.
 */
uint32_t pe_stack_order_find(struct pe_stack_order *order, const struct pe_entry *entry);

/*
 * Returns all stacks that have numbers, and sets *n to how many they are: each is a line, in
 * place of a frame, that a stack of a lower number called.
 */
const struct pq_call_node *pe_stack_order_calls(const struct pe_stack_order *order, size_t *n);

/* Takes all entries out again. */
void pe_stack_order_clear(struct pe_stack_order *order);

#endif
