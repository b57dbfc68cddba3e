#include "demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/string_builder.h"

/* Longer names help nobody; names of the compilers themselves stay far below. */
#define MAX_MANGLED   4096
#define MAX_DEMANGLED 65536

static int parse_hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Demangles camlModule__name_123: "__" is a dot, $xx another character. See
 * tools/perf/util/demangle-ocaml.c.
 */
static char *demangle_ocaml(const char *name, size_t *length)
{
	char *result, *to;

	if (strncmp(name, "caml", 4) != 0 || name[4] < 'A' || name[4] > 'Z')
		return NULL;
	result = to = malloc(strlen(name));
	if (!result)
		return NULL;
	name += 4;
	while (*name) {
		if (name[0] == '_' && name[1] == '_') {
			*to++ = '.';
			name += 2;
		} else if (name[0] == '$' && parse_hex_digit(name[1]) >= 0 &&
			   parse_hex_digit(name[2]) >= 0 &&
			   (name[1] != '0' || name[2] != '0')) {
			*to++ = (char)(parse_hex_digit(name[1]) << 4 |
				       parse_hex_digit(name[2]));
			name += 3;
		} else {
			*to++ = *name++;
		}
	}
	*to = '\0';
	*length = (size_t)(to - result);
	return result;
}

#ifdef PERFLUA_LIBIBERTY
#include <libiberty/demangle.h>

/* Receives the output of libiberty, piece by piece. */
struct output {
	struct pb_string text;
	jmp_buf stop; /* libiberty offers no other way to stop it */
};

static void collect_output(const char *piece, size_t n, void *arg)
{
	struct output *output = arg;

	pb_string_add(&output->text, piece, n);
	if (output->text.failed)
		longjmp(output->stop, 1);
}

/*
 * Returns true for Rust's older names, which are C++ names that end with a hash: "17h", 16
 * digits, "E".
 */
static bool may_be_rust(const char *name)
{
	return name[1] == 'R' || strstr(name, "17h");
}

static bool run_libiberty(const char *name, struct output *output)
{
	if (setjmp(output->stop))
		return false;
	if (may_be_rust(name)) {
		if (rust_demangle_callback(name, DMGL_NO_OPTS, collect_output, output))
			return true;
		pb_string_clear(&output->text);
	}
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, collect_output, output);
}

/* Demangles "_Z…", "_R…" and "_GLOBAL_…"; other names are not mangled. */
static char *demangle_bounded(const char *name, size_t limit, size_t *length)
{
	struct output output = { .text.limit = limit };
	bool ok;

	if (!limit || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R' && name[1] != 'G') ||
	    strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return NULL;
	ok = run_libiberty(name, &output);
	*length = output.text.n;
	if (ok && output.text.n)
		return pb_string_end(&output.text);
	pb_string_deinit(&output.text);
	return NULL;
}
#else
static char *demangle_bounded(const char *name, size_t limit, size_t *length)
{
	(void)name, (void)limit, (void)length;
	return NULL;
}
#endif

char *ps_demangle_within(const char *name, size_t *room, size_t *length)
{
	size_t limit = *room < MAX_DEMANGLED ? *room : MAX_DEMANGLED;
	char *result = demangle_ocaml(name, length);

	if (result)
		return result;
	*length = 0;
	result = demangle_bounded(name, limit, length);
	*room -= *length;
	return result;
}

char *ps_demangle(const char *name)
{
	size_t room = MAX_DEMANGLED, length;

	return ps_demangle_within(name, &room, &length);
}
