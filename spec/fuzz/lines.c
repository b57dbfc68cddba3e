/*
 * Checks that printed lines are what print.h promises.
 */
#include <string.h>

#include "consume.h"

#define MAX_DEPTH 32

struct scan {
	const unsigned char *p, *end;
};

static int peek(const struct scan *s)
{
	return s->p < s->end ? *s->p : -1;
}

static void expect(struct scan *s, int c)
{
	FUZZ_CHECK(peek(s) == c);
	s->p++;
}

/* One character of UTF-8: see RFC 3629, section 4. */
static void character(struct scan *s)
{
	static const struct {
		unsigned char first, last, low, high, more;
	} rows[] = {
		{ 0x20, 0x7e, 0, 0, 0 },       { 0xc2, 0xdf, 0x80, 0xbf, 1 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 2 }, { 0xe1, 0xec, 0x80, 0xbf, 2 },
		{ 0xed, 0xed, 0x80, 0x9f, 2 }, { 0xee, 0xef, 0x80, 0xbf, 2 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 3 }, { 0xf1, 0xf3, 0x80, 0xbf, 3 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 3 },
	};
	size_t i = 0, n = sizeof(rows) / sizeof(rows[0]);
	int c = peek(s);

	while (i < n && (c < rows[i].first || c > rows[i].last))
		i++;
	FUZZ_CHECK(i < n && s->end - s->p > rows[i].more);
	s->p++;
	for (int k = 0; k < rows[i].more; k++, s->p++) {
		FUZZ_CHECK(*s->p >= (k ? 0x80 : rows[i].low));
		FUZZ_CHECK(*s->p <= (k ? 0xbf : rows[i].high));
	}
}

void fuzz_check_text(const char *line, size_t n)
{
	struct scan s = { (const unsigned char *)line, (const unsigned char *)line + n };

	while (peek(&s) != '\n') {
		/* C1 controls are two bytes, the second less than 0xa0 */
		FUZZ_CHECK(peek(&s) != 0xc2 || s.end - s.p < 2 || s.p[1] >= 0xa0);
		character(&s);
	}
	expect(&s, '\n');
	FUZZ_CHECK(s.p == s.end);
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static void digits(struct scan *s)
{
	FUZZ_CHECK(is_digit(peek(s)));
	while (is_digit(peek(s)))
		s->p++;
}

static void number(struct scan *s)
{
	if (peek(s) == '-')
		s->p++;
	digits(s);
	if (peek(s) == '.') {
		s->p++;
		digits(s);
	}
	if (peek(s) == 'e') {
		s->p++;
		if (peek(s) == '-' || peek(s) == '+')
			s->p++;
		digits(s);
	}
}

static void string(struct scan *s)
{
	expect(s, '"');
	while (peek(s) != '"') {
		if (peek(s) != '\\') {
			character(s);
			continue;
		}
		s->p++;
		FUZZ_CHECK(peek(s) > 0 && strchr("\"\\/bfnrtu", peek(s)));
		if (*s->p++ != 'u')
			continue;
		for (int i = 0; i < 4; i++, s->p++)
			FUZZ_CHECK(peek(s) > 0 && strchr("0123456789abcdef", peek(s)));
	}
	expect(s, '"');
}

static void word(struct scan *s, const char *text)
{
	while (*text)
		expect(s, (unsigned char)*text++);
}

static void value(struct scan *s, int depth);

static void items(struct scan *s, bool array, int depth)
{
	int end = array ? ']' : '}';

	s->p++;
	if (peek(s) == end) {
		s->p++;
		return;
	}
	for (;;) {
		if (!array) {
			string(s);
			expect(s, ':');
		}
		value(s, depth + 1);
		if (peek(s) == end)
			break;
		expect(s, ',');
	}
	s->p++;
}

static void value(struct scan *s, int depth)
{
	int c = peek(s);

	FUZZ_CHECK(depth < MAX_DEPTH);
	if (c == '{' || c == '[')
		items(s, c == '[', depth);
	else if (c == '"')
		string(s);
	else if (c == 't')
		word(s, "true");
	else if (c == 'f')
		word(s, "false");
	else if (c == 'n')
		word(s, "null");
	else
		number(s);
}

void fuzz_check_json(const char *line, size_t n)
{
	struct scan s = { (const unsigned char *)line, (const unsigned char *)line + n };

	value(&s, 0);
	expect(&s, '\n');
	FUZZ_CHECK(s.p == s.end);
}
