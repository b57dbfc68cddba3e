/*
 * The userdata of a Record. Each File has its own metatable for them, whose [PL_OWNER] is the
 * File: so a record keeps its file without a user value, which would double the cost of making
 * one. The one user value of a reused record is the chunk for bytes that do not fit.
 *
 * Making a Lua object may run finalizers, and these may run any Lua code: they may close the
 * file, and move the loop whose record is being reused. So no bytes of a record are used across
 * that.
 */
#ifndef PERFLUA_BINDING_RECORD_H
#define PERFLUA_BINDING_RECORD_H

#include "handle.h"

enum {
	PL_OWNER = 1,
	PL_CHUNK = 1
};
#define PL_RECORD_MAGIC 0x70657266u
#define PL_REUSE_BYTES	512

struct pl_record {
	uint32_t magic;
	uint32_t generation; /* counts the records this one has been */
	bool kept;	     /* a copy: outlives close() */
	uint32_t capacity;   /* size of `bytes` */
	struct pl_file *file;
	struct pd_record rec;
	uint8_t bytes[];
};

/*
 * Returns true if a record can be read: its file is open, or it is a copy, and finalizers have
 * not freed the file's description.
 */
static inline bool pl_readable(const struct pl_record *r)
{
	return !r->file->closed || (r->kept && r->file->file);
}

/* Pushes the File of the record at `record`. [-0, +1] */
static inline void pl_push_owner(lua_State *L, int record)
{
	lua_getmetatable(L, record);
	lua_rawgeti(L, -1, PL_OWNER);
	lua_remove(L, -2);
}

/* Returns the Record at `index`. Raises if it is none, or its file is closed. */
struct pl_record *pl_check_record(lua_State *L, int index);

/*
 * Copies a record of `f` into a userdata of its own: user value n of `holder` is the metatable
 * for records of f. [-0, +1]
 */
struct pl_record *pl_push_record_of(lua_State *L, struct pl_file *f, int holder, int n,
				    const struct pd_record *rec);

/* Pushes a record of the File at `file` that is used again and again. [-0, +1] */
struct pl_record *pl_push_reusable(lua_State *L, int file);

/* Copies the next record into the reusable one at `index`. [-0, +0] */
void pl_reuse_record(lua_State *L, int index, const struct pd_record *rec);

/* Pushes the metatable for the records of the File on top. [-0, +1] */
void pl_push_record_metatable(lua_State *L);

#endif
