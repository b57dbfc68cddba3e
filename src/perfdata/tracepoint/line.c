#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool pd_line_grow(struct pd_line *line, size_t n)
{
	size_t capacity = line->capacity ? line->capacity : 256;
	char *p;

	if (line->failed || n > PD_MAX_LINE || line->n + n > PD_MAX_LINE) {
		line->failed = true;
		return false;
	}
	while (capacity - line->n <= n)
		capacity *= 2;
	p = realloc(line->p, capacity);
	if (!p) {
		line->failed = true;
		return false;
	}
	line->p = p;
	line->capacity = capacity;
	return true;
}

void pd_line_format(struct pd_line *line, const char *format, ...)
{
	char small[64]; /* for numbers, which are never longer */
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(small, sizeof(small), format, ap);
	va_end(ap);
	if (n > 0)
		pd_line_add(line, small,
			    (size_t)n < sizeof(small) ? (size_t)n : sizeof(small) - 1);
}

void pd_line_deinit(struct pd_line *line)
{
	free(line->p);
	*line = (struct pd_line){ 0 };
}
