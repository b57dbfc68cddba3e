#include "unwind.h"

#include <dwarf.h>

#define MAX_STACK 64
#define MAX_STEPS 1024 /* operations executed, as branches may loop */

struct stack {
	const struct pm_expr_context *context;
	uint64_t values[MAX_STACK];
	unsigned n;
	bool failed; /* once set, it stays */
};

static void push_operand(struct stack *s, uint64_t v)
{
	if (s->n == MAX_STACK) {
		s->failed = true;
		return;
	}
	/* on 32-bit machines arithmetic wraps at 32 bits */
	if (s->context->word == 4)
		v &= UINT32_MAX;
	s->values[s->n++] = v;
}

static uint64_t pop_operand(struct stack *s)
{
	if (!s->n) {
		s->failed = true;
		return 0;
	}
	return s->values[--s->n];
}

/* Returns the operand `depth` below the top. */
static uint64_t peek_operand(struct stack *s, uint64_t depth)
{
	if (depth >= s->n) {
		s->failed = true;
		return 0;
	}
	return s->values[s->n - 1 - depth];
}

static void push_register(struct stack *s, uint64_t reg, uint64_t plus)
{
	uint64_t v;

	if (reg >= PS_REGISTERS || !pm_regs_get(s->context->regs, (unsigned)reg, &v)) {
		s->failed = true;
		return;
	}
	push_operand(s, v + plus);
}

static void push_memory(struct stack *s, uint64_t n)
{
	uint64_t v, address = pop_operand(s);

	if (s->failed || n > 8 || !n ||
	    !s->context->memory(s->context->arg, address, (unsigned)n, &v)) {
		s->failed = true;
		return;
	}
	push_operand(s, v);
}

/* Returns an operand as a signed number. */
static int64_t as_signed(const struct stack *s, uint64_t v)
{
	return s->context->word == 4 ? (int32_t)v : (int64_t)v;
}

static void run_unary(struct stack *s, const struct ps_op *op)
{
	uint64_t v = pop_operand(s);

	switch (op->atom) {
	case DW_OP_neg:
		push_operand(s, 0 - v);
		break;
	case DW_OP_not:
		push_operand(s, ~v);
		break;
	case DW_OP_abs:
		push_operand(s, as_signed(s, v) < 0 ? 0 - v : v);
		break;
	default: /* DW_OP_plus_uconst */
		push_operand(s, v + op->number);
	}
}

static uint64_t shift_value(const struct stack *s, uint64_t atom, uint64_t v, uint64_t by)
{
	bool all = by >= 64;

	if (atom == DW_OP_shl)
		return all ? 0 : v << by;
	if (atom == DW_OP_shr)
		return all ? 0 : v >> by;
	return (uint64_t)(as_signed(s, v) >> (all ? 63 : by));
}

/* Divides as two's complement does, also where C leaves the result undefined. */
static uint64_t divide_signed(struct stack *s, uint64_t a, uint64_t b)
{
	if (b == 0)
		s->failed = true;
	if (b == 0 || as_signed(s, b) == -1)
		return 0 - a;
	return (uint64_t)(as_signed(s, a) / as_signed(s, b));
}

static void run_binary(struct stack *s, const struct ps_op *op)
{
	uint64_t b = pop_operand(s), a = pop_operand(s);
	int64_t sa = as_signed(s, a), sb = as_signed(s, b);

	switch (op->atom) {
	case DW_OP_plus:
		push_operand(s, a + b);
		break;
	case DW_OP_minus:
		push_operand(s, a - b);
		break;
	case DW_OP_mul:
		push_operand(s, a * b);
		break;
	case DW_OP_div:
		push_operand(s, divide_signed(s, a, b));
		break;
	case DW_OP_mod:
		s->failed |= b == 0;
		push_operand(s, b ? a % b : 0);
		break;
	case DW_OP_and:
		push_operand(s, a & b);
		break;
	case DW_OP_or:
		push_operand(s, a | b);
		break;
	case DW_OP_xor:
		push_operand(s, a ^ b);
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		push_operand(s, shift_value(s, op->atom, a, b));
		break;
	case DW_OP_eq:
		push_operand(s, sa == sb);
		break;
	case DW_OP_ne:
		push_operand(s, sa != sb);
		break;
	case DW_OP_lt:
		push_operand(s, sa < sb);
		break;
	case DW_OP_le:
		push_operand(s, sa <= sb);
		break;
	case DW_OP_gt:
		push_operand(s, sa > sb);
		break;
	default: /* DW_OP_ge */
		push_operand(s, sa >= sb);
	}
}

