/*
 * Compiled print formats, a printer's state, and the parser of print formats.
 *
 * Each function of the parser, pd_parse_…, reads what its name says into a node, and returns
 * false, after pd_parse_refuse(), if the tokens at hand are none.
 */
#ifndef PERFLUA_PERFDATA_MESSAGE_INTERNAL_H
#define PERFLUA_PERFDATA_MESSAGE_INTERNAL_H

#include "base/arena.h"
#include "base/string_builder.h"
#include "perfdata/format/perf_text.h"
#include "message.h"

/*
 * The numbers are those of libtraceevent's enum tep_print_arg_type, as one of its messages
 * prints them.
 */
enum pd_node_kind {
	PD_NODE_NULL,
	PD_NODE_ATOM, /* a literal, or a name */
	PD_NODE_FIELD,
	PD_NODE_FLAGS,
	PD_NODE_SYMBOL,
	PD_NODE_HEX,
	PD_NODE_ARRAY, /* __print_array */
	PD_NODE_CAST,
	PD_NODE_STRING, /* __get_str */
	PD_NODE_DYNAMIC = 10,
	PD_NODE_OP,
	PD_NODE_BITMASK = 13,
	PD_NODE_DYNAMIC_LENGTH,
	PD_NODE_HEX_STRING,
	PD_NODE_CPUMASK,
};

enum pd_op {
	PD_OP_NONE,
	PD_OP_NOT,
	PD_OP_COMPLEMENT,
	PD_OP_MULTIPLY,
	PD_OP_DIVIDE,
	PD_OP_MODULO,
	PD_OP_ADD,
	PD_OP_SUBTRACT,
	PD_OP_LEFT,
	PD_OP_RIGHT,
	PD_OP_LESS,
	PD_OP_MORE,
	PD_OP_AT_MOST,
	PD_OP_AT_LEAST,
	PD_OP_EQUAL,
	PD_OP_UNEQUAL,
	PD_OP_AND,
	PD_OP_XOR,
	PD_OP_OR,
	PD_OP_BOTH,
	PD_OP_EITHER,
	PD_OP_CONDITION, /* left ? first : right */
	PD_OP_INDEX,	 /* left[right] */
};

/* An entry of __print_flags and __print_symbolic. */
struct pd_entry {
	int64_t value;
	struct pd_text text;
};

struct pd_node {
	uint8_t kind; /* enum pd_node_kind */
	uint8_t op;   /* PD_NODE_OP: enum pd_op */
	/*
	 * PD_NODE_OP: priority in libtraceevent, which is larger nearer to the root; 0: unary
	 */
	uint8_t priority;
	uint32_t n;	/* number of `entries`; PD_OP_INDEX: bytes of an item */
	uint64_t value; /* PD_NODE_ATOM: the number; PD_NODE_CAST: mask of the bits it keeps */
	/* PD_NODE_CAST to a pointer, PD_OP_INDEX: mask of the bits that an item keeps */
	uint64_t pointed;
	struct pd_text text; /* PD_NODE_ATOM: the text; PD_NODE_FLAGS: the delimiter */
	const struct pd_tracepoint_field *field;
	const struct pd_entry *entries; /* [n] */
	/* PD_NODE_OP: the operands; helpers: the value or array, and the array's count */
	struct pd_node *left, *right;
	/* PD_OP_CONDITION: value if it holds; PD_NODE_ARRAY: bytes of an item */
	struct pd_node *first;
};

/* A conversion, as %-08lx. */
struct pd_conversion {
	char type;	 /* 'd', 'u', 'x', 'X', 'o', 'c', 's', 'p' */
	char pointer[8]; /* the characters after a 'p': "ISpc" */
	bool minus, zero, alternative, plus;
	bool star_width, star_precision; /* an argument gives it */
	uint8_t size;			 /* bytes of an integer */
	int width, precision;		 /* precision -1: none */
};

/* A step of a program: a text, or the conversion of a node. */
struct pd_step {
	struct pd_text text; /* printed as it is, if the conversion's type is 0 */
	struct pd_conversion conversion;
	const struct pd_node *node;
	const struct pd_node *star; /* gives the width or precision; NULL: none */
};

#define PD_MAX_PRINT_FMT 65536 /* bytes; the kernel's have a few thousand at most */
#define PD_MAX_STAR	 65535 /* largest width or precision that a sample may give */
#define PD_MAX_INDEX	 32767

/* A tracepoint's compiled print format. */
struct pd_program {
	const struct pd_tracepoint *tracepoint;
	const struct pd_step *steps; /* [n] */
	size_t n;
	bool has_char;	 /* a %c may print a NUL, which ends the text */
	uint64_t extent; /* bytes of raw data that its fields need */
	/* [n_moving]: fields without a fixed offset */
	const struct pd_tracepoint_field **moving;
	size_t n_moving;
	const char *wrong; /* the error; NULL: it is compiled */
	size_t wrong_at;
};

/*
 * Compiles a print format for texts with the differences `text`. The program belongs to the
 * arena. A print format with errors gives a program with `wrong` set. Returns NULL without
 * memory.
 */
