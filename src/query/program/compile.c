/*
 * Compiles trees to programs. The functions recurse into the parts of a tree, which is at most
 * PQ_MAX_DEPTH deep.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "program.h"

#define MAX_CODE (1u << 20)

/*
 * Label of the next instruction, whichever it will be. The labels of the ends are their
 * numbers.
 */
#define LABEL_NEXT UINT32_MAX

/*
 * The labels at which a test continues. An absent condition is neither true nor false; an
 * absent operand of a comparison makes that false.
 */
struct ways {
	uint32_t yes, no, absent; /* labels */
};

struct compiler {
	struct pq_fields *fields;
	struct pq_insn *code;
	size_t n_code, code_room;
	uint32_t *labels; /* number of the instruction of each */
	size_t n_labels, label_room;
	uint32_t n_regs;
	bool failed;
};

static const struct pq_node nothing = { .op = PQ_CONST, .kind = PQ_K_NIL };

static const struct pq_node *get_operand(const struct pq_node *node)
{
	return node ? node : &nothing;
}

static uint32_t new_label(struct compiler *c)
{
	c->failed |= c->n_labels >= MAX_CODE ||
		     !pb_reserve(c->labels, c->n_labels, c->label_room);
	if (c->failed)
		return 0;
	c->labels[c->n_labels] = 0;
	return (uint32_t)c->n_labels++;
}

/* Puts `label` on the next instruction. */
static void place_label(struct compiler *c, uint32_t label)
{
	if (!c->failed)
		c->labels[label] = (uint32_t)c->n_code;
}

static void emit_insn(struct compiler *c, const struct pq_insn *insn)
{
	c->failed |= c->n_code >= MAX_CODE || !pb_reserve(c->code, c->n_code, c->code_room);
	if (!c->failed)
		c->code[c->n_code++] = *insn;
	else
		pq_insn_deinit(insn);
	if (insn->reg + 2 > c->n_regs)
		c->n_regs = insn->reg + 2;
}

static uint32_t find_node_number(struct compiler *c, const struct pq_node *node)
{
	uint32_t number = node->field ? pq_fields_add(c->fields, node->field) : UINT32_MAX;

	if (number == UINT32_MAX)
		c->failed = true;
	return number;
}

static void compile_value(struct compiler *c, const struct pq_node *node, uint32_t reg);

/*
 * Compiles the operands of an instruction, then emits it. A left operand that is a field, and a
 * right one that is a constant, need no instructions of their own. `right` is NULL if there is
 * one operand.
 */
static void compile_insn(struct compiler *c, struct pq_insn *insn, const struct pq_node *left,
			 const struct pq_node *right)
{
	insn->field = PQ_NO_FIELD;
	if (left->op == PQ_FIELD)
		insn->field = find_node_number(c, left);
	else
		compile_value(c, left, insn->reg);
	if (right && right->op == PQ_CONST)
		insn->constant = &right->constant;
	else if (right)
		compile_value(c, right, insn->reg + 1);
	emit_insn(c, insn);
}

/* Returns the orders of its operands that make a comparison true. */
static uint8_t orders_of(enum pq_op op)
{
	switch (op) {
	case PQ_EQ:
		return 1 << PQ_IS_EQUAL | 1 << PQ_IS_SAME;
	case PQ_LT:
		return 1 << PQ_IS_LESS;
	case PQ_LE:
		return 1 << PQ_IS_LESS | 1 << PQ_IS_EQUAL;
	case PQ_GT:
		return 1 << PQ_IS_GREATER;
	default:
		return 1 << PQ_IS_GREATER | 1 << PQ_IS_EQUAL;
	}
}

