/*
 * A cursor walks the records of a File that pass its filters. Lua chooses them by a table of
 * options: those of a scope (scope.h); `reuse`; and, if the cursor yields values instead of
 * records, values = {tree, …} or fields = {name, …}. `chain` is the position of a value that is
 * a call chain of names or annotated: it is yielded as a number, whose text cursor:texts() has.
 */
#ifndef PERFLUA_BINDING_QUERY_CURSOR_H
#define PERFLUA_BINDING_QUERY_CURSOR_H

#include "calls.h"
#include "scope.h"

#define PL_MAX_FIELDS 255

/* User values of a cursor. */
enum {
	PL_CURSOR_FILE = 1,
	PL_CURSOR_RECORD,  /* the Record that it reuses, or that functions got */
	PL_CURSOR_META,	   /* the metatable of its Records */
	PL_CURSOR_TREES,   /* the table that keeps its trees */
	PL_CURSOR_OBJECTS, /* the Lua objects of values that recur, see values.c */
	PL_CURSOR_COUNTS,  /* the table for the counts of pairs */
	PL_CURSOR_VALUES = PL_CURSOR_COUNTS
};

/* Identifies a loop: by its position in the code, and by the value that it got last. */
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
	bool open;	   /* the walk or the rows are open */
	bool holds_system; /* until it is collected */
	bool busy;	/* a value is being handed out: a finalizer must not move the cursor */
	bool has_idle;	/* idle work is set */
	bool ended;	/* the idle work ended it */
	bool contested; /* began while another loop over its Query was unfinished */
	bool reuse;
	/* the values of the `left` rows that are still to be yielded */
	size_t left;
	const struct pq_value *next;
	size_t n_values; /* 0: it yields records, or fields read from them */
	struct pl_file *file;
	void *interrupt; /* see pl_interrupt */
	struct pq_rows *rows;
	struct pq_chains *chains; /* numbers the call chains among its values; NULL: none */
	/* for pairs: the values computed from their rows; `batch` is the current batch */
	struct pq_made made;
	struct pq_batch batch;
	struct pq_value *made_values; /* kept by its trees */
	bool has_pairs;		      /* its rows are pairs */
	bool has_counts;	      /* `counts` are set, but not in Lua's table yet */
	struct pq_pair_counts counts; /* counts of pairs, once the rows are closed */
	struct pq_scope scope;	      /* the records to walk */
	/*
	 * Types of records that are delivered beside those of the scope, whatever the filters;
	 * none, unless the caller sets them before the first record
	 */
	struct pd_types others;
	struct pl_calls *calls; /* functions that its trees call; NULL: none */
	struct pd_walk walk;	/* the walk over records */
	struct pq_fields fields;
	struct pq_expr *filter; /* condition on records; NULL: none */
	struct pq_expr **parts; /* [n_parts]: values that handlers get */
	size_t n_parts, parts_room;
	/* for the progress: offset, source and stream of the last record; part of the rows */
	struct pd_record last_met;
	double part;
	struct pl_progress progress;
	struct pb_pass *pass; /* that of the loop, until it ends; NULL: none */
	uint64_t until_shown; /* records until the progress may be shown again */
	unsigned time_id;
	struct pl_mark last; /* the loop, and the value that it got last, if `contested` */
	unsigned n_names;    /* number of selected fields; 0: the cursor yields records */
	uint16_t names[PL_MAX_FIELDS];
};

/*
 * Returns the cursor at `index`; NULL if the value is not one. Every step of a loop calls it,
 * so it tests a magic number, which is faster than to look up a metatable by name.
 */
static inline struct pl_cursor *pl_to_cursor(lua_State *L, int index)
{
	struct pl_cursor *c = lua_touserdata(L, index);

	return c && c->magic == PL_CURSOR_MAGIC ? c : NULL;
}

/*
 * Moves to the next record, and pushes its values, or a Record. Returns the number of pushed
 * values; 0 at the end.
 */
int pl_cursor_step(lua_State *L, struct pl_cursor *c, int index);

/*
 * Pushes a cursor over a File, for a table of options, and returns it. `pass` names its pass
 * for --timing; NULL: it belongs to the current pass. [-0, +1]
 */
struct pl_cursor *pl_push_cursor(lua_State *L, int file, int options, const char *pass);

