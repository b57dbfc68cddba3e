#define _GNU_SOURCE /* newlocale, wcwidth */
#include "columns.h"

#include <locale.h>
#include <stdint.h>
#include <wchar.h>

#define FIRST_OTHER 0x300 /* characters before it take one column each */

/* Returns the bytes of the character at `p`, which ends before `end`, and sets *code. */
static size_t read_character(const char *p, const char *end, uint32_t *code)
{
	uint8_t first = (uint8_t)*p;
	size_t n = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	*code = n == 1 ? first : first & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (p + i == end || ((uint8_t)p[i] & 0xc0) != 0x80)
			return i;
		*code = *code << 6 | ((uint8_t)p[i] & 0x3f);
	}
	return n;
}

/* Returns the columns of a character, in the locale that is set. */
static size_t width_of(uint32_t code)
{
	int width = code < FIRST_OTHER ? 1 : wcwidth((wchar_t)code);

	return width < 0 ? 1 : (size_t)width;
}

/*
 * Sets a locale for this thread that knows the widths of all characters; where there is none,
 * that of the environment decides. Returns the one that was set before, for leave_utf8().
 */
static locale_t enter_utf8(locale_t *utf8)
{
	*utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return *utf8 ? uselocale(*utf8) : (locale_t)0;
}

static void leave_utf8(locale_t utf8, locale_t before)
{
	if (!utf8)
		return;
	uselocale(before);
	freelocale(utf8);
}

static size_t count_other_columns(const char *p, const char *end)
{
	locale_t utf8, before = enter_utf8(&utf8);
	size_t columns = 0;
	uint32_t code;

	while (p < end) {
		p += read_character(p, end, &code);
		columns += width_of(code);
	}
	leave_utf8(utf8, before);
	return columns;
}

size_t pb_count_columns(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++) {
		if ((uint8_t)text[i] >= 0xcc) /* the first byte of U+0300 */
			return count_other_columns(text, text + n);
		columns += ((uint8_t)text[i] & 0xc0) != 0x80;
	}
	return columns;
}

bool pb_shorten(const char *text, size_t n, size_t columns, size_t *head, size_t *tail)
{
	const char *end = text + n, *p = text;
	size_t left = pb_count_columns(text, n), used = 0, width, length;
	locale_t utf8, before;
	uint32_t code;

	if (left <= columns || !columns)
		return false;
	columns--; /* without the … */
	before = enter_utf8(&utf8);
	for (; p < end; p += length, used += width) {
		length = read_character(p, end, &code);
		width = width_of(code);
		if (used + width > (columns + 1) / 2)
			break;
	}
	*head = (size_t)(p - text);
	/* marks that combine with a letter go with it */
	for (left -= used; p < end; p += length, left -= width) {
		length = read_character(p, end, &code);
		width = width_of(code);
		if (width && left <= columns - used)
			break;
	}
	*tail = (size_t)(end - p);
	leave_utf8(utf8, before);
	return true;
}
