/*
 * A cursor walks the records of a File that pass its filters. Lua decides which ones, and
 * passes the options; the loop is here.
 *
 * The options are a table: those of a scope (scope.h), `reuse`, and, unless the cursor
 * yields records, the values: values {tree, …}, or fields {name, …}. With `chain`, the value at
 * that position, a call chain of names or annotated, is a number; cursor:texts() has its text.
 */
#ifndef PERFLUA_BINDING_QUERY_CURSOR_H
#define PERFLUA_BINDING_QUERY_CURSOR_H

#include "calls.h"
#include "scope.h"

#define PL_MAX_FIELDS 255

/*
 * The user values: its File; the record that it reuses, or that functions were given; the
 * metatable of the records it makes; the table that keeps its trees; the Lua objects for values
 * that recur, see values.c; the table for the counts of pairs.
 */
enum {
	PL_CURSOR_FILE = 1,
	PL_CURSOR_RECORD,
	PL_CURSOR_META,
	PL_CURSOR_TREES,
	PL_CURSOR_OBJECTS,
	PL_CURSOR_COUNTS,
	PL_CURSOR_VALUES = PL_CURSOR_COUNTS
};

/*
 * Identifies a loop: by its position in the code, and the first value that it was given last.
 */
struct pl_mark {
	const void *frame; /* frame of the function */
	int line;
	int type;
	union {
		lua_Integer i;
		lua_Number n;
		const void *p;
	};
};

#define PL_CURSOR_MAGIC 0x63757273u

struct pl_cursor {
	uint32_t magic;
	bool open;	   /* the walk is, or the rows are */
	bool holds_system; /* until it is collected */
	bool busy;	/* a value is being handed out: a finalizer must not move the cursor */
	bool has_idle;	/* idle work is set */
	bool ended;	/* the idle work ended it */
	bool contested; /* began while another loop over its Query was unfinished */
	bool reuse;
	/* values that are still to be yielded, of `left` rows */
	size_t left;
	const struct pq_value *next;
	size_t n_values; /* 0: it yields records, or fields read from them */
	struct pl_file *file;
	void *interrupt; /* see pl_interrupt */
	struct pq_rows *rows;
	struct pq_chains *chains; /* that a value is a number among; NULL: none is */
	/* for pairs: the values made of their rows, of which `batch` is the current batch */
	struct pq_made made;
	struct pq_batch batch;
	struct pq_value *made_values; /* kept by its trees */
	bool has_pairs, has_counts;   /* which are set, but not in Lua's table */
	struct pq_pair_counts counts; /* counts of pairs, once the rows are closed */
	struct pq_scope scope;	      /* the records to walk */
	struct pl_calls *calls;	      /* functions that its trees call; NULL: none */
	struct pd_walk walk;	      /* the walk over records */
	struct pq_fields fields;
	struct pq_expr *filter; /* condition on records; NULL: none */
	struct pq_expr **parts; /* [n_parts]: values that handlers are given */
	size_t n_parts, parts_room;
	struct pd_record
		last_met; /* offset, source and stream of the last record, for progress */
	double part;	  /* likewise, of rows */
	struct pl_progress progress;
	struct pb_pass *pass; /* of the loop, until it ends; NULL: none */
	uint64_t until_shown; /* records until it may be shown again */
	unsigned time_id;
	struct pl_mark last; /* the first value that was yielded last, if `contested` */
	unsigned n_names;    /* number of selected fields; 0: the cursor yields records */
	uint16_t names[PL_MAX_FIELDS];
};

/*
 * Returns the cursor at `index`; NULL if it is none. Called at every step of a loop, so it
 * tests a mark, which is faster than to look up a metatable by name.
 */
static inline struct pl_cursor *pl_to_cursor(lua_State *L, int index)
{
	struct pl_cursor *c = lua_touserdata(L, index);

	return c && c->magic == PL_CURSOR_MAGIC ? c : NULL;
}

/*
 * Does a step: pushes the values of the next record, or the record. Returns how many values it
 * pushed; 0 at the end.
 */
