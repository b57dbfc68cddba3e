/*
 * A compiled print format.
 */
#ifndef PERFLUA_PERFDATA_MESSAGE_INTERNAL_H
#define PERFLUA_PERFDATA_MESSAGE_INTERNAL_H

#include "base/arena.h"
#include "line.h"
#include "message.h"
#include "perfdata/format/perf_text.h"

/*
 * The numbers are libtraceevent's (enum tep_print_arg_type), for one of its messages has them.
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
	/* PD_NODE_OP: as libtraceevent has it: larger ones are nearer to the root; 0: unary */
	uint8_t priority;
	uint32_t n;	/* entries; PD_OP_INDEX: bytes of an item */
	uint64_t value; /* PD_NODE_ATOM: as a number; PD_NODE_CAST: the bits that it keeps */
	/* PD_NODE_CAST to a pointer, PD_OP_INDEX: the bits that an item keeps */
	uint64_t pointed;
	struct pd_text text; /* PD_NODE_ATOM: as text; PD_NODE_FLAGS: the delimiter */
	const struct pd_tracepoint_field *field;
	const struct pd_entry *entries; /* [n] */
	struct pd_node *left, *right; /* operands; helpers: the value or the array; its count */
	struct pd_node *first;	      /* PD_OP_CONDITION; PD_NODE_ARRAY: bytes of an item */
};

/* A conversion: %-08lx */
struct pd_conversion {
	char type;	 /* 'd', 'u', 'x', 'X', 'o', 'c', 's', 'p' */
	char pointer[8]; /* of 'p': what follows it, "ISpc" */
	bool minus, zero, alternative, plus;
	bool star_width, star_precision; /* an argument says it */
	uint8_t size;			 /* bytes of an integer */
	int width, precision;		 /* precision -1: none */
};

struct pd_step {
	struct pd_text text; /* printed as it is, if the type of `conversion` is 0 */
	struct pd_conversion conversion;
	const struct pd_node *node, *star; /* star: of a width or precision; NULL: none */
};

#define PD_MAX_PRINT_FMT 65536 /* bytes; the kernel's are a few thousand at most */
#define PD_MAX_STEPS	 257
#define PD_MAX_STAR	 65535 /* width or precision that a sample may ask for */
#define PD_MAX_INDEX	 32767

/* A tracepoint's print format. */
struct pd_program {
	const struct pd_tracepoint *tracepoint;
	const struct pd_step *steps; /* [n] */
	size_t n;
	bool has_char;	 /* a %c may print a NUL, where the text ends */
	uint64_t extent; /* bytes of raw data that its fields need */
	const struct pd_tracepoint_field **moving; /* [n_moving]: without a fixed place */
	size_t n_moving;
	const char *wrong; /* NULL: it is compiled */
	size_t wrong_at;
};

/*
 * Compiles a print format. Returns NULL without memory; the program and its parts are the
 * arena's.
 */
const struct pd_program *pd_program_compile(struct pb_arena *arena,
					    const struct pd_tracepoint *tracepoint,
					    unsigned text);

struct pd_printk {
	uint64_t address;
	struct pd_text text;
};

struct pd_printer {
	const struct pd_tracing *tracing;
	unsigned text; /* enum pd_perf_text */
	pd_function_fn *function;
	void *arg;
	struct pb_arena arena;		    /* of programs */
	const struct pd_program **programs; /* [n_programs]: by id; NULL: not met yet */
	size_t n_programs;
	struct pd_printk *printk; /* [n_printk]: strings of the kernel, by address */
	size_t n_printk;
	struct pd_line line;
};

/* A sample that is printed. */
struct pd_printed {
	const struct pd_printer *printer;
	const struct pd_tracepoint *tracepoint;
	const uint8_t *raw; /* [n] */
	uint32_t n;
	struct pd_line *out;
	bool failed; /* its data does not hold what is asked for */
};

/* The value of a node. Sets `failed` if the sample has none. */
uint64_t pd_node_number(struct pd_printed *s, const struct pd_node *node);

/*
 * Where the bytes of a node's field lie. Returns false, and sets `failed`, if they are not
 * there.
 */
bool pd_node_place(struct pd_printed *s, const struct pd_node *node, uint32_t *at, uint32_t *n);

/*
 * The value of an operation of two numbers, neither of them PD_OP_CONDITION nor PD_OP_INDEX;
 * false: division by 0.
 */
bool pd_op_apply(unsigned op, uint64_t left, uint64_t right, uint64_t *v);

/*
 * Print a node as %d …, %s, %p … do. width and precision: of an argument they are the
 * conversion's no more.
 */
void pd_print_node_number(struct pd_printed *s, const struct pd_conversion *c, uint64_t v);
void pd_print_node_string(struct pd_printed *s, const struct pd_conversion *c,
			  const struct pd_node *node);
void pd_print_node_pointer(struct pd_printed *s, const struct pd_conversion *c,
			   const struct pd_node *node);

#endif
