#include "unwind_expr.h"

#include <dwarf.h>

#define MAX_STACK 64
#define MAX_STEPS 1024 /* operations that are done: branches may go back */

struct stack {
	const struct pm_context *context;
	uint64_t values[MAX_STACK];
	unsigned n;
	bool failed; /* stays so */
};

static void push(struct stack *s, uint64_t v)
{
	if (s->n == MAX_STACK) {
		s->failed = true;
		return;
	}
	/* of what is shorter than 8 bytes only the lower ones count */
	if (s->context->word == 4)
		v &= UINT32_MAX;
	s->values[s->n++] = v;
}

static uint64_t pop(struct stack *s)
{
	if (!s->n) {
		s->failed = true;
		return 0;
	}
	return s->values[--s->n];
}

/* The value `depth` places below the top. */
static uint64_t peek(struct stack *s, uint64_t depth)
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
	push(s, v + plus);
}

static void dereference(struct stack *s, uint64_t n)
{
	uint64_t v, address = pop(s);

	if (s->failed || n > 8 || !n ||
	    !s->context->memory(s->context->arg, address, (unsigned)n, &v)) {
		s->failed = true;
		return;
	}
	push(s, v);
}

/* Numbers have a sign where an operation minds it. */
static int64_t signed_of(const struct stack *s, uint64_t v)
{
	return s->context->word == 4 ? (int32_t)v : (int64_t)v;
}

static void do_unary(struct stack *s, const struct ps_op *op)
{
	uint64_t v = pop(s);

	switch (op->atom) {
	case DW_OP_neg:
		push(s, 0 - v);
		break;
	case DW_OP_not:
		push(s, ~v);
		break;
	case DW_OP_abs:
		push(s, signed_of(s, v) < 0 ? 0 - v : v);
		break;
	default: /* DW_OP_plus_uconst */
		push(s, v + op->number);
	}
}

static uint64_t shifted(const struct stack *s, uint64_t atom, uint64_t v, uint64_t by)
{
	bool all = by >= 64;

	if (atom == DW_OP_shl)
		return all ? 0 : v << by;
	if (atom == DW_OP_shr)
		return all ? 0 : v >> by;
	return (uint64_t)(signed_of(s, v) >> (all ? 63 : by));
}

/* As two's complement has it, also where C leaves it open. */
static uint64_t divided(struct stack *s, uint64_t a, uint64_t b)
{
	if (b == 0)
		s->failed = true;
	if (b == 0 || signed_of(s, b) == -1)
		return 0 - a;
	return (uint64_t)(signed_of(s, a) / signed_of(s, b));
}

static void do_binary(struct stack *s, const struct ps_op *op)
{
	uint64_t b = pop(s), a = pop(s);
	int64_t sa = signed_of(s, a), sb = signed_of(s, b);

	switch (op->atom) {
	case DW_OP_plus:
		push(s, a + b);
		break;
	case DW_OP_minus:
		push(s, a - b);
		break;
	case DW_OP_mul:
		push(s, a * b);
		break;
	case DW_OP_div:
		push(s, divided(s, a, b));
		break;
	case DW_OP_mod:
		s->failed |= b == 0;
		push(s, b ? a % b : 0);
		break;
	case DW_OP_and:
		push(s, a & b);
		break;
	case DW_OP_or:
		push(s, a | b);
		break;
	case DW_OP_xor:
		push(s, a ^ b);
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		push(s, shifted(s, op->atom, a, b));
		break;
	case DW_OP_eq:
		push(s, sa == sb);
		break;
	case DW_OP_ne:
		push(s, sa != sb);
		break;
	case DW_OP_lt:
		push(s, sa < sb);
		break;
	case DW_OP_le:
		push(s, sa <= sb);
		break;
	case DW_OP_gt:
		push(s, sa > sb);
		break;
	default: /* DW_OP_ge */
		push(s, sa >= sb);
	}
}

static void do_stack(struct stack *s, const struct ps_op *op)
{
	uint64_t a, b, c;

	switch (op->atom) {
	case DW_OP_dup:
		push(s, peek(s, 0));
		break;
	case DW_OP_over:
		push(s, peek(s, 1));
		break;
	case DW_OP_pick:
		push(s, peek(s, op->number));
		break;
	case DW_OP_drop:
		pop(s);
		break;
	case DW_OP_swap:
		b = pop(s), a = pop(s);
		push(s, b);
		push(s, a);
		break;
	default: /* DW_OP_rot */
		c = pop(s), b = pop(s), a = pop(s);
		push(s, c);
		push(s, a);
		push(s, b);
	}
}

/* One operation that is no branch. */
static void operate(struct stack *s, const struct ps_op *op)
{
	uint64_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		push(s, atom - DW_OP_lit0);
	else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		push_register(s, atom - DW_OP_breg0, op->number);
	else if (atom == DW_OP_bregx)
		push_register(s, op->number, op->number2);
	else if (atom == DW_OP_addr || (atom >= DW_OP_const1u && atom <= DW_OP_consts))
		push(s, op->number);
	else if (atom == DW_OP_call_frame_cfa)
		push(s, s->context->cfa);
	else if (atom == DW_OP_deref)
		dereference(s, s->context->word);
	else if (atom == DW_OP_deref_size)
		dereference(s, op->number);
	else if (atom >= DW_OP_dup && atom <= DW_OP_rot)
		do_stack(s, op);
	else if (atom == DW_OP_abs || atom == DW_OP_neg || atom == DW_OP_not ||
		 atom == DW_OP_plus_uconst)
		do_unary(s, op);
	else if ((atom >= DW_OP_and && atom <= DW_OP_xor) ||
		 (atom >= DW_OP_eq && atom <= DW_OP_ne))
		do_binary(s, op);
	else if (atom != DW_OP_nop)
		s->failed = true;
}

/* The operation that a branch goes to, n for the end; beyond it: there is none. */
static size_t target(const struct ps_op *ops, size_t n, size_t i)
{
	/* a branch has 3 bytes, and counts from its end */
	uint64_t offset = ops[i].offset + 3 + ops[i].number;

	for (size_t k = 0; k < n; k++)
		if (ops[k].offset == offset)
			return k;
	return offset > ops[n - 1].offset ? n : n + 1;
}

bool pm_evaluate(const struct pm_context *context, const struct ps_op *ops, size_t n,
		 uint64_t *out)
{
	struct stack s = { .context = context };
	size_t i = 0;

	for (unsigned steps = 0; i < n && !s.failed; steps++) {
		bool branch = ops[i].atom == DW_OP_skip ||
			      (ops[i].atom == DW_OP_bra && pop(&s) != 0);

		if (steps == MAX_STEPS)
			return false;
		if (branch)
			i = target(ops, n, i);
		else if (ops[i].atom == DW_OP_bra)
			i++;
		else
			operate(&s, &ops[i++]);
	}
	if (i > n || s.failed || !s.n)
		return false;
	*out = s.values[s.n - 1];
	return true;
}
