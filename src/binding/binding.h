/*
 * Names and helpers that all files of the binding share. The binding turns results into Lua
 * values and decodes nothing.
 *
 * Anything that Lua calls may longjmp, so memory that must be freed is owned by a userdata.
 * "[-0, +1]" is the change of Lua's stack, as in Lua's manual.
 */
#ifndef PERFLUA_BINDING_BINDING_H
#define PERFLUA_BINDING_BINDING_H

#include <lauxlib.h>
#include <lua.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Names of the metatables. */
#define PL_FILE	    "perflua.file"
#define PL_EVENT    "perflua.event"
#define PL_EVENTS   "perflua.events"
#define PL_FEATURES "perflua.features"
#define PL_RECORD   "perflua.record"
#define PL_VIEW	    "perflua.view"
#define PL_ARGS	    "perflua.args"
#define PL_ITEM	    "perflua.item"
#define PL_CURSOR   "perflua.cursor"

/* Registry key of the table of a File's methods, to which the Lua library adds its own. */
#define PL_FILE_METHODS "perflua.file.methods"

/*
 * Registry keys that the perflua program sets: a light userdata, the struct pb_interrupt whose
 * flag ends all loops once it is set; a boolean, whether long passes show their progress on the
 * terminal; an integer, the number of workers of files that are opened without one; a light
 * userdata, the struct pb_unfinished whose files the program removes where a signal ends it.
 */
#define PL_INTERRUPT  "perflua.interrupt"
#define PL_PROGRESS   "perflua.progress"
#define PL_PAGED      "perflua.paged" /* a pager shows standard output */
#define PL_THREADS    "perflua.threads"
#define PL_UNFINISHED "perflua.unfinished"

/* Returns the struct pb_interrupt at PL_INTERRUPT, which begins with its flag; NULL: none. */
void *pl_interrupt(lua_State *L);

/* Returns true if `flag`, which may be NULL, is unset. Then a loop in C may continue. */
static inline bool pl_goes_on(void *flag)
{
	return !flag || !*(const volatile sig_atomic_t *)flag;
}

/* Notes the start of a pass that nothing has interrupted yet. */
void pl_begin_pass(lua_State *L);

/*
 * Notes that an interrupt ended the pass after `part` (0 to 1) of the recording; a negative
 * `part` is not known.
 */
void pl_cut_pass(lua_State *L, double part);

/* Returns whether field `name` of the table at `index` is true. */
bool pl_get_flag(lua_State *L, int index, const char *name);

/* Sets field `name` of the table on top; Lua takes the integer for a signed one. [-0, +0] */
void pl_set_integer(lua_State *L, const char *name, uint64_t value);

/* Sets field `name` of the table on top, unless `text` is NULL. [-0, +0] */
void pl_set_string(lua_State *L, const char *name, const char *text);

/*
 * Pushes a userdata of `size` zeros with one user value, whose finalizer is `gc`: it owns what
 * a longjmp would lose. [-0, +1]
 */
void *pl_push_finalized(lua_State *L, size_t size, lua_CFunction gc);

/* A search for the known name that is closest to an unknown one, for an error message. */
struct pl_closest {
	const char *name, *best;
	const char *longer; /* candidate that begins with the name: is meant if none is close */
	unsigned distance;
};

/* Begins a search for `name`, which is borrowed. */
void pl_closest_init(struct pl_closest *closest, const char *name);

/* Tries a candidate, which is borrowed. */
void pl_closest_try(struct pl_closest *closest, const char *candidate);

/* Raises "MESSAGE 'NAME'; did you mean 'BEST'?", without the question if no name is close. */
int pl_closest_raise(lua_State *L, const struct pl_closest *closest, const char *message);

/* Pushes perf's version as text, "6.12" or "recorded". [-0, +1] */
void pl_push_perf(lua_State *L, unsigned perf);

/*
 * Reads the version of a perf whose text can be printed, or "recorded", into *perf. Returns
 * false if it is not known, and pushes a message. [-0, +(0|1)]
 */
bool pl_take_perf(lua_State *L, const char *text, unsigned *perf);

#endif
