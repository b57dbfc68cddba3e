/*
 * Values by name ⇄ bytes. A coder walks the parts of a record, an attr or a feature in the
 * order in which they lie in the file. It describes bytes as a tree of values, or encodes a
 * tree as bytes; one walk does both, so that each is the inverse of the other.
 *
 * A coder that fails stays failed. While it encodes, `error` says why: the line, the field,
 * what was found and what was expected. A value that the tree lacks is 0, or empty.
 */
#ifndef PERFLUA_PERFDATA_CODER_H
#define PERFLUA_PERFDATA_CODER_H

#include "base/arena.h"
#include "base/string_builder.h"
#include "feature.h"
#include "record.h"

enum pd_node_kind {
	PD_N_INT,
	PD_N_FLOAT,
	PD_N_BOOL,
	PD_N_BYTES,
	PD_N_TABLE,
};

/* How an integer is written. */
enum pd_shown {
	PD_AS_UINT,
	PD_AS_INT,
	PD_AS_HEX,
};

/* A value of a tree. Nodes, keys and bytes live as long as the arena that they are from. */
struct pd_node {
	struct pd_node *next; /* the next value of the same table */
	const char *key;      /* NULL: an item of a list */
	uint8_t kind;	      /* enum pd_node_kind */
	uint8_t shown;	      /* enum pd_shown */
	bool negative;	      /* PD_N_INT: the value is (int64_t)u */
	bool used;	      /* it was encoded */
	uint32_t line;	      /* of the description; 0: it was not read from one */
	union {
		uint64_t u; /* PD_N_INT, PD_N_BOOL */
		double f;
		struct {
			const char *p;
			size_t n;
		} s;
		struct {
			struct pd_node *first, *last;
			uint32_t n, n_items; /* values; those without a key */
		} t;
	};
};

#define PD_CODE_DEPTH 8

struct pd_coder {
	bool encodes;
	bool failed;
	bool swap;
	bool is_raw;		      /* describing: features are described as bytes */
	uint16_t misc;		      /* of the record's header */
	const struct pd_shape *shape; /* of the record's event */
	const struct pd_record *rec;  /* while a record is described */
	const uint8_t *bytes;	      /* that are described */
	uint32_t base;		      /* offset from which offsets of fields count */
	uint32_t at, end;	/* the next byte; the end of the bytes that are described */
	uint32_t most;		/* encoding: the highest `at` of all */
	struct pb_string out;	/* encoding: the bytes, which the caller frees */
	struct pb_arena *arena; /* describing: for the nodes */
	const char *what;	/* name of the statement, for messages */
	uint32_t line;		/* where it begins */
	uint64_t default_id;	/* id of samples that have none in the tree */
	struct {
		struct pd_node *table;	      /* NULL: the tree lacks it */
		struct pd_node *keyed, *item; /* encoding: where the search goes on */
		const char *key;
	} levels[PD_CODE_DEPTH];
	unsigned depth;
	char error[256];
};

/* Begin to describe bytes [at, end) into the table `root`, or to encode the table. */
void pd_coder_describe(struct pd_coder *c, struct pd_node *root, const uint8_t *bytes,
		       uint32_t at, uint32_t end, bool swap);
void pd_coder_encode(struct pd_coder *c, struct pd_node *root, bool swap);

/* Fails, once: "found %s, expected %s" of a field; `node` may be NULL. */
void pd_code_fail(struct pd_coder *c, const struct pd_node *node, const char *key,
		  const char *expected);

/* Fails so, with other words for what was found. */
void pd_code_fail_found(struct pd_coder *c, const struct pd_node *node, const char *key,
			const char *found, const char *expected);

/* Makes a node of the arena. Returns NULL without memory. */
struct pd_node *pd_node_new(struct pb_arena *arena, struct pd_node *table, const char *key,
			    enum pd_node_kind kind);

/* Returns the member of the current table of a tree that is encoded; NULL: it has none. */
struct pd_node *pd_code_find(struct pd_coder *c, const char *key);

/* Load and store an integer of `width` bytes at c->at, which moves on. */
uint64_t pd_code_load(struct pd_coder *c, uint32_t width);
void pd_code_store(struct pd_coder *c, uint32_t width, uint64_t value);

/* Returns an integer of the bytes that were described or encoded, at an offset. */
uint64_t pd_code_peek(const struct pd_coder *c, uint32_t at, uint32_t width);

/* Describes `value`, and returns it; or returns the value of the tree, which fits `width`. */
uint64_t pd_code_value(struct pd_coder *c, const char *key, uint64_t value, uint32_t width,
		       enum pd_shown shown);
bool pd_code_bool(struct pd_coder *c, const char *key, bool value);

/* Code a number at c->at. With a key of NULL these functions code the next item of a list. */
uint64_t pd_code_int(struct pd_coder *c, const char *key, uint32_t width, enum pd_shown shown);
void pd_code_float(struct pd_coder *c, const char *key);

