#include "tree.h"

#ifdef PERFLUA_TRACEEVENT

#include <stdlib.h>

#define MAX_INDEX \
	32767 /* times the size of an item that is no larger than 65535 it is an int */
#define MAX_WIDTH 65535
#define MAX_DEEP  4096 /* nodes above one another: more than fmt.c lets open */

struct checker {
	struct pt_tree *tree;
	unsigned deep;
};

static bool check(struct checker *c, const struct tep_print_arg *arg);

static bool add_guard(struct pt_tree *tree, struct pt_guard guard)
{
	struct pt_guard *guards = tree->guards;

	if (tree->n == tree->capacity) {
		size_t capacity = tree->capacity ? 2 * tree->capacity : 4;

		guards = realloc(guards, capacity * sizeof(*guards));
		if (!guards)
			return false;
		tree->guards = guards;
		tree->capacity = capacity;
	}
	guards[tree->n++] = guard;
	return true;
}

static const struct tep_print_arg *below_casts(const struct tep_print_arg *arg)
{
	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	return arg;
}

static bool is_literal(const struct tep_print_arg *arg, uint64_t *v)
{
	char *end;

	if (!arg || arg->type != TEP_PRINT_ATOM || !arg->atom.atom)
		return false;
	*v = strtoull(arg->atom.atom, &end, 0);
	return end != arg->atom.atom;
}

static uint32_t find_field(const struct pt_tree *tree, const char *name)
{
	return name ? pd_tracepoint_find(tree->tracepoint, name, strlen(name)) : PD_NO_ARG;
}

static bool is_dynamic(const struct pt_tree *tree, uint32_t i)
{
	uint8_t place = i == PD_NO_ARG ? PD_ARG_FIXED : tree->tracepoint->fields[i].place;

	return place == PD_ARG_DATA || place == PD_ARG_REL || place == PD_ARG_SHORT;
}

/* A name of what has a place of its own, which is looked up when it is printed. */
static bool check_named(struct pt_tree *tree, const char *name, bool filled)
{
	uint32_t i = find_field(tree, name);

	return is_dynamic(tree, i) &&
	       (!filled || add_guard(tree, (struct pt_guard){ PT_FILLED, .field = i }));
}

static bool check_dynamic(const struct pt_tree *tree, const struct tep_print_arg *arg)
{
	return arg->dynarray.field && !arg->dynarray.index &&
	       is_dynamic(tree, find_field(tree, arg->dynarray.field->name));
}

/* Numbers that guards know. */
static bool is_known(const struct tep_print_arg *arg, unsigned deep)
{
	if (!arg || deep > 16)
		return false;
	switch (arg->type) {
	case TEP_PRINT_ATOM:
	case TEP_PRINT_FIELD:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return true;
	case TEP_PRINT_TYPE:
		return is_known(arg->typecast.item, deep + 1);
	case TEP_PRINT_OP:
		return (strcmp(arg->op.op, "<<") == 0 ||
			(strlen(arg->op.op) == 1 && strchr("+-*/&|", arg->op.op[0]))) &&
		       is_known(arg->op.left, deep + 1) && is_known(arg->op.right, deep + 1);
	default:
		return false;
	}
}

static bool check_at_most(struct pt_tree *tree, const struct tep_print_arg *arg, uint32_t limit)
{
	uint64_t v;

	if (is_literal(arg, &v))
		return v <= limit;
	return is_known(arg, 0) &&
	       add_guard(tree, (struct pt_guard){ PT_AT_MOST, .count = arg, .limit = limit });
}

/* An array that is printed item by item. */
static bool check_bytes(struct checker *c, const struct tep_print_arg *array,
			const struct tep_print_arg *count, const struct tep_print_arg *size)
{
	struct pt_guard guard = { PT_BYTES, .count = count, .size = size };
	const char *name = NULL;

	if (!array || !check(c, array) || !is_known(count, 0) || (size && !is_known(size, 0)))
		return false;
	if (array->type == TEP_PRINT_FIELD &&
	    !is_dynamic(c->tree, find_field(c->tree, array->field.field->name)))
		name = array->field.field->name;
	else if (array->type == TEP_PRINT_DYNAMIC_ARRAY)
		name = array->dynarray.field->name;
	guard.field = find_field(c->tree, name);
	return guard.field != PD_NO_ARG && check(c, count) && (!size || check(c, size)) &&
	       add_guard(c->tree, guard);
}