const struct pd_program *pd_program_compile(struct pb_arena *arena,
					    const struct pd_tracepoint *tracepoint,
					    unsigned text);

/* A string of the kernel at its address. */
struct pd_printk {
	uint64_t address;
	struct pd_text text;
};

struct pd_printer {
	const struct pd_tracing *tracing;
	unsigned text; /* enum pd_perf_text */
	pd_function_fn *function;
	void *arg;
	struct pb_arena arena;		    /* memory of the programs */
	const struct pd_program **programs; /* [n_programs], by id; NULL: not compiled yet */
	size_t n_programs;
	struct pd_printk *printk; /* [n_printk], sorted by address */
	size_t n_printk;
	struct pb_string line;
};

/* A sample that is being printed. */
struct pd_printed {
	const struct pd_printer *printer;
	const struct pd_tracepoint *tracepoint;
	const uint8_t *raw; /* [n] */
	uint32_t n;
	struct pb_string *out;
	bool failed; /* the raw data does not hold what the program needs */
};

/* Returns the value of a node. Sets `failed`, and returns 0, if the sample has none. */
uint64_t pd_node_number(struct pd_printed *s, const struct pd_node *node);

/*
 * Finds the bytes of a node's field: *n of them at offset *at of the raw data. Returns false,
 * and sets `failed`, if they are not there.
 */
bool pd_node_find_bytes(struct pd_printed *s, const struct pd_node *node, uint32_t *at,
			uint32_t *n);

/*
 * Computes an operation of two numbers, other than PD_OP_CONDITION and PD_OP_INDEX. Returns
 * false for a division by zero.
 */
bool pd_op_apply(unsigned op, uint64_t left, uint64_t right, uint64_t *v);

/*
 * Print a node as %d, %s, %p and their like. `c` has width and precision resolved to numbers.
 */
void pd_print_node_number(struct pd_printed *s, const struct pd_conversion *c, uint64_t v);
void pd_print_node_string(struct pd_printed *s, const struct pd_conversion *c,
			  const struct pd_node *node);
void pd_print_node_pointer(struct pd_printed *s, const struct pd_conversion *c,
			   const struct pd_node *node);

enum pd_token {
	PD_TOKEN_END,
	PD_TOKEN_BAD, /* a character or literal that the kernel does not write */
	PD_TOKEN_NUMBER,
	PD_TOKEN_NAME,
	PD_TOKEN_STRING, /* a string with its quotes */
	PD_TOKEN_CHAR,
	PD_TOKEN_OP, /* one or two characters */
};

struct pd_tokens {
	const char *next, *end;
	enum pd_token type; /* the token at hand: `n` characters at `p` */
	const char *p;
	size_t n;
};

/* Steps to the next token. The caller sets next and end at first. */
void pd_token_next(struct pd_tokens *t);

/* Returns whether the token at hand is written as `what`. */
bool pd_token_is(const struct pd_tokens *t, const char *what);

struct pd_parser {
	struct pb_arena *arena;
	const struct pd_tracepoint *tracepoint;
	unsigned text; /* enum pd_perf_text */
	struct pd_tokens t;
	unsigned depth;	 /* nesting of the functions that read operands and operators */
	const char *why; /* the error; NULL: none so far */
	size_t why_at;	 /* offset of a token in the print format */
};

/* Notes `why` the token at hand is refused, unless an error was noted before. Returns false. */
bool pd_parse_refuse(struct pd_parser *p, const char *why);

/* Steps over a token; refuses any other. */
bool pd_parse_expect(struct pd_parser *p, const char *token);

/* Returns zeroed memory of the arena, or NULL, after refusing, without memory. */
void *pd_parse_get(struct pd_parser *p, size_t size);

/* Reads consecutive string literals, as written, without quotes. */
bool pd_parse_strings(struct pd_parser *p, struct pd_text *text);

/* Reads REC->field, from the field's name on. */
bool pd_parse_field(struct pd_parser *p, struct pd_node *x);

#define PD_MAX_NESTING 500 /* of operands and operators */

/*
 * Read parts of an expression into `x`: an operand; the operators that follow the operand `x`,
 * with their other operands; an operand with the operators that follow it.
 */
bool pd_parse_operand(struct pd_parser *p, struct pd_node *x);
bool pd_parse_operators(struct pd_parser *p, struct pd_node *x);
bool pd_parse_expression(struct pd_parser *p, struct pd_node *x);

/* Makes `x` an atom of a number, whose text is its digits. */
bool pd_parse_number(struct pd_parser *p, struct pd_node *x, uint64_t v);

/* Reads a call of one of the kernel's helpers, from its name on. */
bool pd_parse_helper(struct pd_parser *p, struct pd_node *x);

/* Returns whether the raw data holds a descriptor of the field's bytes. */
static inline bool pd_is_dynamic(const struct pd_tracepoint_field *field)
{
	return field->storage == PD_ARG_DATA || field->storage == PD_ARG_REL ||
	       field->storage == PD_ARG_SHORT;
}

#endif
