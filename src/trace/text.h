/*
 * Text that is put together.
 */
#ifndef PERFLUA_TRACE_TEXT_H
#define PERFLUA_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct pt_text {
	char *p; /* [capacity]: n bytes, then a NUL; NULL: nothing yet */
	size_t n, capacity;
	bool failed; /* no memory: what is added since is lost */
};

void pt_text_add(struct pt_text *text, const char *p, size_t n);
void pt_text_format(struct pt_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void pt_text_put(struct pt_text *text, const char *s)
{
	pt_text_add(text, s, strlen(s));
}

static inline void pt_text_clear(struct pt_text *text)
{
	text->n = 0;
	text->failed = false;
}

void pt_text_deinit(struct pt_text *text);

#endif