static void compile_comparison(struct compiler *c, struct pq_insn *insn,
			       const struct pq_node *node)
{
	const struct pq_node *left = get_operand(node->left), *right = get_operand(node->right);
	unsigned orders = orders_of(node->op);

	if (left->op == PQ_CONST) {
		const struct pq_node *swapped = left;

		left = right;
		right = swapped;
		if (orders & (1 << PQ_IS_LESS | 1 << PQ_IS_GREATER))
			orders ^= 1 << PQ_IS_LESS | 1 << PQ_IS_GREATER;
	}
	insn->orders = (uint8_t)orders;
	insn->signs = (uint8_t)pq_order_signs(left->kind, right->kind);
	insn->run = pq_run_compare;
	if (pq_range_of(insn, &left, right)) {
		insn->run = left->op == PQ_FIELD ? pq_run_range : pq_run_range_of;
	} else if (node->op == PQ_EQ && right->op == PQ_CONST &&
		   right->constant.type == PQ_TEXT) {
		insn->run = pq_run_is_text;
	}
	compile_insn(c, insn, left, right);
}

/* Gives an instruction over texts its state, all zero. Returns false without memory. */
static bool add_text_work(struct compiler *c, struct pq_insn *insn)
{
	insn->text = calloc(1, sizeof(*insn->text));
	c->failed |= !insn->text;
	return insn->text != NULL;
}

/*
 * Gives an instruction the pattern that is the constant `text`. Returns false if `text` is not
 * a pattern, which makers of trees rule out, or if there is no memory.
 */
static bool add_pattern(struct compiler *c, struct pq_insn *insn, const struct pq_node *text,
			bool is_glob)
{
	const char *wrong = NULL;

	if (text->op != PQ_CONST || text->constant.type != PQ_TEXT || !add_text_work(c, insn))
		return false;
	insn->text->pattern = pb_pattern_create(text->constant.p, text->constant.size, is_glob,
						&wrong);
	if (insn->text->pattern)
		return true;
	c->failed |= !wrong;
	free(insn->text);
	return false;
}

/* Compiles tests other than comparisons, of one or two operands. */
static void compile_plain_test(struct compiler *c, struct pq_insn *insn,
			       const struct pq_node *node, const struct ways *ways)
{
	const struct pq_node *left = get_operand(node->left), *right = NULL;

	switch (node->op) {
	case PQ_PRESENT:
		insn->run = pq_run_present;
		break;
	case PQ_EVENT_IN:
		insn->run = pq_run_event_in;
		insn->events = node->events;
		insn->n_events = node->events ? node->n_events : 0;
		break;
	case PQ_IN:
		insn->run = pq_run_in;
		insn->set = pq_set_create(node->set, node->set ? node->n_set : 0);
		if (!insn->set) {
			c->failed = true;
			return;
		}
		break;
	case PQ_GLOB:
	case PQ_MATCH:
		insn->run = pq_run_match;
		if (!add_pattern(c, insn, get_operand(node->right), node->op == PQ_GLOB)) {
			insn->run = pq_run_jump;
			insn->yes = insn->no;
			emit_insn(c, insn);
			return;
		}
		break;
	case PQ_FIND:
	case PQ_STARTS:
		insn->run = node->op == PQ_FIND ? pq_run_find : pq_run_starts;
		right = get_operand(node->right);
		break;
	default: /* a value that is tested for truth */
		insn->run = pq_run_truth;
		insn->yes.label = ways->yes;
		insn->no.label = ways->no;
		insn->absent.label = ways->absent;
		left = node;
	}
	compile_insn(c, insn, left, right);
}

static bool is_under(const struct pq_node *node)
{
	const struct pq_node *name = get_operand(node->right);

	return node->op == PQ_UNDER && name->op == PQ_CONST && name->constant.type == PQ_TEXT;
}

/* Returns false if the operand is not a name to look for, or if there is no memory. */
static bool compile_under(struct compiler *c, struct pq_insn *insn, const struct pq_node *node)
{
	const struct pq_value *name = is_under(node) ? &node->right->constant : NULL;
	bool is_glob = false;

	for (uint32_t i = 0; name && i < name->size; i++)
		is_glob = is_glob || strchr("*?[", name->p[i] ? name->p[i] : '.');
	if (!name ||
	    !(is_glob ? add_pattern(c, insn, node->right, true) : add_text_work(c, insn)))
		return false;
	insn->run = pq_run_under;
	insn->text->under = (struct pq_under){
		.name = { name->p, name->size },
		.glob = insn->text->pattern,
	};
	return true;
}