static bool check_table(const struct tep_print_flag_sym *entry)
{
	for (; entry; entry = entry->next)
		if (!entry->value || !entry->str)
			return false;
	return true;
}

/* An array and an index. */
static bool check_element(struct checker *c, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *array = below_casts(arg->op.left);

	return array &&
	       (array->type == TEP_PRINT_FIELD || array->type == TEP_PRINT_DYNAMIC_ARRAY) &&
	       check(c, arg->op.left) && check(c, arg->op.right) &&
	       check_at_most(c->tree, arg->op.right, MAX_INDEX);
}

static bool check_operator(struct checker *c, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *right = arg->op.right;
	uint64_t divisor;

	if (!arg->op.op || !arg->op.left || !right)
		return false;
	switch (arg->op.op[0]) {
	case '[':
		return check_element(c, arg);
	case '?':
		return right->type == TEP_PRINT_OP && right->op.op && right->op.op[0] == ':' &&
		       check(c, arg->op.left) && check(c, right->op.left) &&
		       check(c, right->op.right);
	case ':':
		return false;
	case '/':
	case '%':
		if (!is_literal(right, &divisor) || !divisor)
			return false;
		break;
	}
	return check(c, arg->op.left) && check(c, right);
}

static bool check_node(struct checker *c, const struct tep_print_arg *arg)
{
	switch (arg->type) {
	case TEP_PRINT_NULL: /* of a unary operator */
		return true;
	case TEP_PRINT_ATOM:
		return arg->atom.atom != NULL;
	case TEP_PRINT_FIELD:
		return arg->field.field != NULL;
	case TEP_PRINT_FLAGS:
		return check(c, arg->flags.field) && check_table(arg->flags.flags);
	case TEP_PRINT_SYMBOL:
		return check(c, arg->symbol.field) && check_table(arg->symbol.symbols);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return check_bytes(c, arg->hex.field, arg->hex.size, NULL);
	case TEP_PRINT_INT_ARRAY:
		return arg->int_array.el_size &&
		       check_bytes(c, arg->int_array.field, arg->int_array.count,
				   arg->int_array.el_size);
	case TEP_PRINT_TYPE:
		return arg->typecast.type && strlen(arg->typecast.type) >= 2 &&
		       check(c, arg->typecast.item);
	case TEP_PRINT_STRING:
		return check_named(c->tree, arg->string.string, false);
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		/* of an empty one it would take the size for a very large number */
		return check_named(c->tree, arg->bitmask.bitmask,
				   arg->type == TEP_PRINT_CPUMASK);
	case TEP_PRINT_DYNAMIC_ARRAY:
		return check_dynamic(c->tree, arg);
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return check_dynamic(c->tree, arg) &&
		       !(arg->dynarray.field->flags & TEP_FIELD_IS_RELATIVE);
	case TEP_PRINT_OP:
		return check_operator(c, arg);
	default: /* of what is for plugins and for ftrace */
		return false;
	}
}

static bool check(struct checker *c, const struct tep_print_arg *arg)
{
	bool ok;

	if (!arg || ++c->deep > MAX_DEEP)
		return false;
	ok = check_node(c, arg);
	c->deep--;
	return ok;
}

bool pt_tree_check(struct pt_tree *tree, const struct pt_fmt *fmt,
		   const struct tep_event *event)
{
	const struct tep_print_arg *arg = event->print_fmt.args;
	struct checker c = { .tree = tree };
	unsigned i = 0;

	if ((unsigned)event->flags & TEP_EVENT_FL_FAILED)
		return false;
	for (; arg; arg = arg->next, i++)
		if (!check(&c, arg) ||
		    (pt_fmt_is_star(fmt, i) && !check_at_most(tree, arg, MAX_WIDTH)))
			return false;
	return i == fmt->n_args;
}

void pt_tree_deinit(struct pt_tree *tree)
{
	free(tree->guards);
	*tree = (struct pt_tree){ 0 };
}

