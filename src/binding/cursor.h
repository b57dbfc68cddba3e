/*
 * A cursor walks the records of a File that pass its filters. What it looks for is decided in Lua and
 * given as options; here is the loop.
 *
 * Options (a table): types {[type_id] = true} (nil: all but the container's own, or with
 * `container` these, too), events {[index] = true} and event_nil (nil: all), from and to (ns, half
 * open), reuse, fields {name, …}, order ("time"; else the files').
 */
#ifndef PERFLUA_BINDING_CURSOR_H
#define PERFLUA_BINDING_CURSOR_H

#include "binding.h"

#define PL_MAX_FIELDS 32

/* User values: its File; the record it reuses; the metatable of the records it makes. */
enum {
	PL_CURSOR_FILE = 1,
	PL_CURSOR_RECORD,
	PL_CURSOR_META,
	PL_CURSOR_VALUES = PL_CURSOR_META
};

/* By what a loop is known: where it stands, and the first value that it was given last. */
struct pl_mark {
	const void *frame; /* of the function */
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
	struct pd_walk walk;
	struct pl_file *file;
	bool open; /* the walk is */
	bool busy; /* its record is being handed out: a finalizer must not move it */
	bool reuse, by_time;
	uint64_t from, to; /* ns; of the records wanted */
	unsigned time_id;
	bool contested;	     /* began while another loop over its Query was unfinished */
	struct pl_mark last; /* then: the first value that was yielded last */
	void *interrupt;     /* see pl_interrupt */
	unsigned n_fields;   /* 0: it yields records */
	uint16_t fields[PL_MAX_FIELDS]; /* name ids */
	bool by_event;
	size_t n_events; /* of event_ok, the last is for records without an event */
	uint8_t event_ok[];
};

/* Makes a cursor of a File and a table of options. [-0, +1] */
struct pl_cursor *pl_push_cursor(lua_State *L, int file, int options);

/* 1: the next record that passes; 0: there is none. Raises when the file cannot be read. */
int pl_cursor_next(lua_State *L, struct pl_cursor *c, struct pd_record *rec);

/* Field names at `table`, up to `max` strings from 1 on, as ids; returns how many. Raises on others. */
unsigned pl_field_ids(lua_State *L, const struct pl_names *names, int table, uint16_t *ids);

/*
 * Pushes the fields' values of a record, false for absent ones. User value 1 of `cursor` is its File.
 * [-0, +n]
 */
void pl_push_fields(lua_State *L, int cursor, const struct pd_record *rec, const uint16_t *ids,
		    unsigned n);

void pl_cursor_close(struct pl_cursor *c);

#endif
