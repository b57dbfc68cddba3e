/*
 * The userdata of a File, and the functions that the other types call with it.
 */
#ifndef PERFLUA_BINDING_HANDLE_H
#define PERFLUA_BINDING_HANDLE_H

#include "machine/machine.h"
#include "names.h"

/* User values of a File. */
enum {
	PL_FILE_EVENTS = 1, /* its Events */
	PL_FILE_FEATURES,
	PL_FILE_RECORD,	 /* the metatable of its records */
	PL_FILE_SYMBOLS, /* the options of open, which keep strings of `symbols` */
	PL_FILE_ARGS,	 /* names of tracepoints' fields: see args.c */
	PL_FILE_VALUES = PL_FILE_ARGS
};

struct pl_file {
	struct pd_session *session; /* NULL: never opened */
	struct pd_file *file;	    /* the first recording, which describes the others too */
	bool closed;
	bool array;	    /* opened by an array of paths */
	bool strict;	    /* damage raises */
	unsigned threads;   /* at most, for one pass; 0: as many as there are processors */
	size_t warned;	    /* damage that was reported, of all recordings */
	uint64_t late;	    /* records of the last pass that came too late for their place */
	uint64_t said_late; /* number of late records that were reported */
	struct pm_system *system; /* made when it is first asked for, or as a stream passes */
	struct pm_resolver *resolver; /* made with it */
	/* what an earlier pass found for the system; NULL: nothing, or it is made */
	struct pm_sideband *sideband;
	unsigned n_users;		/* of the system: see pl_system_hold() */
	struct ps_interrupt *interrupt; /* of the loading of symbols */
	struct ps_options symbols;	/* options for symbols, as given to open */
	bool copied;			/* there may be records that outlive close() */
	const struct pl_names *names;
	void *args; /* names of tracepoints' fields, or NULL: see args.c */
	/*
	 * Pushes a value of the record at `record` that is an object, or that the recorded
	 * system knows: pl_push_value() calls it. [-0, +1]
	 */
	void (*push_object)(lua_State *L, int record, const struct pd_value *value);
};

/* Returns the File at `index`, which may be closed. Raises if it is none. */
struct pl_file *pl_check_file(lua_State *L, int index);

/* Returns the open File at `index`. Raises if it is none, or closed. */
struct pl_file *pl_check_open_file(lua_State *L, int index);

/* Raises, once, if names that were asked for were not read because of an interrupt. */
static inline void pl_check_names(lua_State *L, struct pl_file *f)
{
	if (ps_interrupt_was_cut(f->interrupt))
		luaL_error(L, "%s: " PM_INTERRUPTED, f->file->path);
}

/* Notes the same of a pass, whose result then has addresses in their place. */
void pl_cut_names(lua_State *L, struct pl_file *f);

/*
 * Returns true if an error is to be reported: every one, except when the flag was set while a
 * stream was waited for, which then ends there.
 */
static inline bool pl_tells(void *flag, const struct pd_error *err)
{
	return pl_goes_on(flag) || !pd_error_interrupted(err);
}

/* Warns with an error's message by warn(). */
void pl_warn(lua_State *L, const struct pd_error *err);

/*
 * Warns of new damage, once each, or raises if the file is strict; and of records that came too
 * late for their place in time. Calls Lua, which may close the file.
 */
void pl_file_report(lua_State *L, struct pl_file *file);

/*
 * Returns true if the records can be read only once. Then the cursor that reads them gives them
 * to the recorded system.
 */
bool pl_file_passes(const struct pl_file *file);

/*
 * Returns how many threads work for a file at most: the number given to open, else one for each
 * processor that the process may use.
 */
unsigned pl_threads(const struct pl_file *file);

/*
 * Returns the number of threads in field `name` of a table; 0 if there is none. Raises if it is
 * not a valid number. [-0, +0]
 */
unsigned pl_threads_option(lua_State *L, int table, const char *name);

#endif
