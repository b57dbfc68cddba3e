#define _GNU_SOURCE /* memmem */

#include <stdlib.h>
#include <string.h>

#include "program.h"

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

struct pq_expr *pq_expr_create(const struct pq_node *node, struct pq_fields *fields)
{
	struct pq_expr *expr = calloc(1, sizeof(*expr));

	if (!expr || !pq_compile(expr, node, fields)) {
		pq_expr_destroy(expr);
		return NULL;
	}
	return expr;
}

void pq_insn_deinit(const struct pq_insn *insn)
{
	if (insn->run == pq_run_in)
		pq_set_destroy(insn->set);
	if (insn->run != pq_run_match && insn->run != pq_run_under && insn->run != pq_run_lower)
		return;
	if (insn->text) {
		pb_pattern_destroy(insn->text->pattern);
		free(insn->text->under.known);
		pb_string_deinit(&insn->text->result);
	}
	free(insn->text);
}

void pq_expr_destroy(struct pq_expr *expr)
{
	if (!expr)
		return;
	for (size_t i = 0; i < expr->n_code; i++)
		pq_insn_deinit(&expr->code[i]);
	free(expr->code);
	free(expr->regs);
	free(expr);
}

uint32_t pq_expr_field(const struct pq_expr *expr)
{
	return expr->field;
}

static inline const struct pq_insn *choose_branch(const struct pq_insn *in, bool holds)
{
	return holds ? in->yes.to : in->no.to;
}

static inline const struct pq_insn *in_range(const struct pq_insn *in, uint64_t x)
{
	return choose_branch(in, (x & in->mask) - in->low <= in->width);
}

/*
 * Runs a program, and returns the end that it reaches. Most tests are ranges: they run here,
 * without a call.
 */
static inline const struct pq_insn *run_program(const struct pq_expr *expr,
						struct pq_fields *fields)
{
	const struct pq_insn *in = expr->code + PQ_CODE_START;
	int64_t i;

	do {
		if (in->run == pq_run_range && pq_fields_integer(fields, in->field, &i))
			in = in_range(in, (uint64_t)i);
		else
			in = in->run(in, fields, expr->regs);
	} while (in->run);
	return in;
}

static bool is_true(const struct pq_value *value)
{
	return value->type != PQ_NIL && (value->type != PQ_BOOL || value->u);
}

bool pq_expr_test(const struct pq_expr *expr, struct pq_fields *fields)
{
	const struct pq_insn *end = run_program(expr, fields);

	if (end < expr->code + PQ_CODE_START) /* an end of a condition */
		return end == expr->code + PQ_CODE_TRUE;
	return is_true(&expr->regs[0]);
}

void pq_expr_value(const struct pq_expr *expr, struct pq_fields *fields, struct pq_value *out)
{
	const struct pq_insn *end;

	if (expr->field != PQ_NO_FIELD) {
		pq_fields_get(fields, expr->field, out);
		return;
	}
	end = run_program(expr, fields);
	*out = expr->regs[0];
	if (expr->is_condition) {
		out->type = end == expr->code + PQ_CODE_ABSENT ? PQ_NIL : PQ_BOOL;
		out->u = end == expr->code + PQ_CODE_TRUE;
	}
}

/* Return the left operand, and the right one. */
static inline struct pq_value *read_left(const struct pq_insn *in, struct pq_fields *fields,
					 struct pq_value *regs)
{
	struct pq_value *value = &regs[in->reg];

	if (in->field != PQ_NO_FIELD)
		pq_fields_get(fields, in->field, value);
	return value;
}

static inline const struct pq_value *read_right(const struct pq_insn *in,
						const struct pq_value *regs)
{
	return in->constant ? in->constant : &regs[in->reg + 1];
}

const struct pq_insn *pq_run_load(const struct pq_insn *in, struct pq_fields *fields,
				  struct pq_value *regs)
{
	pq_fields_get(fields, in->field, &regs[in->reg]);
	return in->yes.to;
}

const struct pq_insn *pq_run_constant(const struct pq_insn *in, struct pq_fields *fields,
				      struct pq_value *regs)
{
	(void)fields;
	regs[in->reg] = *in->constant;
	return in->yes.to;
}

const struct pq_insn *pq_run_arith(const struct pq_insn *in, struct pq_fields *fields,
				   struct pq_value *regs)
{
	in->arith.run(read_left(in, fields, regs), read_right(in, regs));
	return in->yes.to;
}

/* Converts unsigned operands to float first. */
const struct pq_insn *pq_run_float_arith(const struct pq_insn *in, struct pq_fields *fields,
					 struct pq_value *regs)
{
	struct pq_value *a = read_left(in, fields, regs), b = *read_right(in, regs);

	if (in->arith.floats & PQ_LEFT_UNSIGNED)
		pq_unsigned_to_float(a);
	if (in->arith.floats & PQ_RIGHT_UNSIGNED)
		pq_unsigned_to_float(&b);
	in->arith.run(a, &b);
	return in->yes.to;
}

const struct pq_insn *pq_run_count(const struct pq_insn *in, struct pq_fields *fields,
				   struct pq_value *regs)
{
	pq_fields_count(fields, in->field, &regs[in->reg]);
	return in->yes.to;
}

const struct pq_insn *pq_run_length(const struct pq_insn *in, struct pq_fields *fields,
				    struct pq_value *regs)
{
	struct pq_value *a = read_left(in, fields, regs);

