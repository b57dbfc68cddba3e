/*
 * An expression, compiled and run on a record: sizes of the first two parts (u32), the shape of
 * the record, a tree, and the record's body. The tree is written as a stack machine would have
 * it, operands first, so that few bytes make a deep one.
 */
#include <stdlib.h>

#include "query/query.h"
#include "common.h"

struct operand {
	const struct pq_node *node;
	unsigned depth; /* levels of the tree that it is the root of */
};

struct tree {
	struct pb_cursor c;
	const struct pd_field_names *names;
	struct pq_node **all; /* every node that was made */
	size_t n_all;
	struct operand *stack;
	size_t n;
	unsigned depth; /* levels of the deepest operand of the node that is being made */
};

#define MAX_NODES 4096
#define N_EVENTS  4

static const char *const members[] = { "ip",   "from",	 "symbol", "dso", "inlined", "ips",
				       "size", "cookie", "ax",	   "lvl", "value",   "nr" };

static struct pq_node *new_node(struct tree *tree, uint8_t op)
{
	struct pq_node *node = calloc(1, sizeof(*node));

	node->op = (enum pq_op)op;
	node->kind = (enum pq_kind)(pb_take8(&tree->c) % (PQ_K_NIL + 1));
	tree->all[tree->n_all++] = node;
	return node;
}

/*
 * The last operand, which is left out if a node above it, turned around by `not`, would be too
 * deep.
 */
static const struct pq_node *pop(struct tree *tree)
{
	const struct operand *operand;

	if (!tree->n)
		return NULL;
	operand = &tree->stack[--tree->n];
	if (operand->depth > PQ_MAX_DEPTH - 2)
		return NULL;
	if (operand->depth > tree->depth)
		tree->depth = operand->depth;
	return operand->node;
}

static void take_text(struct pb_cursor *c, struct pq_value *out)
{
	size_t n = pb_take8(c), left = pb_cursor_left(c);

	out->type = PQ_TEXT;
	out->size = (uint32_t)(n < left ? n : left);
	out->p = (const char *)pb_take(c, out->size);
}

static void take_value(struct pb_cursor *c, struct pq_value *out)
{
	switch (pb_take8(c) % 7) {
	case 0:
		out->type = PQ_NIL;
		break;
	case 1:
		out->type = PQ_BOOL;
		out->u = pb_take8(c) & 1;
		break;
	case 2:
		out->type = PQ_INT;
		out->i = (int8_t)pb_take8(c);
		break;
	case 3:
		out->type = PQ_INT;
		out->u = pb_take64(c);
		break;
	case 4:
		out->type = PQ_FLOAT;
		out->u = pb_take64(c);
		break;
	default:
		take_text(c, out);
	}
}

static struct pq_value *take_values(struct pb_cursor *c, size_t n)
{
	struct pq_value *values = calloc(n + 1, sizeof(*values));

	for (size_t i = 0; i < n; i++)
		take_value(c, &values[i]);
	return values;
}

static struct pq_field *take_field(struct tree *tree)
{
	struct pq_field *field = calloc(1, sizeof(*field));
	uint8_t how;

	field->name = pb_take16(&tree->c) % (tree->names->n + 1);
	how = pb_take8(&tree->c);
	field->n_steps = how % (PQ_MAX_STEPS + 1);
	for (unsigned i = 0; i < field->n_steps; i++) {
		uint8_t step = pb_take8(&tree->c);

		field->steps[i].index = step % 16;
		if (step >= 64)
			field->steps[i].name =
				members[step % (sizeof(members) / sizeof(members[0]))];
	}
	if (how & 0x80) {
		field->by_event = take_values(&tree->c, N_EVENTS);
		field->n_by_event = N_EVENTS;
	}
	return field;
}

static uint8_t *take_events(struct pb_cursor *c)
{
	uint8_t *events = calloc(N_EVENTS, 1), mask = pb_take8(c);

	for (size_t i = 0; i < N_EVENTS; i++)
		events[i] = mask >> i & 1;
	return events;
}

static void take_node(struct tree *tree)
{
	uint8_t how = pb_take8(&tree->c);
	struct pq_node *node = new_node(tree, how % (PQ_COUNT + 1));

	tree->depth = 0;
	node->negated = how & 0x80;
	switch (node->op) {
	case PQ_CONST:
		take_value(&tree->c, &node->constant);
		break;
	case PQ_FIELD:
		node->field = take_field(tree);
		break;
	case PQ_EVENT_IN:
		node->events = take_events(&tree->c);
		node->n_events = N_EVENTS;
		node->left = pop(tree);
		break;
	case PQ_IN:
		node->n_set = pb_take8(&tree->c) % 16;
		node->set = take_values(&tree->c, node->n_set);
		node->left = pop(tree);
		break;
	default:
		node->right = pop(tree);
		node->left = pop(tree);
	}
	tree->stack[tree->n++] = (struct operand){ node, tree->depth + 1 };
}