/*
 * Finds the next record that passes the filters of the cursor at `index`. Returns 1; 0 if there
 * is none. Raises if the file cannot be read.
 */
int pl_cursor_next(lua_State *L, struct pl_cursor *c, int index, struct pd_record *rec);

/*
 * Does the same, but leaves the end to the caller, who calls pl_cursor_end(): returns 0, or -1
 * with *err set. A cursor over values returns records of which rows are to be made.
 */
int pl_cursor_read(lua_State *L, struct pl_cursor *c, int index, struct pd_record *rec,
		   struct pd_error *err);

/* Gives the cursor the functions that the trees of `keep` call. [-0, +0] */
void pl_cursor_take_calls(lua_State *L, struct pl_cursor *c, int keep);

/* Returns the id of the field name at `index`. Raises if there is no such field. */
uint16_t pl_field_id(lua_State *L, const struct pl_names *names, int index);

/*
 * Reads field names from the array at `table` into ids[PL_MAX_FIELDS]. Returns their number.
 * Raises if one is not the name of a field.
 */
unsigned pl_field_ids(lua_State *L, const struct pl_names *names, int table, uint16_t *ids);

/*
 * Pushes the values of n fields of a record, false for absent ones. User value 1 of `cursor` is
 * its File. [-0, +n]
 */
void pl_push_fields(lua_State *L, int cursor, const struct pd_record *rec, const uint16_t *ids,
		    unsigned n);

/*
 * Sets a function that is called while the cursor waits for streams of its file, until the
 * cursor is closed: idle.call(idle.arg). It returns a negative number to end the cursor. It may
 * call Lua, but must neither raise nor change the stack.
 */
void pl_cursor_set_idle(struct pl_cursor *c, struct pd_idle idle);

void pl_cursor_close(struct pl_cursor *c);

/*
 * Closes a cursor at its end (`err` NULL) or after an error, and reports damage of the file.
 * Raises *err if it is to be reported (pl_tells). Returns false.
 */
bool pl_cursor_end(lua_State *L, struct pl_cursor *c, const struct pd_error *err);

/*
 * Opens rows of the values that `options` name (values.c). Returns false if these cannot be
 * read as rows, but only from records.
 */
bool pl_open_values(lua_State *L, struct pl_cursor *c, int cursor, int options);
void pl_close_values(struct pl_cursor *c);

/* Copies the counts of pairs, once they are known, to the options' table. [-0, +0] */
void pl_tell_counts(lua_State *L, struct pl_cursor *c, int cursor);

/* Reads the next rows. Returns false if there are none. Raises as pl_cursor_next() does. */
bool pl_more_values(lua_State *L, struct pl_cursor *c);

/* Reads the next record of which rows are made. Returns as pl_cursor_read(). */
int pl_next_of_rows(struct pl_cursor *c, struct pd_record *rec, struct pd_error *err);

/*
 * Reads rows as pl_more_values() does, for a loop in C: checks the cursor at `index`, and
 * enters its calls. [-0, +0]
 */
bool pl_cursor_rows(lua_State *L, struct pl_cursor *c, int index);

/* Pushes the next row of those that are left; `cursor` is not a relative index. [-0, +n] */
void pl_push_values(lua_State *L, struct pl_cursor *c, int cursor);

/* Returns true if values are ready and may be yielded. */
static inline bool pl_has_values(const struct pl_cursor *c)
{
	return c->left && !c->file->closed && pl_goes_on(c->interrupt);
}

/*
 * Pushes the next row of those that are left if it consists of a few integers, as most do.
 * Returns false if it does not. [-0, +n]
 */
static inline bool pl_push_integers(lua_State *L, struct pl_cursor *c)
{
	const struct pq_value *v = c->next, *end = v + c->n_values;

	/* another thread, on another processor, wrote the values: prefetch the rows to come */
	__builtin_prefetch(v + 64);
	if (c->n_values > 8) /* the stack has room for 20 values without a check */
		return false;
	for (; v < end; v++) {
		if (v->type != PQ_INT) {
			lua_pop(L, (int)(v - c->next));
			return false;
		}
		lua_pushinteger(L, v->i);
	}
	c->next = end;
	c->left--;
	return true;
}

#endif
