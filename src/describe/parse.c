#include <errno.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>

#include "statement.h"

#define MOST_VALUES (1u << 22)			 /* of a statement */
#define MOST_BYTES  ((size_t)PD_RECORD_MOST * 2) /* of its strings */
#define MOST_DEPTH  16

void pw_parser_init(struct pw_parser *p, int64_t (*read)(void *arg, char *buffer, size_t n),
		    void *arg, const char *path)
{
	memset(p, 0, offsetof(struct pw_parser, buffer));
	p->read = read;
	p->arg = arg;
	p->path = path;
	p->line = 1;
	p->at = p->end = p->buffer;
	p->text.limit = MOST_BYTES;
}

void pw_parser_deinit(struct pw_parser *p)
{
	pb_arena_deinit(&p->arena);
	pb_string_deinit(&p->text);
}

/* Returns the next byte without taking it; -1 at the end. */
static int peek(struct pw_parser *p)
{
	int64_t n;

	if (p->at < p->end)
		return (unsigned char)*p->at;
	if (p->ended || p->failed)
		return -1;
	n = p->read(p->arg, p->buffer, sizeof(p->buffer));
	if (n < 0) {
		p->failed = true;
		pd_error_errno(p->err, p->path, "cannot read");
	}
	p->ended = n <= 0;
	p->at = p->buffer;
	p->end = p->buffer + (n > 0 ? n : 0);
	return p->ended ? -1 : (unsigned char)*p->at;
}

static int take(struct pw_parser *p)
{
	int c = peek(p);

	if (c >= 0)
		p->at++;
	p->line += c == '\n';
	return c;
}

/* Fails, once, at the current line. Returns NULL. */
static void *fail(struct pw_parser *p, const char *found, const char *expected)
{
	if (!p->failed && p->err) {
		p->err->code = "FORMAT";
		pd_error_set(p->err, "FORMAT", p->path, PD_NO_OFFSET,
			     "line %u: found %s, expected %s", p->line, found, expected);
	}
	p->failed = true;
	return NULL;
}

/* Fails because of the next byte. */
static void *fail_here(struct pw_parser *p, const char *expected)
{
	char found[32];
	int c = peek(p);

	if (c < 0)
		snprintf(found, sizeof(found), "the end of the file");
	else if (c > ' ' && c < 0x7f)
		snprintf(found, sizeof(found), "'%c'", c);
	else
		snprintf(found, sizeof(found), "the byte 0x%02x", (unsigned)c);
	return fail(p, found, expected);
}

/* Takes what follows "--[": a long comment if another '[' comes, which a "]]" ends. */
static void skip_long_comment(struct pw_parser *p)
{
	int c, last = 0;

	while ((c = take(p)) >= 0 && !(c == ']' && last == ']'))
		last = c;
	if (c < 0)
		fail(p, "the end of the file", "the end of a comment, ]]");
}

static void skip_comment(struct pw_parser *p)
{
	take(p);
	take(p);
	if (peek(p) == '[') {
		take(p);
		if (peek(p) == '[') {
			skip_long_comment(p);
			return;
		}
		if (peek(p) == '=') {
			fail_here(p, "a comment of a line, or one in [[ ]]");
			return;
		}
	}
	while (peek(p) >= 0 && peek(p) != '\n')
		take(p);
}

/* Returns the byte after the next one; -1: there is none. */
static int peek_second(struct pw_parser *p)
{
	int64_t n;

	if (peek(p) < 0)
		return -1;
	if (p->end - p->at == 1 && !p->ended) {
		p->buffer[0] = *p->at;
		n = p->read(p->arg, p->buffer + 1, sizeof(p->buffer) - 1);
		if (n < 0) {
			p->failed = true;
			pd_error_errno(p->err, p->path, "cannot read");
		}
		p->ended = n <= 0;
		p->at = p->buffer;
		p->end = p->buffer + 1 + (n > 0 ? n : 0);
	}
	return p->end - p->at > 1 ? (unsigned char)p->at[1] : -1;
}