static void compile_test(struct compiler *c, const struct pq_node *node, uint32_t reg,
			 const struct ways *ways);

static void compile_logic(struct compiler *c, const struct pq_node *node, uint32_t reg,
			  const struct ways *ways)
{
	uint32_t second = new_label(c);
	struct ways first = *ways;

	if (node->op == PQ_AND)
		first.yes = second;
	else
		first.no = first.absent = second;
	compile_test(c, get_operand(node->left), reg, &first);
	place_label(c, second);
	compile_test(c, get_operand(node->right), reg, ways);
}

static void compile_test(struct compiler *c, const struct pq_node *node, uint32_t reg,
			 const struct ways *ways)
{
	const struct ways turned = { ways->no, ways->yes, ways->yes };
	struct pq_insn insn = { .yes.label = node->negated ? ways->no : ways->yes,
				.no.label = node->negated ? ways->yes : ways->no,
				.absent.label = ways->no,
				.field = PQ_NO_FIELD,
				.reg = reg };

	switch (node->op) {
	case PQ_AND:
	case PQ_OR:
		compile_logic(c, node, reg, ways);
		break;
	case PQ_NOT:
		compile_test(c, get_operand(node->left), reg, &turned);
		break;
	case PQ_EQ:
	case PQ_LT:
	case PQ_LE:
	case PQ_GT:
	case PQ_GE:
		compile_comparison(c, &insn, node);
		break;
	case PQ_UNDER:
		if (!compile_under(c, &insn, node)) {
			insn.run = pq_run_jump;
			insn.yes.label = ways->no;
		}
		emit_insn(c, &insn);
		break;
	default:
		compile_plain_test(c, &insn, node, ways);
	}
}

/* Compiles a condition whose value is needed: each of its three ends writes the value. */
static void compile_condition_value(struct compiler *c, const struct pq_node *node,
				    uint32_t reg)
{
	static const struct pq_value values[] = { [PQ_CODE_FALSE] = { .type = PQ_BOOL },
						  [PQ_CODE_TRUE] = { .type = PQ_BOOL, .u = 1 },
						  [PQ_CODE_ABSENT] = { .type = PQ_NIL } };
	uint32_t places[] = { new_label(c), new_label(c), new_label(c) }, end = new_label(c);
	struct pq_insn insn = {
		.run = pq_run_constant, .yes.label = end, .field = PQ_NO_FIELD, .reg = reg
	};

	compile_test(c, node, reg,
		     &(struct ways){ places[PQ_CODE_TRUE], places[PQ_CODE_FALSE],
				     places[PQ_CODE_ABSENT] });
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		place_label(c, places[i]);
		insn.constant = &values[i];
		emit_insn(c, &insn);
	}
	place_label(c, end);
}

static bool is_condition(enum pq_op op)
{
	return op >= PQ_AND && op <= PQ_UNDER;
}

static void compile_call(struct compiler *c, struct pq_insn *insn, const struct pq_call *call)
{
	for (size_t i = 0; i < call->n_args; i++)
		compile_value(c, get_operand(call->args[i]), insn->reg + (uint32_t)i);
	insn->run = pq_run_call;
	insn->call = call;
	emit_insn(c, insn);
}

