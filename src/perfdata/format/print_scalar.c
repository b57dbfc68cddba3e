#include "print_scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/string_builder.h"

void pd_print_to_string(void *arg, const char *p, size_t n)
{
	pb_string_add(arg, p, n);
}

void pd_print_init(struct pd_print *out, void (*flush)(void *arg, const char *p, size_t n),
		   void *arg)
{
	out->flush = flush;
	out->arg = arg;
	out->n = 0;
}

void pd_print_flush(struct pd_print *out)
{
	size_t n = out->n;

	out->n = 0; /* before the call, which may not return */
	if (n)
		out->flush(out->arg, out->buffer, n);
}

void pd_print_long(struct pd_print *out, const char *p, size_t n)
{
	pd_print_flush(out);
	if (n > sizeof(out->buffer)) {
		out->flush(out->arg, p, n);
		return;
	}
	memcpy(out->buffer, p, n);
	out->n = n;
}

const char pd_two_digits[201] = "00010203040506070809"
				"10111213141516171819"
				"20212223242526272829"
				"30313233343536373839"
				"40414243444546474849"
				"50515253545556575859"
				"60616263646566676869"
				"70717273747576777879"
				"80818283848586878889"
				"90919293949596979899";
static const char hex_digits[] = "0123456789abcdef";