/* Code `size` bytes, of which the tree must have as many; a text, which ends at its NUL. */
void pd_code_bytes(struct pd_coder *c, const char *key, uint32_t size);

/*
 * Returns how many bytes a member of the tree has: a string, or a list of strings; 0 if the
 * tree lacks it. Fails if they are more than `most`.
 */
uint32_t pd_code_size(struct pd_coder *c, const char *key, uint32_t most);
void pd_code_chars(struct pd_coder *c, const char *key, uint32_t size);

/* Codes a text and its NUL, with zeros up to a multiple of `align` bytes from `from` on. */
void pd_code_text(struct pd_coder *c, const char *key, uint32_t from, uint32_t align);

/* Codes a size of `width` bytes, and as many bytes. Returns the size. */
uint32_t pd_code_sized(struct pd_coder *c, const char *key, uint32_t width);

/* Encodes `n` zeros, unless they were written before, and moves on. */
void pd_code_zeros(struct pd_coder *c, uint32_t n);

/* Moves over `n` bytes that no value stands for. */
void pd_code_pad(struct pd_coder *c, uint32_t n);

/* Returns the next item of a list that is encoded, or NULL; takes it without encoding it. */
struct pd_node *pd_code_next(struct pd_coder *c);
void pd_code_skip(struct pd_coder *c);

/* Describes a constant text. */
void pd_code_name(struct pd_coder *c, const char *key, const char *text);

/* Returns whether a node is a string of this text. */
static inline bool pd_node_is(const struct pd_node *node, const char *text)
{
	return node->kind == PD_N_BYTES && node->s.n == strlen(text) &&
	       memcmp(node->s.p, text, node->s.n) == 0;
}

/* Codes all bytes up to the end; of a tree those that it has. */
void pd_code_rest(struct pd_coder *c, const char *key);

/*
 * Begin a table, NULL: as the next item; and end it. pd_code_count() begins a list after its
 * count of `width` bytes (0: there is none, and the items fill the bytes up to the end), of
 * items of at least `each` bytes. Returns the number of items.
 */
void pd_code_begin(struct pd_coder *c, const char *key);
uint32_t pd_code_count(struct pd_coder *c, const char *key, uint32_t width, uint32_t each);
/* Begins a list of values with keys: returns their number, the items included. */
uint32_t pd_code_members(struct pd_coder *c, const char *key, uint32_t width, uint32_t each);
void pd_code_end(struct pd_coder *c);

/*
 * Codes what follows the header of a record: the flags of misc, the fields, the sample_id. A
 * record that is described is c->rec. Encoding writes the header as well.
 */
void pd_code_record(struct pd_coder *c, const struct pd_record_desc *desc);

/* Codes misc and the bytes of a record of which nothing else is known, also encoding all. */
void pd_code_unknown(struct pd_coder *c, uint32_t type);

/* Codes the flags of misc, and the fields of a table, at offsets from c->base. */
void pd_code_misc(struct pd_coder *c, const struct pd_record_desc *desc);
void pd_code_fields(struct pd_coder *c, const struct pd_record_desc *desc);

/*
 * Codes what follows the fields of a record: `padding` zeros, or else the bytes of `tail`. If
 * the last field is a text, that has all after its NUL.
 */
void pd_code_tail(struct pd_coder *c, uint32_t padding);

/* Fails if the tree has values that were not encoded. */
void pd_code_check_used(struct pd_coder *c, const struct pd_node *table);

/* Codes an attr, of `size` bytes (0: as many as it says itself), as the table `key`. */
void pd_code_attr(struct pd_coder *c, const char *key, uint32_t size);

/*
 * Codes the number of a header feature as its name, and its content: as `value`, or as `bytes`
 * if they are not understood (`feature` is NULL, or c->is_raw).
 */
uint64_t pd_code_feature_bit(struct pd_coder *c, const char *key, uint64_t bit);
void pd_code_feature(struct pd_coder *c, const struct pd_feature *feature);

/* Shared by the files that code values. */

/* Adds a node to the table that is being described. Returns NULL if the coder has failed. */
struct pd_node *pd_code_add(struct pd_coder *c, const char *key, enum pd_node_kind kind);

/* Takes the member of a tree, or with a key of NULL the next item; NULL: there is none. */
struct pd_node *pd_code_take(struct pd_coder *c, const char *key);

/* Returns how many bytes are left to describe. */
static inline uint32_t pd_code_left(const struct pd_coder *c)
{
	return c->at < c->end ? c->end - c->at : 0;
}

/* Moves over `n` bytes that were described or encoded. */
static inline void pd_code_move(struct pd_coder *c, uint32_t n)
{
	c->at += n;
	if (c->at > c->most)
		c->most = c->at;
}

/*
 * Makes room for `n` bytes at c->at, where gaps are 0, and returns it. NULL: it failed, or
 * there are no bytes.
 */
uint8_t *pd_code_room(struct pd_coder *c, uint32_t n);

#endif