/* Compiles the two values of which one is taken, PQ_GIVEN or PQ_EITHER. */
static void compile_choice(struct compiler *c, const struct pq_node *node, uint32_t reg)
{
	const struct pq_node *left = get_operand(node->left), *right = get_operand(node->right);
	uint32_t first = new_label(c), second = new_label(c), end = new_label(c);
	struct pq_insn insn = { .yes.label = end, .field = PQ_NO_FIELD, .reg = reg };

	if (node->op == PQ_GIVEN) {
		compile_test(c, left, reg, &(struct ways){ second, first, first });
		place_label(c, first);
		insn.run = pq_run_constant;
		insn.constant = &nothing.constant;
	} else {
		compile_value(c, left, reg);
		insn.run = pq_run_present;
		insn.no.label = insn.absent.label = second;
	}
	emit_insn(c, &insn);
	place_label(c, second);
	compile_value(c, right, reg);
	place_label(c, end);
}

static void compile_value(struct compiler *c, const struct pq_node *node, uint32_t reg)
{
	struct pq_insn insn = { .yes.label = LABEL_NEXT, .field = PQ_NO_FIELD, .reg = reg };
	const struct pq_node *left = get_operand(node->left), *right = get_operand(node->right);

	if (is_condition(node->op)) {
		compile_condition_value(c, node, reg);
	} else if (node->op == PQ_CONST) {
		insn.run = pq_run_constant;
		insn.constant = &node->constant;
		emit_insn(c, &insn);
	} else if (node->op == PQ_FIELD) {
		insn.run = pq_run_load;
		insn.field = find_node_number(c, node);
		emit_insn(c, &insn);
	} else if (node->op == PQ_COUNT) {
		insn.run = left->op == PQ_FIELD ? pq_run_count : pq_run_length;
		compile_insn(c, &insn, left, NULL);
	} else if (node->op == PQ_CALL) {
		compile_call(c, &insn, node->call);
	} else if (node->op == PQ_LOWER) {
		insn.run = pq_run_lower;
		if (add_text_work(c, &insn))
			compile_insn(c, &insn, left, NULL);
	} else if (node->op == PQ_GIVEN || node->op == PQ_EITHER) {
		compile_choice(c, node, reg);
	} else if (node->op > PQ_EITHER) {
		c->failed = true;
	} else {
		pq_arith_of(node->op, left->kind, right->kind, &insn.arith);
		insn.run = insn.arith.floats ? pq_run_float_arith : pq_run_arith;
		compile_insn(c, &insn, left, right);
	}
}

static void set_target(const struct compiler *c, size_t from, union pq_target *target)
{
	uint32_t label = target->label;

	target->to = &c->code[label == LABEL_NEXT ? from + 1 : c->labels[label]];
}

/* Replaces labels by addresses in the code, which does not grow any more. */
static void link_code(struct compiler *c)
{
	for (size_t i = 0; i < c->n_code; i++) {
		set_target(c, i, &c->code[i].yes);
		set_target(c, i, &c->code[i].no);
		set_target(c, i, &c->code[i].absent);
	}
}

static void compile_root(struct compiler *c, const struct pq_node *node)
{
	static const struct pq_insn end = { .run = NULL };

	for (uint32_t i = 0; i < PQ_CODE_START; i++) {
		emit_insn(c, &end);
		if (new_label(c) == i && !c->failed)
			c->labels[i] = i;
	}
	if (is_condition(node->op))
		compile_test(c, node, 0,
			     &(struct ways){ PQ_CODE_TRUE, PQ_CODE_FALSE, PQ_CODE_ABSENT });
	else
		compile_value(c, node, 0);
	emit_insn(c, &end); /* end of a value */
}

bool pq_compile(struct pq_expr *expr, const struct pq_node *node, struct pq_fields *fields)
{
	struct compiler c = { .fields = fields };

	node = get_operand(node);
	compile_root(&c, node);
	expr->code = c.code;
	expr->n_code = c.n_code;
	if (!c.failed) {
		expr->regs = calloc(c.n_regs, sizeof(*expr->regs));
		link_code(&c);
	}
	expr->is_condition = is_condition(node->op);
	expr->field = node->op == PQ_FIELD && !c.failed ? c.code[PQ_CODE_START].field :
							  PQ_NO_FIELD;
	free(c.labels);
	return expr->regs != NULL;
}