static unsigned count_digits(uint64_t v)
{
	unsigned n = 1;

	while (v >= 10000) {
		v /= 10000;
		n += 4;
	}
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

void pd_print_uint(struct pd_print *out, uint64_t v)
{
	char *start = pd_print_room(out, 20), *p = start + count_digits(v);

	out->n += (size_t)(p - start);
	while (v >= 100) {
		p -= 2;
		memcpy(p, pd_two_digits + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(p - 2, pd_two_digits + 2 * v, 2);
	else
		p[-1] = (char)('0' + v);
}

void pd_print_int(struct pd_print *out, int64_t v)
{
	if (v < 0)
		pd_print_char(out, '-');
	pd_print_uint(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void pd_print_hex(struct pd_print *out, uint64_t v)
{
	char *p = pd_print_room(out, 18);
	unsigned digits = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	*p++ = '0';
	*p++ = 'x';
	for (unsigned i = digits; i-- > 0; v >>= 4)
		p[i] = hex_digits[v & 15];
	out->n += 2 + digits;
}

void pd_print_seconds(struct pd_print *out, uint64_t ns)
{
	uint32_t rest = (uint32_t)(ns % 1000000000);
	char *p;

	pd_print_uint(out, ns / 1000000000);
	p = pd_print_room(out, 10);
	*p = '.';
	p[9] = (char)('0' + rest % 10);
	rest /= 10;
	for (unsigned i = 7; i < 8; i -= 2, rest /= 100)
		memcpy(p + i, pd_two_digits + 2 * (rest % 100), 2);
	out->n += 10;
}

/* Prints the fewest digits, from 15 on, that read back as the same number. */
void pd_print_float(struct pd_print *out, double v, bool json)
{
	char *p = pd_print_room(out, 32);

	if (json && !isfinite(v)) {
		pd_print_bytes(out, "null", 4);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(p, 32, "%.*g", digits, v);
		if (strtod(p, NULL) == v)
			break;
	}
	out->n += strlen(p);
}

/* Bytes of a cell of CSV that are not printed as they are. */
enum {
	IN_QUOTES = 1, /* the cell must be quoted */
	DOUBLED = 2,
	NOT_ASCII = 4,
};

static const uint8_t in_cell[256] = {
	['"'] = IN_QUOTES | DOUBLED, [','] = IN_QUOTES,		  ['\n'] = IN_QUOTES,
	['\r'] = IN_QUOTES,	     [0x80 ... 0xff] = NOT_ASCII,
};

/* Prints the text of a cell whose first `plain` bytes need no change. */
static void print_changed_cell(struct pd_print *out, const char *p, size_t n, size_t plain)
{
	while (true) {
		size_t length;

		while (plain < n && !(in_cell[(uint8_t)p[plain]] & (DOUBLED | NOT_ASCII)))
			plain++;
		if (plain < n && (length = pd_utf8_length(p + plain, n - plain)) > 1) {
			plain += length;
			continue;
		}
		pd_print_bytes(out, p, plain);
		if (plain == n)
			return;
		if (p[plain] == '"')
			pd_print_bytes(out, "\"\"", 2);
		else
			pd_print_bytes(out, "\xef\xbf\xbd", 3); /* U+FFFD */
		p += plain + 1;
		n -= plain + 1;
		plain = 0;
	}
}

/* Prints a cell with `mark` before its text; 0: no mark. */
static inline void print_marked_cell(struct pd_print *out, char mark, const char *p, size_t n)
{
	size_t plain = 0;
	uint8_t found = 0;

	while (plain < n && !in_cell[(uint8_t)p[plain]])
		plain++;
	for (size_t i = plain; i < n; i++)
		found |= in_cell[(uint8_t)p[i]];
	if (found & IN_QUOTES)
		pd_print_char(out, '"');
	if (mark)
		pd_print_char(out, mark);
	if (found & (DOUBLED | NOT_ASCII))
		print_changed_cell(out, p, n, plain);
	else
		pd_print_bytes(out, p, n);
	if (found & IN_QUOTES)
		pd_print_char(out, '"');
}

void pd_print_cell(struct pd_print *out, const char *p, size_t n)
{
	print_marked_cell(out, 0, p, n);
}

void pd_print_formula(struct pd_print *out, const char *p, size_t n)
{
	print_marked_cell(out, '\'', p, n);
}

#define HEX_ROW(d)                                                                            \
	d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9" d "a" d "b" d "c" d "d" d \
	  "e" d "f"

/* The two hex digits of each byte. */
static const char hex_pairs[] = HEX_ROW("0") HEX_ROW("1") HEX_ROW("2") HEX_ROW("3") HEX_ROW("4")
	HEX_ROW("5") HEX_ROW("6") HEX_ROW("7") HEX_ROW("8") HEX_ROW("9") HEX_ROW("a")
		HEX_ROW("b") HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");

void pd_print_digits(struct pd_print *out, const char *p, size_t n)
{
	while (n) {
		size_t now = n < 128 ? n : 128;
		char *to = pd_print_room(out, 2 * now);

		for (size_t i = 0; i < now; i++)
			memcpy(to + 2 * i, hex_pairs + 2 * (uint8_t)p[i], 2);
		out->n += 2 * now;
		p += now;
		n -= now;
	}
}

size_t pd_utf8_length(const char *p, size_t n)
{
	uint8_t first = (uint8_t)p[0], second = n > 1 ? (uint8_t)p[1] : 0;
	size_t length = first < 0x80 ? 1 :
			first < 0xc2 ? 0 :
			first < 0xe0 ? 2 :
			first < 0xf0 ? 3 :
				       4;

	if (length > n || first > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* an overlong form, a surrogate, or a code point above U+10FFFF */
	if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
	    (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
		return 0;
	return length;
}

struct pd_text pd_valid_text(struct pb_string *copy, struct pd_text text)
{
	size_t at = 0, length;

	while (at < text.n && (unsigned char)text.p[at] < 0x80)
		at++;
	while (at < text.n && (length = pd_utf8_length(text.p + at, text.n - at)))
		at += length;
	if (at == text.n)
		return text;
	pb_string_clear(copy);
	for (at = 0; at < text.n; at += length ? length : 1) {
		length = pd_utf8_length(text.p + at, text.n - at);
		if (length)
			pb_string_add(copy, text.p + at, length);
		else
			pb_string_put(copy, "\xef\xbf\xbd");
	}
	return (struct pd_text){ pb_string_end(copy), copy->n };
}

static void print_json_escape(struct pd_print *out, uint8_t c)
{
	static const char short_form[] = "\"\"\\\\\nn\tt\rr";
	char *p = pd_print_room(out, 6);

	for (const char *s = short_form; *s; s += 2) {
		if (c != (uint8_t)s[0])
			continue;
		p[0] = '\\';
		p[1] = s[1];
		out->n += 2;
		return;
	}
	memcpy(p, "\\u00", 4);
	memcpy(p + 4, hex_pairs + 2 * c, 2);
	out->n += 6;
}

/* Bytes that must be escaped, by where they are printed. */
enum {
	IN_TEXT = 1,
	IN_VIEW = 2,
	IN_JSON = 4,
	IN_LINE = 8
};

#define ALWAYS (IN_TEXT | IN_VIEW | IN_JSON | IN_LINE)

static const uint8_t escaped[256] = {
	[0 ... ' ' - 1] = ALWAYS,
	[0x7f] = ALWAYS,
	['\\'] = ALWAYS & ~IN_LINE,
	[' '] = IN_TEXT | IN_VIEW,
	['"'] = IN_JSON,
	[','] = IN_VIEW,
	['='] = IN_VIEW,
	['{'] = IN_VIEW,
	['}'] = IN_VIEW,
	['['] = IN_VIEW,
	[']'] = IN_VIEW,
	[0x80 ... 0xff] = ALWAYS, /* unless it is part of a UTF-8 character */
};

/* Returns how many bytes from `p` on need no escape. */
static size_t count_plain(const char *p, size_t n, uint8_t where)
{
	size_t i = 0;

	while (i < n && !(escaped[(uint8_t)p[i]] & where))
		i++;
	return i;
}

static void print_text_escape(struct pd_print *out, uint8_t c)
{
	char *p = pd_print_room(out, 4);

	p[0] = '\\';
	if (c == '\\') {
		p[1] = '\\';
		out->n += 2;
		return;
	}
	p[1] = 'x';
	memcpy(p + 2, hex_pairs + 2 * c, 2);
	out->n += 4;
}

/* Codes of hidden characters; see pd_hidden_character(). */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{ 0x80, 0x9f },	    { 0xad, 0xad },	  { 0x34f, 0x34f },   { 0x61c, 0x61c },
	{ 0x115f, 0x1160 }, { 0x180e, 0x180e },	  { 0x200b, 0x200f }, { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0x3164, 0x3164 },	  { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },
	{ 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
};

uint32_t pd_hidden_character(const char *p, size_t length)
{
	uint32_t code;

	if (length < 2)
		return 0;
	code = (uint8_t)p[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((uint8_t)p[i] & 0x3f);
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return code;
	return 0;
}

static void print_escaped(struct pd_print *out, const char *p, size_t n, uint8_t where,
			  void (*escape)(struct pd_print *out, uint8_t c))
{
	const char *end = p + n;

	while (p < end) {
		size_t plain = count_plain(p, (size_t)(end - p), where), utf8;

		pd_print_bytes(out, p, plain);
		p += plain;
		if (p == end)
			break;
		utf8 = (uint8_t)*p < 0x80 ? 0 : pd_utf8_length(p, (size_t)(end - p));
		if (where != IN_JSON && pd_hidden_character(p, utf8))
			utf8 = 0;
		if (utf8)
			pd_print_bytes(out, p, utf8);
		else
			escape(out, (uint8_t)*p);
		p += utf8 ? utf8 : 1;
	}
}

void pd_print_json_string(struct pd_print *out, const char *p, size_t n)
{
	pd_print_char(out, '"');
	print_escaped(out, p, n, IN_JSON, print_json_escape);
	pd_print_char(out, '"');
}

void pd_print_text(struct pd_print *out, const char *p, size_t n, bool in_view)
{
	print_escaped(out, p, n, in_view ? IN_VIEW : IN_TEXT, print_text_escape);
}

void pd_print_line(struct pd_print *out, const char *p, size_t n)
{
	print_escaped(out, p, n, IN_LINE, print_text_escape);
}

void pd_escape(char *text, size_t size)
{
	size_t n = strlen(text), used = 0;
	const char *p = text, *end = text + n;
	char *copy;

	for (; p < end && (uint8_t)*p >= ' ' && (uint8_t)*p < 0x7f; p++)
		;
	if (p == end || !(copy = malloc(size)))
		return;
	for (p = text; p < end;) {
		size_t length = (uint8_t)*p < 0x80 ? (uint8_t)*p >= ' ' && *p != 0x7f :
						     pd_utf8_length(p, (size_t)(end - p));

		if (pd_hidden_character(p, length))
			length = 0;
		if (used + (length ? length : 4) >= size)
			break;
		if (length)
			memcpy(copy + used, p, length);
		else
			snprintf(copy + used, 5, "\\x%02x", (uint8_t)*p);
		used += length ? length : 4;
		p += length ? length : 1;
	}
	copy[used] = '\0';
	memcpy(text, copy, used + 1);
	free(copy);
}
