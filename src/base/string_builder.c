#include "string_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool pb_string_grow(struct pb_string *s, size_t n)
{
	size_t capacity = s->capacity ? s->capacity : 256;
	size_t limit = s->limit ? s->limit : SIZE_MAX / 4;
	char *p;

	if (s->failed || n > limit || s->n > limit - n) {
		s->failed = true;
		return false;
	}
	while (capacity - s->n <= n)
		capacity *= 2;
	p = realloc(s->p, capacity);
	if (!p) {
		s->failed = true;
		return false;
	}
	s->p = p;
	s->capacity = capacity;
	return true;
}

void pb_string_format(struct pb_string *s, const char *format, ...)
{
	char small[64]; /* for numbers, which are never longer */
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(small, sizeof(small), format, ap);
	va_end(ap);
	if (n > 0)
		pb_string_add(s, small,
			      (size_t)n < sizeof(small) ? (size_t)n : sizeof(small) - 1);
}

void pb_string_deinit(struct pb_string *s)
{
	free(s->p);
	*s = (struct pb_string){ 0 };
}
