/*
 * Statements of a description: a name and a table of values, in the syntax of Lua, of which
 * only literals are read: nothing is run. See docs/topics/writing.md for the form.
 */
#ifndef PERFLUA_DESCRIBE_STATEMENT_H
#define PERFLUA_DESCRIBE_STATEMENT_H

#include "perfdata/format/coder.h"
#include "perfdata/format/print.h"

/* Prints a statement on a line; long bytes are a list of strings, a line each. */
void pw_print_statement(struct pd_print *out, const char *name, const struct pd_node *root);

struct pw_parser {
	/* returns the next bytes, at most `n`; 0: there are none; -1: errno says why */
	int64_t (*read)(void *arg, char *buffer, size_t n);
	void *arg;
	const char *path;      /* for messages, borrowed */
	struct pb_arena arena; /* for the current statement */
	struct pb_string text; /* for the current string */
	uint32_t line;
	uint32_t values;
	size_t bytes;
	bool failed, ended;
	char *at, *end;
	char name[PD_MAX_NAME + 2]; /* of the statement */
	char word[PD_MAX_NAME + 2];
	struct pd_error *err;
	char buffer[1 << 16];
};

void pw_parser_init(struct pw_parser *p, int64_t (*read)(void *arg, char *buffer, size_t n),
		    void *arg, const char *path);
void pw_parser_deinit(struct pw_parser *p);

/*
 * Reads the next statement: sets p->name, and *root, which is valid until the next call.
 * Returns 1; 0 at the end; -1 with *err, whose message says the line, what was found and what
 * was expected.
 */
int pw_parse(struct pw_parser *p, struct pd_node **root, struct pd_error *err);

#endif
