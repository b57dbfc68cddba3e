/*
 * Values that are bytes or text: a tree has them as a string, or as a list of strings.
 */
#include <stdio.h>

#include "coder.h"

/* Returns how many bytes a node has: a string, or a list of strings. */
static size_t count_bytes(struct pd_coder *c, const struct pd_node *node, const char *key)
{
	size_t n = 0;

	if (node->kind == PD_N_BYTES)
		return node->s.n;
	if (node->kind != PD_N_TABLE)
		pd_code_fail(c, node, key, "a string, or a list of strings");
	for (struct pd_node *part = node->t.first; !c->failed && part; part = part->next) {
		if (part->kind != PD_N_BYTES || part->key)
			pd_code_fail(c, part, key, "a string");
		else
			n += part->s.n;
	}
	return n;
}

static void put_part(struct pd_coder *c, const struct pd_node *node)
{
	uint8_t *p = pd_code_room(c, node->s.n > PD_RECORD_MOST ? UINT32_MAX :
								  (uint32_t)node->s.n);

	if (p && node->s.n)
		memcpy(p, node->s.p, node->s.n);
}

static void put_bytes(struct pd_coder *c, const struct pd_node *node)
{
	if (node->kind == PD_N_BYTES) {
		put_part(c, node);
		return;
	}
	for (struct pd_node *part = node->t.first; !c->failed && part; part = part->next) {
		part->used = true;
		put_part(c, part);
	}
}

/* Describes `n` bytes from c->at on. */
static void add_bytes(struct pd_coder *c, const char *key, uint32_t n)
{
	struct pd_node *node;

	if (pd_code_left(c) < n)
		c->failed = true;
	node = pd_code_add(c, key, PD_N_BYTES);
	if (!node)
		return;
	node->s.p = (const char *)c->bytes + c->at;
	node->s.n = n;
	pd_code_move(c, n);
}

/* Encodes a string of `size` bytes; with `may_be_less` of at most as many, and then zeros. */
static void encode_bytes(struct pd_coder *c, const char *key, uint32_t size, bool may_be_less)
{
	struct pd_node *node = pd_code_take(c, key);
	size_t n = node ? count_bytes(c, node, key) : 0;
	char expected[48];
	uint32_t start = c->at;

	if (node && (n > size || (n < size && !may_be_less))) {
		snprintf(expected, sizeof(expected), "a string of %s%u bytes",
			 may_be_less ? "at most " : "", size);
		pd_code_fail(c, node, key, expected);
	} else if (node) {
		put_bytes(c, node);
	}
	c->at = start;
	pd_code_room(c, size);
}

void pd_code_bytes(struct pd_coder *c, const char *key, uint32_t size)
{
	if (c->encodes)
		encode_bytes(c, key, size, false);
	else
		add_bytes(c, key, size);
}

uint32_t pd_code_size(struct pd_coder *c, const char *key, uint32_t most)
{
	const struct pd_node *node = pd_code_find(c, key);
	size_t n = node ? count_bytes(c, node, key) : 0;
	char expected[48];

	if (n <= most)
		return (uint32_t)n;
	snprintf(expected, sizeof(expected), "a string of at most %u bytes", most);
	pd_code_fail(c, node, key, expected);
	return 0;
}

/* Describes a text of at most `size` bytes, and leaves c->at after all of them. */
static void describe_text(struct pd_coder *c, const char *key, uint32_t size)
{
	struct pd_text text;
	uint32_t start = c->at;

	if (c->failed || pd_code_left(c) < size) {
		c->failed = true;
		return;
	}
	text = pd_text_in(c->bytes + c->at, size);
	add_bytes(c, key, (uint32_t)text.n);
	c->at = start;
	pd_code_move(c, size);
}

void pd_code_chars(struct pd_coder *c, const char *key, uint32_t size)
{
	if (c->encodes)
		encode_bytes(c, key, size, true);
	else
		describe_text(c, key, size);
}

void pd_code_text(struct pd_coder *c, const char *key, uint32_t from, uint32_t align)
{
	struct pd_node *node;
	uint32_t padded;
	struct pd_text text;

	if (!c->encodes) {
		if (c->failed || c->at >= c->end) {
			c->failed = true;
			return;
		}
		text = pd_text_in(c->bytes + c->at, c->end - c->at);
		padded = c->at + (uint32_t)text.n + 1 - from;
		padded = from + (padded + align - 1) / align * align;
		add_bytes(c, key, (uint32_t)text.n);
		/* with another padding, all that follows the NUL is the tail */
		c->at = padded == c->end ? padded : c->at + (c->at < c->end);
		c->most = c->at;
		return;
	}
	node = pd_code_take(c, key);
	if (node) {
		count_bytes(c, node, key);
		put_bytes(c, node);
	}
	padded = from + (c->at + 1 - from + align - 1) / align * align;
	pd_code_room(c, pd_code_find(c, "tail") ? 1 : padded - c->at);
}

uint32_t pd_code_sized(struct pd_coder *c, const char *key, uint32_t width)
{
	struct pd_node *node;
	uint64_t n = 0;

	if (!c->encodes) {
		n = pd_code_load(c, width);
		if (n > c->end)
			c->failed = true;
		add_bytes(c, key, (uint32_t)n);
		return c->failed ? 0 : (uint32_t)n;
	}
	node = pd_code_take(c, key);
	if (node)
		n = count_bytes(c, node, key);
	pd_code_store(c, width, n);
	if (node)
		put_bytes(c, node);
	return (uint32_t)n;
}

void pd_code_rest(struct pd_coder *c, const char *key)
{
	struct pd_node *node;

	if (!c->encodes) {
		add_bytes(c, key, pd_code_left(c));
		return;
	}
	node = pd_code_take(c, key);
	if (node) {
		count_bytes(c, node, key);
		put_bytes(c, node);
	}
}

void pd_code_name(struct pd_coder *c, const char *key, const char *text)
{
	struct pd_node *node = pd_code_add(c, key, PD_N_BYTES);

	if (!node)
		return;
	node->s.p = text;
	node->s.n = strlen(text);
}
