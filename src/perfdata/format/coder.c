#include "coder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define LEVEL(c) (&(c)->levels[(c)->depth])

static void begin_coder(struct pd_coder *c, struct pd_node *root, bool swap)
{
	*c = (struct pd_coder){ .arena = c->arena, .out = c->out, .swap = swap };
	c->levels[0].table = root;
	c->levels[0].keyed = c->levels[0].item = root->t.first;
	c->line = root->line;
	pb_string_clear(&c->out);
}

void pd_coder_describe(struct pd_coder *c, struct pd_node *root, const uint8_t *bytes,
		       uint32_t at, uint32_t end, bool swap)
{
	begin_coder(c, root, swap);
	c->bytes = bytes;
	c->at = at;
	c->end = end;
}

void pd_coder_encode(struct pd_coder *c, struct pd_node *root, bool swap)
{
	begin_coder(c, root, swap);
	c->encodes = true;
}

static void print_found(char *text, size_t size, const struct pd_node *node)
{
	if (!node)
		snprintf(text, size, "nothing");
	else if (node->kind == PD_N_INT && node->negative)
		snprintf(text, size, "%" PRId64, (int64_t)node->u);
	else if (node->kind == PD_N_INT && node->shown == PD_AS_HEX)
		snprintf(text, size, "0x%" PRIx64, node->u);
	else if (node->kind == PD_N_INT)
		snprintf(text, size, "%" PRIu64, node->u);
	else if (node->kind == PD_N_FLOAT)
		snprintf(text, size, "%g", node->f);
	else if (node->kind == PD_N_BOOL)
		snprintf(text, size, "%s", node->u ? "true" : "false");
	else if (node->kind == PD_N_BYTES)
		snprintf(text, size, "a string of %zu bytes", node->s.n);
	else
		snprintf(text, size, "a table");
}

void pd_code_fail_found(struct pd_coder *c, const struct pd_node *node, const char *key,
			const char *found, const char *expected)
{
	char path[96] = "";
	size_t n = 0;

	if (c->failed)
		return;
	c->failed = true;
	for (unsigned i = 1; i <= c->depth && n < sizeof(path); i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, ".%.24s",
				      c->levels[i].key ? c->levels[i].key : "[]");
	snprintf(c->error, sizeof(c->error), "line %u: %s%s%s%.46s: found %s, expected %s",
		 node && node->line ? node->line : c->line, c->what ? c->what : "", path,
		 key ? "." : "", key ? key : "", found, expected);
}

void pd_code_fail(struct pd_coder *c, const struct pd_node *node, const char *key,
		  const char *expected)
{
	char found[48];

	print_found(found, sizeof(found), node);
	pd_code_fail_found(c, node, key, found, expected);
}

struct pd_node *pd_node_new(struct pb_arena *arena, struct pd_node *table, const char *key,
			    enum pd_node_kind kind)
{
	struct pd_node *node = pb_arena_get(arena, sizeof(*node));

	if (!node)
		return NULL;
	*node = (struct pd_node){ .key = key, .kind = (uint8_t)kind };
	if (!table)
		return node;
	if (table->t.last)
		table->t.last->next = node;
	else
		table->t.first = node;
	table->t.last = node;
	table->t.n++;
	table->t.n_items += !key;
	return node;
}

struct pd_node *pd_code_add(struct pd_coder *c, const char *key, enum pd_node_kind kind)
{
	struct pd_node *node = NULL;

	if (!c->failed)
		node = pd_node_new(c->arena, LEVEL(c)->table, key, kind);
	if (!node)
		c->failed = true;
	return node;
}

static struct pd_node *find_from(struct pd_node *from, const struct pd_node *to,
				 const char *key)
{
	for (; from != to; from = from->next)
		if (from->key && strcmp(from->key, key) == 0)
			return from;
	return NULL;
}

struct pd_node *pd_code_find(struct pd_coder *c, const char *key)
{
	struct pd_node *table = LEVEL(c)->table, *node;

	if (!table || !c->encodes)
		return NULL;
	/* the values mostly have the order of the fields */
	node = find_from(LEVEL(c)->keyed, NULL, key);
	if (!node)
		node = find_from(table->t.first, LEVEL(c)->keyed, key);
	if (node)
		LEVEL(c)->keyed = node->next;
	return node;
}

struct pd_node *pd_code_next(struct pd_coder *c)
{
	struct pd_node *node = c->encodes ? LEVEL(c)->item : NULL;

