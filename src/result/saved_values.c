/* Reads the values of saved results: numbers, texts, stacks. Nothing in them is believed. */

#include "saved_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define MAX_NUMBER 63 /* bytes of a number */

bool pr_refuse(struct loader *l, size_t at, const char *expected)
{
	*l->err = (struct pr_load_error){ at, expected };
	return false;
}

static bool refuse_value(struct loader *l)
{
	return pr_refuse(l, l->at, "a value before here");
}

static bool refuse_stack(struct loader *l)
{
	return pr_refuse(l, l->at, "a call stack before here");
}

bool pr_read_token(struct loader *l, const char *expected, struct pd_text *token)
{
	const char *p = l->body + l->at, *tab = memchr(p, '\t', l->n - l->at);

	if (!tab)
		return pr_refuse(l, l->at, expected);
	*token = (struct pd_text){ p, (size_t)(tab - p) };
	l->at += token->n + 1;
	return true;
}

bool pr_split_part(struct pd_text *rest, char separator, struct pd_text *part)
{
	const char *end;

	while (rest->n && *rest->p == separator)
		*rest = (struct pd_text){ rest->p + 1, rest->n - 1 };
	if (!rest->n)
		return false;
	end = memchr(rest->p, separator, rest->n);
	*part = (struct pd_text){ rest->p, end ? (size_t)(end - rest->p) : rest->n };
	*rest = (struct pd_text){ rest->p + part->n, rest->n - part->n };
	return true;
}

bool pr_split_exactly(struct pd_text rest, char separator, struct pd_text *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *end = memchr(rest.p, separator, rest.n);

		if (!end != (i + 1 == n))
			return false;
		parts[i] = (struct pd_text){ rest.p, end ? (size_t)(end - rest.p) : rest.n };
		if (end)
			rest = (struct pd_text){ end + 1, rest.n - parts[i].n - 1 };
	}
	return true;
}

bool pr_is_decimal(struct pd_text text)
{
	if (text.n && *text.p == '-')
		text = (struct pd_text){ text.p + 1, text.n - 1 };
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	return text.n;
}

bool pr_parse_number(struct pd_text text, struct pq_value *out)
{
	char copy[MAX_NUMBER + 1], *end;

	if (!text.n || text.n > MAX_NUMBER || *text.p == ' ' ||
	    (*text.p >= '\t' && *text.p <= '\r'))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	errno = 0;
	if (pr_is_decimal(text)) {
		*out = (struct pq_value){ .type = PQ_INT, .i = strtoll(copy, NULL, 10) };
		if (!errno)
			return true;
	}
	*out = (struct pq_value){ .type = PQ_FLOAT, .f = strtod(copy, &end) };
	return end == copy + text.n;
}