int pl_cursor_step(lua_State *L, struct pl_cursor *c, int index);

/*
 * Makes a cursor of a File and a table of options. `pass` says what the pass is for those who
 * ask where the time goes; NULL: it belongs to the current one. [-0, +1]
 */
struct pl_cursor *pl_push_cursor(lua_State *L, int file, int options, const char *pass);

/*
 * Finds the next record that passes the filters of the cursor at `index`. Returns 1; 0 if there
 * is none. Raises if the file cannot be read.
 */
int pl_cursor_next(lua_State *L, struct pl_cursor *c, int index, struct pd_record *rec);

/* Makes the functions of the trees that `keep` keeps those of the cursor. [-0, +0] */
void pl_cursor_take_calls(lua_State *L, struct pl_cursor *c, int keep);

/* Returns the id of the field name at `index`. Raises if it is none. */
uint16_t pl_field_id(lua_State *L, const struct pl_names *names, int index);

/*
 * Reads field names from the array at `table`, up to `max` strings, into ids. Returns how many
 * there are. Raises if one is not the name of a field.
 */
unsigned pl_field_ids(lua_State *L, const struct pl_names *names, int table, uint16_t *ids);

/*
 * Pushes the values of n fields of a record, false for absent ones. User value 1 of `cursor` is
 * its File. [-0, +n]
 */
void pl_push_fields(lua_State *L, int cursor, const struct pd_record *rec, const uint16_t *ids,
		    unsigned n);

/*
 * Calls idle.call(idle.arg) while streams of the cursor's file are waited for, until the cursor
 * is closed. If it returns a negative number the cursor is at its end. It may call Lua, but
 * must not raise, and leaves the stack as it was.
 */
void pl_cursor_set_idle(struct pl_cursor *c, struct pd_idle idle);

void pl_cursor_close(struct pl_cursor *c);

/*
 * Closes a cursor at its end, or after *err, which may be NULL, and is raised if it is to be
 * reported (pl_tells). Then reports damage of the file. Returns false.
 */
bool pl_cursor_end(lua_State *L, struct pl_cursor *c, const struct pd_error *err);

/*
 * Opens the rows of the values that `options` name (values.c). Returns false if they cannot be
 * read as rows, and must be read from records.
 */
bool pl_open_values(lua_State *L, struct pl_cursor *c, int cursor, int options);
void pl_close_values(struct pl_cursor *c);

/* Sets the counts of pairs in the table that the options gave, once they are known. [-0, +0] */
void pl_tell_counts(lua_State *L, struct pl_cursor *c, int cursor);

/*
 * Makes the next rows ready. Returns false if there are none. Raises as pl_cursor_next() does.
 */
bool pl_more_values(lua_State *L, struct pl_cursor *c);

/*
 * Makes rows ready as pl_more_values() does, for a loop in C: checks the cursor, which is at
 * `index`, and lets functions be called. [-0, +0]
 */
bool pl_cursor_rows(lua_State *L, struct pl_cursor *c, int index);

/* Pushes the values before c->next, of any type; `cursor` is not a relative index. [-0, +n] */
void pl_push_values(lua_State *L, struct pl_cursor *c, int cursor);

/* Yields the next row of those that are left. Most rows are a few integers. */
static inline int pl_next_values(lua_State *L, struct pl_cursor *c, int cursor)
{
	const struct pq_value *v = c->next, *end = v + c->n_values;

	/*
	 * the values were made by another thread, on another processor: prefetch the rows that
	 * follow
	 */
	__builtin_prefetch(v + 64);
	c->next = end;
	c->left--;
	/* the stack has room for 20 values without a check */
	for (int i = 0; i < 8 && v->type == PQ_INT; i++) {
		lua_pushinteger(L, v->i);
		if (++v == end)
			return (int)c->n_values;
	}
	pl_push_values(L, c, cursor);
	return (int)c->n_values;
}

/* Returns true if values are ready and may be yielded. */
static inline bool pl_has_values(const struct pl_cursor *c)
{
	return c->left && !c->file->closed && pl_goes_on(c->interrupt);
}

#endif