	while (node && node->key)
		node = node->next;
	return node;
}

struct pd_node *pd_code_take(struct pd_coder *c, const char *key)
{
	struct pd_node *node = key ? pd_code_find(c, key) : pd_code_next(c);

	if (!key)
		LEVEL(c)->item = node ? node->next : NULL;
	if (node)
		node->used = true;
	return node;
}

uint64_t pd_code_load(struct pd_coder *c, uint32_t width)
{
	uint64_t value;

	if (c->failed || pd_code_left(c) < width) {
		c->failed = true;
		return 0;
	}
	value = pb_load_bytes(c->bytes + c->at, width, c->swap);
	pd_code_move(c, width);
	return value;
}

uint8_t *pd_code_room(struct pd_coder *c, uint32_t n)
{
	uint8_t *p;

	if (c->at + (uint64_t)n > PD_RECORD_MOST)
		pd_code_fail_found(c, NULL, NULL, "a statement of more bytes", "at most 64 MB");
	if (c->failed)
		return NULL;
	if (c->at + (size_t)n > c->out.n)
		pb_string_fill(&c->out, '\0', c->at + (size_t)n - c->out.n);
	if (c->out.failed) {
		c->failed = true;
		snprintf(c->error, sizeof(c->error), "line %u: %s: no memory", c->line,
			 c->what);
		return NULL;
	}
	p = c->out.p ? (uint8_t *)c->out.p + c->at : NULL;
	pd_code_move(c, n);
	return p;
}

void pd_code_store(struct pd_coder *c, uint32_t width, uint64_t value)
{
	uint8_t *p = pd_code_room(c, width);
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;

	if (!p)
		return;
	v16 = c->swap ? __builtin_bswap16(v16) : v16;
	v32 = c->swap ? __builtin_bswap32(v32) : v32;
	if (width == 1)
		*p = (uint8_t)value;
	else if (width == 2)
		memcpy(p, &v16, 2);
	else if (width == 4)
		memcpy(p, &v32, 4);
	else
		value = c->swap ? __builtin_bswap64(value) : value, memcpy(p, &value, 8);
}

uint64_t pd_code_peek(const struct pd_coder *c, uint32_t at, uint32_t width)
{
	const uint8_t *p = c->encodes ? (const uint8_t *)c->out.p : c->bytes;
	size_t end = c->encodes ? c->out.n : c->end;

	return p && at <= end && end - at >= width ? pb_load_bytes(p + at, width, c->swap) : 0;
}

static bool fits_width(const struct pd_node *node, uint32_t width)
{
	int64_t least = width >= 8 ? INT64_MIN : -(INT64_C(1) << (8 * width - 1));

	if (node->negative)
		return (int64_t)node->u >= least;
	return width >= 8 || node->u >> 8 * width == 0;
}

/* Returns the integer of a node, cut to `width` bytes, which must be enough for it. */
static uint64_t get_integer(struct pd_coder *c, const struct pd_node *node, const char *key,
			    uint32_t width)
{
	char expected[40];

	if (node->kind == PD_N_INT && fits_width(node, width))
		return width < 8 ? node->u & ((UINT64_C(1) << 8 * width) - 1) : node->u;
	snprintf(expected, sizeof(expected), "an integer of %u bits", 8 * width);
	pd_code_fail(c, node, key, expected);
	return 0;
}

uint64_t pd_code_value(struct pd_coder *c, const char *key, uint64_t value, uint32_t width,
		       enum pd_shown shown)
{
	struct pd_node *node = c->encodes ? pd_code_take(c, key) :
					    pd_code_add(c, key, PD_N_INT);

	if (!node)
		return c->encodes ? 0 : value;
	if (c->encodes)
		return get_integer(c, node, key, width);
	node->u = value;
	node->shown = (uint8_t)shown;
	if (shown == PD_AS_INT) {
		if (width < 8)
			node->u = (uint64_t)((int64_t)(value << (64 - 8 * width)) >>
					     (64 - 8 * width));
		node->negative = (int64_t)node->u < 0;
	}
	return value;
}

bool pd_code_bool(struct pd_coder *c, const char *key, bool value)
{
	struct pd_node *node;

	if (!c->encodes) {
		node = pd_code_add(c, key, PD_N_BOOL);
		if (node)
			node->u = value;
		return value;
	}
	node = pd_code_take(c, key);
	if (node && node->kind != PD_N_BOOL)
		pd_code_fail(c, node, key, "true or false");
	return node && node->u;
}