bool pr_parse_natural(struct pd_text text, uint64_t *out)
{
	struct pq_value value;

	if (!pr_parse_number(text, &value) || value.type != PQ_INT || value.i < 0)
		return false;
	*out = value.u;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the bytes that an escaped text stands for and a NUL; NULL without memory. */
static const char *unescape(struct loader *l, struct pd_text text, size_t *n)
{
	char *to = pb_arena_text(&l->texts, text.p, text.n);

	if (!to)
		return NULL;
	*n = 0;
	for (size_t i = 0; i < text.n; i++) {
		const char *p = text.p + i;

		to[*n] = *p;
		if (*p == '\\' && text.n - i > 2 && hex_digit(p[1]) >= 0 &&
		    hex_digit(p[2]) >= 0) {
			to[*n] = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
			i += 2;
		}
		++*n;
	}
	to[*n] = '\0';
	return to;
}

bool pr_add_known(struct loader *l, const struct pq_value *value)
{
	if (!pb_reserve(l->known, l->n_known, l->known_room))
		return false;
	l->known[l->n_known++] = *value;
	return true;
}

static bool load_text(struct loader *l, struct pd_text text, struct pq_value *out)
{
	size_t n = text.n;
	const char *p = text.p;

	if (memchr(p, '\\', n))
		p = unescape(l, text, &n);
	if (!p || n > UINT32_MAX)
		return false;
	*out = (struct pq_value){ .type = PQ_TEXT, .size = (uint32_t)n, .p = p };
	return pr_add_known(l, out);
}

/* Reads "TEXT, or ~ for none, of a frame. */
static bool load_frame_text(struct loader *l, struct pd_text token, struct pd_text *out)
{
	*out = (struct pd_text){ 0 };
	if (token.n == 1 && *token.p == '~')
		return true;
	if (!token.n || *token.p != '"')
		return refuse_stack(l);
	out->p = unescape(l, (struct pd_text){ token.p + 1, token.n - 1 }, &out->n);
	if (!out->p)
		return false;
	return strlen(out->p) == out->n || refuse_stack(l);
}

static bool load_build_id(struct loader *l, struct pd_text token, struct ps_build_id *id)
{
	struct pd_text text;

	if (!load_frame_text(l, token, &text))
		return false;
	if (text.n % 2 || text.n > 2 * PS_MAX_BUILD_ID)
		return refuse_stack(l);
	for (size_t i = 0; i < text.n; i++) {
		int digit = hex_digit(text.p[i]);

		if (digit < 0 || (text.p[i] >= 'A' && text.p[i] <= 'F'))
			return refuse_stack(l);
		id->bytes[i / 2] = (uint8_t)(id->bytes[i / 2] << 4 | digit);
	}
	id->size = (uint8_t)(text.n / 2);
	return true;
}

static bool parse_frame_kind(struct pd_text text, uint8_t *kind)
{
	for (*kind = 0; *kind < PQ_FRAME_KINDS; ++*kind) {
		const char *name = pq_frame_kind_name(*kind);

		if (strlen(name) == text.n && memcmp(name, text.p, text.n) == 0)
			return true;
	}
	return false;
}

static bool parse_address(struct pd_text text, uint64_t *address)
{
	if (text.n < 3 || text.n > 2 + 16 || text.p[0] != '0' || text.p[1] != 'x')
		return false;
	*address = 0;
	for (size_t i = 2; i < text.n; i++) {
		int digit = hex_digit(text.p[i]);

		if (digit < 0)
			return false;
		*address = *address << 4 | (uint64_t)digit;
	}
	return true;
}

/* Reads a frame that is not a number, and sets *number to its number among the stacks. */
static bool load_frame(struct loader *l, struct pd_text token, uint32_t *number)
{
	struct pd_text parts[5];
	struct pq_stack_frame frame = { 0 };

	if (!pr_split_exactly(token, ';', parts, 5) ||
	    !parse_frame_kind(parts[0], &frame.kind) ||
	    !parse_address(parts[3], &frame.address))
		return refuse_stack(l);
	if (!load_frame_text(l, parts[1], &frame.binary) ||
	    !load_build_id(l, parts[2], &frame.build_id) ||
	    !load_frame_text(l, parts[4], &frame.symbol) ||
	    !pb_reserve(l->frames, l->n_frames, l->frames_room))
		return false;
	if (frame.binary.p && strcmp(frame.binary.p, PM_UNKNOWN) == 0)
		frame.binary = (struct pd_text){ 0 };
	*number = pq_stacks_add_frame(l->stacks, &frame);
	if (*number == UINT32_MAX)
		return false;
	l->frames[l->n_frames++] = *number;
	return true;
}

static bool load_stack(struct loader *l, struct pd_text rest, struct pq_value *out)
{
	uint32_t frames[PM_MAX_FRAMES];
	size_t n = 0;
	struct pd_text token;

	if (!l->stacks)
		return refuse_stack(l);
	for (; pr_split_part(&rest, ',', &token); n++) {
		uint64_t i;

		if (n == PM_MAX_FRAMES)
			return refuse_stack(l);
		if (pr_parse_natural(token, &i) && i && i <= l->n_frames)
			frames[n] = l->frames[i - 1];
		else if (!load_frame(l, token, &frames[n]))
			return false;
	}
	*out = (struct pq_value){ .type = PQ_CHAIN, .u = pq_stacks_add(l->stacks, frames, n) };
	return out->u != UINT32_MAX && pr_add_known(l, out);
}

bool pr_load_token(struct loader *l, struct pd_text token, struct pq_value *out)
{
	const struct pd_text rest = { token.p + 1, token.n - 1 };
	uint64_t i;

	*out = (struct pq_value){ 0 };
	if (!token.n)
		return refuse_value(l);
	if (*token.p == '"')
		return load_text(l, rest, out);
	if (*token.p == '@')
		return load_stack(l, rest, out);
	if (*token.p == '$') {
		if (!pr_is_decimal(rest) || !pr_parse_natural(rest, &i) || !i || i > l->n_known)
			return refuse_value(l);
		*out = l->known[i - 1];
		return true;
	}
	if (token.n == 1 && (*token.p == 't' || *token.p == 'f'))
		*out = (struct pq_value){ .type = PQ_BOOL, .u = *token.p == 't' };
	else if ((token.n > 1 || *token.p != '~') && !pr_parse_number(token, out))
		return refuse_value(l);
	return true;
}