	*a = (struct pq_value){ .type = a->type == PQ_TEXT ? PQ_INT : PQ_NIL, .u = a->size };
	return in->yes.to;
}

const struct pq_insn *pq_run_call(const struct pq_insn *in, struct pq_fields *fields,
				  struct pq_value *regs)
{
	struct pq_value value = { .type = PQ_NIL };

	in->call->run(in->call, fields, &regs[in->reg], &value);
	regs[in->reg] = value;
	return in->yes.to;
}

const struct pq_insn *pq_run_jump(const struct pq_insn *in, struct pq_fields *fields,
				  struct pq_value *regs)
{
	(void)fields;
	(void)regs;
	return in->yes.to;
}

const struct pq_insn *pq_run_truth(const struct pq_insn *in, struct pq_fields *fields,
				   struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs);

	if (a->type == PQ_NIL)
		return in->absent.to;
	return choose_branch(in, is_true(a));
}

const struct pq_insn *pq_run_present(const struct pq_insn *in, struct pq_fields *fields,
				     struct pq_value *regs)
{
	return choose_branch(in, read_left(in, fields, regs)->type != PQ_NIL);
}

/* Compares a field, or some of its bits, with an integer constant, by any operator. */
const struct pq_insn *pq_run_range(const struct pq_insn *in, struct pq_fields *fields,
				   struct pq_value *regs)
{
	struct pq_value a;

	(void)regs;
	pq_fields_get(fields, in->field, &a);
	return a.type == PQ_INT ? in_range(in, a.u) : in->absent.to;
}

/* Compares a computed integer with a constant likewise. */
const struct pq_insn *pq_run_range_of(const struct pq_insn *in, struct pq_fields *fields,
				      struct pq_value *regs)
{
	const struct pq_value *a = &regs[in->reg];

	(void)fields;
	return a->type == PQ_INT ? in_range(in, a->u) : in->absent.to;
}

const struct pq_insn *pq_run_compare(const struct pq_insn *in, struct pq_fields *fields,
				     struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs), *b = read_right(in, regs);

	if (a->type == PQ_NIL || b->type == PQ_NIL)
		return in->absent.to;
	return choose_branch(in, in->orders >> pq_order(a, b, in->signs) & 1);
}

/* Compares texts for equality. */
const struct pq_insn *pq_run_is_text(const struct pq_insn *in, struct pq_fields *fields,
				     struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs), *b = in->constant;

	if (a->type == PQ_NIL)
		return in->absent.to;
	return choose_branch(in, a->type == PQ_TEXT && a->size == b->size &&
					 (!b->size || memcmp(a->p, b->p, b->size) == 0));
}

const struct pq_insn *pq_run_event_in(const struct pq_insn *in, struct pq_fields *fields,
				      struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs);

	if (a->type != PQ_EVENT)
		return in->absent.to;
	return choose_branch(in,
			     a->event->number < in->n_events && in->events[a->event->number]);
}

const struct pq_insn *pq_run_in(const struct pq_insn *in, struct pq_fields *fields,
				struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs);

	if (a->type == PQ_NIL)
		return in->absent.to;
	return choose_branch(in, pq_set_has(in->set, a));
}

const struct pq_insn *pq_run_find(const struct pq_insn *in, struct pq_fields *fields,
				  struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs), *b = read_right(in, regs);

	if (a->type != PQ_TEXT || b->type != PQ_TEXT)
		return in->absent.to;
	return choose_branch(in, !b->size || memmem(a->p, a->size, b->p, b->size));
}

const struct pq_insn *pq_run_starts(const struct pq_insn *in, struct pq_fields *fields,
				    struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs), *b = read_right(in, regs);

	if (a->type != PQ_TEXT || b->type != PQ_TEXT)
		return in->absent.to;
	return choose_branch(in, !b->size || (a->size >= b->size &&
					      memcmp(a->p, b->p, b->size) == 0));
}

const struct pq_insn *pq_run_match(const struct pq_insn *in, struct pq_fields *fields,
				   struct pq_value *regs)
{
	const struct pq_value *a = read_left(in, fields, regs);
	bool matches = false;

	if (a->type != PQ_TEXT)
		return in->absent.to;
	if (!pb_pattern_match(in->text->pattern, a->p, a->size, &matches))
		fields->failed = true;
	return choose_branch(in, matches);
}

const struct pq_insn *pq_run_under(const struct pq_insn *in, struct pq_fields *fields,
				   struct pq_value *regs)
{
	(void)regs;
	return choose_branch(in, pq_fields_under(fields, &in->text->under));
}

const struct pq_insn *pq_run_lower(const struct pq_insn *in, struct pq_fields *fields,
				   struct pq_value *regs)
{
	struct pq_value *a = read_left(in, fields, regs);
	struct pb_string *result = &in->text->result;

	pb_string_clear(result);
	if (a->type != PQ_TEXT || !pb_string_reserve(result, a->size)) {
		fields->failed |= result->failed;
		a->type = PQ_NIL;
		return in->yes.to;
	}
	for (uint32_t i = 0; i < a->size; i++)
		result->p[i] = a->p[i] >= 'A' && a->p[i] <= 'Z' ?
				       (char)(a->p[i] + ('a' - 'A')) :
				       a->p[i];
	a->p = result->p;
	a->id = 0;
	return in->yes.to;
}