static void destroy_tree(struct tree *tree)
{
	for (size_t i = 0; i < tree->n_all; i++) {
		struct pq_node *node = tree->all[i];

		if (node->op == PQ_FIELD) {
			free((void *)node->field->by_event);
			free((void *)node->field);
		} else if (node->op == PQ_IN) {
			free((void *)node->set);
		} else if (node->op == PQ_EVENT_IN) {
			free((void *)node->events);
		}
		free(node);
	}
	free(tree->all);
	free(tree->stack);
}

static bool is_true(const struct pq_value *value)
{
	return value->type != PQ_NIL && (value->type != PQ_BOOL || value->u);
}

/* Text is there to be read. */
static void touch(const struct pq_value *value)
{
	volatile char c = 0;

	for (uint32_t i = 0; value->type == PQ_TEXT && i < value->size; i++)
		c = value->p[i];
	(void)c;
}

/*
 * Checks that a question has one answer: as a condition and as a value, and the opposite with
 * `not`.
 */
static void run(const struct pq_node *root, const struct pd_session *session,
		const struct pd_record *rec)
{
	const struct pq_node turned = { .op = PQ_NOT, .kind = PQ_K_BOOLEAN, .left = root };
	struct pq_expr *expr, *other;
	struct pq_fields fields;
	struct pq_value value;
	bool holds;

	FUZZ_CHECK(pq_fields_init(&fields, session, NULL));
	expr = pq_expr_create(root, &fields);
	other = pq_expr_create(&turned, &fields);
	FUZZ_CHECK(expr && other && pq_fields_enter(&fields, rec));
	holds = pq_expr_test(expr, &fields);
	pq_expr_value(expr, &fields, &value);
	FUZZ_CHECK(is_true(&value) == holds);
	touch(&value);
	FUZZ_CHECK(pq_expr_test(other, &fields) != holds);
	pq_asks_system(root, session);
	pq_expr_destroy(expr);
	pq_expr_destroy(other);
	pq_fields_deinit(&fields);
}

/*
 * A record of so many bytes with a header: in memory of just its size, where reading beyond it
 * shows.
 */
static uint8_t *record_of(const struct fuzz_part *body, struct pd_record *rec)
{
	uint8_t *bytes = calloc(8 + body->n, 1);

	if (body->n)
		memcpy(bytes + 8, body->bytes, body->n);
	rec->bytes = bytes;
	rec->size = (uint32_t)(8 + body->n);
	return bytes;
}

static void take_shape(struct pb_cursor *c, struct pd_shape *shape)
{
	uint8_t how = pb_take8(c);

	shape->sample_type = pb_take64(c);
	shape->read_format = pb_take8(c);
	shape->branch_sample_type = pb_take32(c);
	shape->regs_user = shape->regs_intr = pb_take64(c);
	shape->swap = shape->big = how & 1;
	shape->sample_id_all = how & 2;
	shape->counters = how & 4;
	shape->defer = how & 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pd_file file = { .n_events = 0 }, *files[] = { &file };
	/* its names are asked for, of layouts it has none */
	struct pd_session session = { .files = files, .n_files = 0 };
	int32_t sockets[] = { 0, 1, 0, 1 };
	struct pd_event event = { .recorded_with = &file.ids, .number = 1 };
	struct pd_record rec = { .event = &event };
	const struct pd_record_desc *desc;
	struct fuzz_part parts[3];
	struct pd_layout *layout;
	struct tree tree = { .names = &file.field_names };
	struct pb_cursor c;
	uint8_t *body;

	if (n < 8)
		return 0;
	fuzz_split(bytes, n, parts, 3);
	pb_cursor_init(&c, parts[0].bytes, parts[0].n, false);
	desc = pd_record_desc(pb_take8(&c) % PD_RECORD_TYPES);
	take_shape(&c, &event.shape);
	rec.misc = pb_take16(&c);
	rec.type = desc ? desc->type : 0;
	pd_field_names_init(&file.field_names);
	file.clock.time_id = pd_field_name_id(&file.field_names, "time", strlen("time"));
	event.shape.clock = &file.clock;
	file.sockets = (struct pd_sockets){ sockets, sizeof(sockets) / sizeof(sockets[0]) };
	event.shape.sockets = &file.sockets;
	layout = pd_layout_create(&file.field_names, &event.shape, desc);
	rec.layout = layout;
	body = record_of(&parts[2], &rec);
	pb_cursor_init(&tree.c, parts[1].bytes, parts[1].n, false);
	tree.all = calloc(MAX_NODES, sizeof(*tree.all));
	tree.stack = calloc(MAX_NODES, sizeof(*tree.stack));
	while (pb_cursor_left(&tree.c) && tree.n_all < MAX_NODES)
		take_node(&tree);
	run(tree.n ? tree.stack[tree.n - 1].node : NULL, &session, &rec);
	destroy_tree(&tree);
	pd_layout_destroy(layout);
	free(body);
	return 0;
}