/* A number of 1, 2, 4 or 8 bytes; others are 0, as there. */
static bool load(const struct pt_sample *sample, const struct tep_format_field *field,
		 uint64_t *v)
{
	const uint8_t *p = sample->raw + field->offset;
	bool swap = sample->tracepoint->swap;

	if (field->offset < 0 || field->size < 0 || (uint32_t)field->offset > sample->n ||
	    (uint32_t)field->size > sample->n - (uint32_t)field->offset)
		return false;
	switch (field->size) {
	case 1:
		*v = *p;
		return true;
	case 2:
		*v = pd_load16(p, swap);
		return true;
	case 4:
		*v = pd_load32(p, swap);
		return true;
	case 8:
		*v = pd_load64(p, swap);
		return true;
	default:
		*v = 0;
		return true;
	}
}

/* Where what has a place of its own lies. */
static bool place(const struct pt_sample *sample, const char *name, uint32_t *at, uint32_t *n)
{
	uint32_t i = pd_tracepoint_find(sample->tracepoint, name, strlen(name));

	return i != PD_NO_ARG &&
	       pd_args_place(sample->tracepoint, &sample->tracepoint->fields[i], sample->raw,
			     sample->n, at, n);
}

static bool evaluate(const struct pt_sample *sample, const struct tep_print_arg *arg,
		     uint64_t *v);

static bool evaluate_operator(const struct pt_sample *sample, const struct tep_print_arg *arg,
			      uint64_t *v)
{
	uint64_t left, right;

	if (!evaluate(sample, arg->op.left, &left) || !evaluate(sample, arg->op.right, &right))
		return false;
	switch (arg->op.op[0]) {
	case '+':
		*v = left + right;
		return true;
	case '-':
		*v = left - right;
		return true;
	case '*':
		*v = left * right;
		return true;
	case '/':
		*v = right ? left / right : 0;
		return right != 0;
	case '&':
		*v = left & right;
		return true;
	case '<':
		*v = right < 64 ? left << right : 0;
		return right < 64;
	default:
		*v = left | right;
		return true;
	}
}

/* A number that is_known(), as libtraceevent takes it. False: the two may not agree. */
static bool evaluate(const struct pt_sample *sample, const struct tep_print_arg *arg,
		     uint64_t *v)
{
	uint32_t at, n;

	switch (arg->type) {
	case TEP_PRINT_ATOM:
		*v = strtoull(arg->atom.atom, NULL, 0);
		return true;
	case TEP_PRINT_FIELD:
		return load(sample, arg->field.field, v);
	case TEP_PRINT_TYPE:
		/* a number so small is the same in any type */
		return evaluate(sample, arg->typecast.item, v) &&
		       (*v <= 127 || (*v <= 32767 && !strchr(arg->typecast.type, '8') &&
				      !strstr(arg->typecast.type, "char")));
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		if (!place(sample, arg->dynarray.field->name, &at, &n))
			return false;
		*v = n;
		return true;
	default:
		return evaluate_operator(sample, arg, v);
	}
}

static bool has_bytes(const struct pt_guard *guard, const struct pt_sample *sample)
{
	const struct pd_tracepoint *tracepoint = sample->tracepoint;
	uint64_t count, size = 1;
	uint32_t at, n;

	return pd_args_place(tracepoint, &tracepoint->fields[guard->field], sample->raw,
			     sample->n, &at, &n) &&
	       evaluate(sample, guard->count, &count) &&
	       (!guard->size || evaluate(sample, guard->size, &size)) &&
	       (size == 1 || size == 2 || size == 4 || size == 8) && count <= n / size;
}

bool pt_tree_allows(const struct pt_tree *tree, const struct pt_sample *sample)
{
	for (size_t i = 0; i < tree->n; i++) {
		const struct pt_guard *guard = &tree->guards[i];
		uint32_t at, n;
		uint64_t v;
		bool ok;

		if (guard->kind == PT_BYTES)
			ok = has_bytes(guard, sample);
		else if (guard->kind == PT_FILLED)
			ok = pd_args_place(sample->tracepoint,
					   &sample->tracepoint->fields[guard->field],
					   sample->raw, sample->n, &at, &n) &&
			     n;
		else
			ok = evaluate(sample, guard->count, &v) && v <= guard->limit;
		if (!ok)
			return false;
	}
	return true;
}

#endif