uint64_t pd_code_int(struct pd_coder *c, const char *key, uint32_t width, enum pd_shown shown)
{
	uint64_t value = c->encodes ? 0 : pd_code_load(c, width);

	value = pd_code_value(c, key, value, width, shown);
	if (c->encodes)
		pd_code_store(c, width, value);
	return value;
}

void pd_code_float(struct pd_coder *c, const char *key)
{
	uint64_t bits = c->encodes ? 0 : pd_code_load(c, 8);
	struct pd_node *node = c->encodes ? pd_code_take(c, key) :
					    pd_code_add(c, key, PD_N_FLOAT);
	double value = 0;

	if (!c->encodes) {
		memcpy(&value, &bits, sizeof(bits));
		if (!isfinite(value)) /* it has no literal */
			c->failed = true;
		if (node)
			node->f = value;
		return;
	}
	if (node && node->kind == PD_N_INT)
		value = node->negative ? (double)(int64_t)node->u : (double)node->u;
	else if (node && node->kind == PD_N_FLOAT)
		value = node->f;
	else if (node)
		pd_code_fail(c, node, key, "a number");
	memcpy(&bits, &value, sizeof(bits));
	pd_code_store(c, 8, bits);
}

void pd_code_zeros(struct pd_coder *c, uint32_t n)
{
	pd_code_room(c, n);
}

void pd_code_pad(struct pd_coder *c, uint32_t n)
{
	if (c->encodes)
		pd_code_room(c, n);
	else if (pd_code_left(c) >= n)
		c->at += n;
	else
		c->failed = true;
}

void pd_code_skip(struct pd_coder *c)
{
	pd_code_take(c, NULL);
}

static void push_level(struct pd_coder *c, struct pd_node *node, const char *key)
{
	if (c->depth + 1 == PD_CODE_DEPTH) {
		c->failed = true;
		return;
	}
	c->depth++;
	LEVEL(c)->table = node;
	LEVEL(c)->keyed = LEVEL(c)->item = node ? node->t.first : NULL;
	LEVEL(c)->key = key;
}

void pd_code_begin(struct pd_coder *c, const char *key)
{
	struct pd_node *node = c->encodes ? pd_code_take(c, key) :
					    pd_code_add(c, key, PD_N_TABLE);

	if (node && node->kind != PD_N_TABLE) {
		pd_code_fail(c, node, key, "a table");
		node = NULL;
	}
	push_level(c, node, key);
}

void pd_code_end(struct pd_coder *c)
{
	if (c->depth)
		c->depth--;
}

/* Begins a list, whose number of items, or of all values, is stored before it. */
static uint32_t begin_list(struct pd_coder *c, const char *key, uint32_t width, uint32_t each,
			   bool has_keys)
{
	const struct pd_node *table;
	uint64_t n = 0;

	if (!c->encodes) {
		n = width ? pd_code_load(c, width) : pd_code_left(c) / each;
		if (c->failed || n > pd_code_left(c) / each) {
			c->failed = true;
			n = 0;
		}
		pd_code_begin(c, key);
		return c->failed ? 0 : (uint32_t)n;
	}
	pd_code_begin(c, key);
	table = LEVEL(c)->table;
	if (table)
		n = has_keys ? table->t.n : table->t.n_items;
	if (width)
		pd_code_store(c, width, n);
	return c->failed ? 0 : (uint32_t)n;
}

uint32_t pd_code_count(struct pd_coder *c, const char *key, uint32_t width, uint32_t each)
{
	return begin_list(c, key, width, each, false);
}

uint32_t pd_code_members(struct pd_coder *c, const char *key, uint32_t width, uint32_t each)
{
	return begin_list(c, key, width, each, true);
}

void pd_code_check_used(struct pd_coder *c, const struct pd_node *table)
{
	for (struct pd_node *node = table->t.first; node && !c->failed; node = node->next) {
		if (!node->used && node->key) {
			pd_code_fail_found(c, node, node->key, "an unknown field",
					   "one that records of this form have");
		} else if (!node->used) {
			pd_code_fail(c, node, NULL, "no item here");
		} else if (node->kind == PD_N_TABLE) {
			push_level(c, node, node->key);
			pd_code_check_used(c, node);
			pd_code_end(c);
		}
	}
}
