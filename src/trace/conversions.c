/* The conversions of a format string: see vsnprintf, lib/vsprintf.c of the kernel. */
#include "fmt.h"

#define MAX_WIDTH 3 /* digits */

struct format {
	const char *p, *end;
};

static size_t take(struct format *f, const char *set)
{
	const char *start = f->p;

	while (f->p < f->end && *f->p && strchr(set, *f->p))
		f->p++;
	return (size_t)(f->p - start);
}

/* A width or precision: digits, or an argument. */
static bool take_size(struct pt_fmt *fmt, struct format *f, unsigned *args, bool *star)
{
	if (f->p == f->end || *f->p != '*')
		return take(f, "0123456789") <= MAX_WIDTH;
	if (*star || *args >= PT_MAX_ARGS)
		return false;
	*star = true;
	fmt->stars[*args / 64] |= UINT64_C(1) << (*args % 64);
	++*args;
	f->p++;
	return true;
}

/* "", "hh", "h", "l", "ll", "L", "z" */
static bool take_modifier(struct format *f)
{
	const char *start = f->p;
	size_t n = take(f, "hlLzZ");

	return n <= 1 || (n == 2 && start[0] == start[1] && (*start == 'h' || *start == 'l'));
}

static bool take_conversion(struct pt_fmt *fmt, struct format *f, unsigned *args)
{
	bool star = false;

	if (f->p < f->end && *f->p == '%') {
		f->p++;
		return true;
	}
	if (take(f, "-#0") > 3 || !take_size(fmt, f, args, &star))
		return false;
	if (f->p < f->end && *f->p == '.') {
		f->p++;
		if (!take_size(fmt, f, args, &star))
			return false;
	}
	/* what follows a p is text, or for libtraceevent to know */
	if (!take_modifier(f) || f->p == f->end || !*f->p || !strchr("diuxXospc", *f->p))
		return false;
	/* not every libtraceevent takes an argument for it */
	fmt->has_char = fmt->has_char || *f->p == 'c';
	fmt->has_star = fmt->has_star || star;
	f->p++;
	return ++*args <= PT_MAX_ARGS && !(fmt->has_char && fmt->has_star);
}

bool pt_conversions_read(struct pt_fmt *fmt, const char *p, size_t n, unsigned *args)
{
	struct format f = { p, p + n };

	while (f.p < f.end) {
		char c = *f.p++;

		if (c == '\\' && f.p < f.end)
			f.p++;
		else if (c == '%' && !take_conversion(fmt, &f, args))
			return false;
	}
	return true;
}