/* Skips spaces and comments. Returns the next byte; -1 at the end. */
static int skip_space(struct pw_parser *p)
{
	int c = -1;

	while (!p->failed) {
		c = peek(p);
		if (c == '-' && peek_second(p) == '-')
			skip_comment(p);
		else if (c == ' ' || (c >= '\t' && c <= '\r'))
			take(p);
		else
			break;
	}
	return p->failed ? -1 : c;
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

/* Reads a name. Returns false if it is too long. */
static bool read_name(struct pw_parser *p)
{
	size_t n = 0;

	while (is_letter(peek(p)) || is_digit(peek(p))) {
		if (n == sizeof(p->word) - 1) {
			p->word[n] = '\0';
			fail(p, "a name of more than 46 letters", "the name of a field");
			return false;
		}
		p->word[n++] = (char)take(p);
	}
	p->word[n] = '\0';
	return true;
}

static int digit_of(int c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void add_byte(struct pw_parser *p, int c)
{
	char byte = (char)c;

	pb_string_add(&p->text, &byte, 1);
	p->bytes++;
	if (p->text.failed || p->bytes > MOST_BYTES)
		fail(p, "a statement with longer strings", "at most 128 MB of them");
}

/* Reads a number of two hex digits. */
static void read_hex_byte(struct pw_parser *p)
{
	int high = digit_of(peek(p)), low;

	if (high < 0) {
		fail_here(p, "a hex digit");
		return;
	}
	take(p);
	low = digit_of(peek(p));
	if (low < 0) {
		fail_here(p, "a hex digit");
		return;
	}
	take(p);
	add_byte(p, high << 4 | low);
}

/* Reads what follows a backslash. */
static void read_escape(struct pw_parser *p)
{
	static const char letters[] = "nrtabfv\\\"'\n", bytes[] = "\n\r\t\a\b\f\v\\\"'\n";
	int c = peek(p), value = 0;
	const char *letter = c > 0 ? strchr(letters, c) : NULL;

	if (letter) {
		take(p);
		add_byte(p, bytes[letter - letters]);
	} else if (c == 'x') {
		take(p);
		read_hex_byte(p);
	} else if (c == 'z') {
		take(p);
		while (peek(p) == ' ' || (peek(p) >= '\t' && peek(p) <= '\r'))
			take(p);
	} else if (is_digit(c)) {
		for (int i = 0; i < 3 && is_digit(peek(p)); i++)
			value = 10 * value + take(p) - '0';
		if (value > 255)
			fail(p, "an escape of more than \\255", "a byte");
		else
			add_byte(p, value);
	} else {
		fail_here(p, "an escape that Lua has: \\n, \\x1b, \\027 …");
	}
}

/* Reads a string into p->text; `is_hex`: of hex digits, two a byte, and spaces. */
static void read_string(struct pw_parser *p, bool is_hex)
{
	int quote = take(p), c;

	pb_string_clear(&p->text);
	while (!p->failed && (c = peek(p)) != quote) {
		if (c < 0 || (c == '\n' && !is_hex)) {
			fail_here(p, "the end of a string");
		} else if (is_hex && (c == ' ' || c == '\n' || c == '\t')) {
			take(p);
		} else if (is_hex) {
			read_hex_byte(p);
		} else if (c == '\\') {
			take(p);
			read_escape(p);
		} else {
			add_byte(p, take(p));
		}
	}
	take(p);
}

/* Sets an integer from the digits in p->word. Returns false if it does not fit. */
static bool set_integer(struct pd_node *node, const char *digits, bool negative)
{
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;

	errno = 0;
	node->u = strtoull(digits + (hex ? 2 : 0), &end, hex ? 16 : 10);
	if (errno || *end || !is_digit(digits[0]) || (hex && digit_of(digits[2]) < 0))
		return false;
	node->shown = hex ? PD_AS_HEX : PD_AS_UINT;
	node->negative = negative && node->u;
	if (negative)
		node->u = -node->u;
	return hex || !node->negative || node->u >= (uint64_t)INT64_MIN;
}

/* Reads a number, whose sign was taken. */
static void read_number(struct pw_parser *p, struct pd_node *node, bool negative)
{
	char digits[64], *end;
	size_t n = 0;
	int c;

	while ((c = peek(p)) == '.' || is_letter(c) || is_digit(c) ||
	       ((c == '+' || c == '-') && n && strchr("eE", digits[n - 1]) &&
		strncmp(digits, "0x", 2) != 0)) {
		if (n == sizeof(digits) - 1)
			break;
		digits[n++] = (char)take(p);
	}
	digits[n] = '\0';
	node->kind = PD_N_INT;
	if (n < sizeof(digits) - 1 && set_integer(node, digits, negative))
		return;
	node->kind = PD_N_FLOAT;
	node->f = strtod(digits, &end);
	if (!n || *end || !strpbrk(digits, ".eE") || strpbrk(digits, "xXpPnN"))
		fail(p, digits, "an integer of 64 bits, or a number with a point");
	if (negative)
		node->f = -node->f;
}

static void read_table(struct pw_parser *p, struct pd_node *table, unsigned depth);

static void set_string(struct pw_parser *p, struct pd_node *node)
{
	node->kind = PD_N_BYTES;
	node->s.n = p->text.n;
	node->s.p = pb_arena_text(&p->arena, p->text.p ? p->text.p : "", p->text.n);
	if (!node->s.p)
		fail(p, "no memory", "memory for a string");
}

/* Reads what follows a word: true, false, or hex and its string. */
static void read_word(struct pw_parser *p, struct pd_node *node)
{
	if (strcmp(p->word, "true") == 0 || strcmp(p->word, "false") == 0) {
		node->kind = PD_N_BOOL;
		node->u = p->word[0] == 't';
	} else if (strcmp(p->word, "hex") == 0) {
		skip_space(p);
		if (peek(p) != '"' && peek(p) != '\'') {
			fail_here(p, "a string of hex digits");
			return;
		}
		read_string(p, true);
		set_string(p, node);
	} else {
		fail(p, p->word, "a number, a string, hex \"…\", true, false or a table");
	}
}

static void read_value(struct pw_parser *p, struct pd_node *node, unsigned depth)
{
	int c = skip_space(p);

	node->line = p->line;
	if (c == '-') {
		take(p);
		if (is_digit(peek(p)) || peek(p) == '.')
			read_number(p, node, true);
		else
			fail_here(p, "a number");
	} else if (is_digit(c) || c == '.') {
		read_number(p, node, false);
	} else if (c == '"' || c == '\'') {
		read_string(p, false);
		set_string(p, node);
	} else if (c == '{') {
		node->kind = PD_N_TABLE;
		read_table(p, node, depth + 1);
	} else if (is_letter(c)) {
		if (read_name(p))
			read_word(p, node);
	} else {
		fail_here(p, "a value: a number, a string, true, false or a table");
	}
}

/* Adds a value to a table. Returns NULL if the statement has too many. */
static struct pd_node *add_value(struct pw_parser *p, struct pd_node *table, const char *key)
{
	struct pd_node *node = NULL;

	if (++p->values > MOST_VALUES)
		return fail(p, "a statement of more values", "at most 4194304");
	node = pd_node_new(&p->arena, table, key, PD_N_INT);
	return node ? node : fail(p, "no memory", "memory for a value");
}

/* Reads a field: NAME = VALUE, or VALUE. */
static void read_field(struct pw_parser *p, struct pd_node *table, unsigned depth)
{
	struct pd_node *node;
	char *key = NULL;

	if (is_letter(peek(p))) {
		if (!read_name(p))
			return;
		if (skip_space(p) == '=') {
			take(p);
			key = pb_arena_text(&p->arena, p->word, strlen(p->word));
			if (!key) {
				fail(p, "no memory", "memory for a name");
				return;
			}
		} else {
			node = add_value(p, table, NULL);
			if (node) {
				node->line = p->line;
				read_word(p, node);
			}
			return;
		}
	}
	node = add_value(p, table, key);
	if (node)
		read_value(p, node, depth);
}

static void read_table(struct pw_parser *p, struct pd_node *table, unsigned depth)
{
	int c;

	table->line = p->line;
	take(p); /* { */
	if (depth > MOST_DEPTH) {
		fail(p, "tables in tables", "at most 16 of them");
		return;
	}
	while (!p->failed && (c = skip_space(p)) != '}') {
		read_field(p, table, depth);
		c = skip_space(p);
		if (c == ',' || c == ';')
			take(p);
		else if (c != '}')
			fail_here(p, "',' or '}'");
	}
	take(p);
}

int pw_parse(struct pw_parser *p, struct pd_node **root, struct pd_error *err)
{
	int c;

	p->err = err;
	pb_arena_clear(&p->arena);
	p->values = 0;
	p->bytes = 0;
	while ((c = skip_space(p)) == ';')
		take(p);
	if (p->failed)
		return -1;
	if (c < 0)
		return 0;
	if (!is_letter(c)) {
		fail_here(p, "a statement: NAME { … }");
		return -1;
	}
	*root = pd_node_new(&p->arena, NULL, NULL, PD_N_TABLE);
	if (!*root)
		fail(p, "no memory", "memory for a statement");
	if (p->failed || !read_name(p))
		return -1;
	memcpy(p->name, p->word, sizeof(p->name));
	if (skip_space(p) != '{')
		fail_here(p, "'{' after the name of a statement");
	else
		read_table(p, *root, 1);
	return p->failed ? -1 : 1;
}