static void run_stack_operation(struct stack *s, const struct ps_op *op)
{
	uint64_t a, b, c;

	switch (op->atom) {
	case DW_OP_dup:
		push_operand(s, peek_operand(s, 0));
		break;
	case DW_OP_over:
		push_operand(s, peek_operand(s, 1));
		break;
	case DW_OP_pick:
		push_operand(s, peek_operand(s, op->number));
		break;
	case DW_OP_drop:
		pop_operand(s);
		break;
	case DW_OP_swap:
		b = pop_operand(s), a = pop_operand(s);
		push_operand(s, b);
		push_operand(s, a);
		break;
	default: /* DW_OP_rot */
		c = pop_operand(s), b = pop_operand(s), a = pop_operand(s);
		push_operand(s, c);
		push_operand(s, a);
		push_operand(s, b);
	}
}

/* Executes one operation that is not a branch. */
static void run_operation(struct stack *s, const struct ps_op *op)
{
	uint64_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		push_operand(s, atom - DW_OP_lit0);
	else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		push_register(s, atom - DW_OP_breg0, op->number);
	else if (atom == DW_OP_bregx)
		push_register(s, op->number, op->number2);
	else if (atom == DW_OP_addr || (atom >= DW_OP_const1u && atom <= DW_OP_consts))
		push_operand(s, op->number);
	else if (atom == DW_OP_call_frame_cfa)
		push_operand(s, s->context->cfa);
	else if (atom == DW_OP_deref)
		push_memory(s, s->context->word);
	else if (atom == DW_OP_deref_size)
		push_memory(s, op->number);
	else if (atom >= DW_OP_dup && atom <= DW_OP_rot)
		run_stack_operation(s, op);
	else if (atom == DW_OP_abs || atom == DW_OP_neg || atom == DW_OP_not ||
		 atom == DW_OP_plus_uconst)
		run_unary(s, op);
	else if ((atom >= DW_OP_and && atom <= DW_OP_xor) ||
		 (atom >= DW_OP_eq && atom <= DW_OP_ne))
		run_binary(s, op);
	else if (atom != DW_OP_nop)
		s->failed = true;
}

/*
 * Returns the number of the operation that branch `i` goes to; n: the end; n + 1: no such one.
 */
static size_t find_branch_target(const struct ps_op *ops, size_t n, size_t i)
{
	/* a branch is 3 bytes long, and its offset counts from its end */
	uint64_t offset = ops[i].offset + 3 + ops[i].number;

	for (size_t k = 0; k < n; k++)
		if (ops[k].offset == offset)
			return k;
	return offset > ops[n - 1].offset ? n : n + 1;
}

bool pm_evaluate(const struct pm_expr_context *context, const struct ps_op *ops, size_t n,
		 uint64_t *out)
{
	struct stack s = { .context = context };
	size_t i = 0;

	for (unsigned steps = 0; i < n && !s.failed; steps++) {
		bool branch = ops[i].atom == DW_OP_skip ||
			      (ops[i].atom == DW_OP_bra && pop_operand(&s) != 0);

		if (steps == MAX_STEPS)
			return false;
		if (branch)
			i = find_branch_target(ops, n, i);
		else if (ops[i].atom == DW_OP_bra)
			i++;
		else
			run_operation(&s, &ops[i++]);
	}
	if (i > n || s.failed || !s.n)
		return false;
	*out = s.values[s.n - 1];
	return true;
}
