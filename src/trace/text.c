#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for n bytes more and a NUL. */
static bool make_room(struct pt_text *text, size_t n)
{
	size_t capacity = text->capacity ? text->capacity : 256;
	char *p;

	if (text->failed)
		return false;
	while (capacity - text->n <= n)
		capacity *= 2;
	if (capacity == text->capacity)
		return true;
	p = realloc(text->p, capacity);
	if (!p) {
		text->failed = true;
		return false;
	}
	text->p = p;
	text->capacity = capacity;
	return true;
}

void pt_text_add(struct pt_text *text, const char *p, size_t n)
{
	if (!make_room(text, n))
		return;
	memcpy(text->p + text->n, p, n);
	text->n += n;
	text->p[text->n] = 0;
}

void pt_text_format(struct pt_text *text, const char *format, ...)
{
	char small[64]; /* numbers: nothing here is longer */
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(small, sizeof(small), format, ap);
	va_end(ap);
	if (n > 0)
		pt_text_add(text, small,
			    (size_t)n < sizeof(small) ? (size_t)n : sizeof(small) - 1);
}

void pt_text_deinit(struct pt_text *text)
{
	free(text->p);
	*text = (struct pt_text){ 0 };
}
