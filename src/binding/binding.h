/*
 * The Lua types of perflua and what they share. Values are decoded by perfdata; here they only
 * become Lua values. Anything Lua calls may longjmp: whatever must be freed is owned by a
 * userdata.
 */
#ifndef PERFLUA_BINDING_BINDING_H
#define PERFLUA_BINDING_BINDING_H

#include <lauxlib.h>
#include <lua.h>
#include <signal.h>

#include "machine/machine.h"

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
 * Registry key of a light userdata: the volatile sig_atomic_t an interpreter sets to end all
 * loops.
 */
#define PL_INTERRUPT "perflua.interrupt"

/*
 * Registry key of a boolean, which an interpreter sets: passes that take long may say so on a
 * terminal.
 */
#define PL_PROGRESS "perflua.progress"

/*
 * Registry key of an integer, which an interpreter sets: the threads of files that are opened
 * without saying it.
 */
#define PL_THREADS "perflua.threads"

/*
 * Field names by the address of their interned Lua string: one per Lua state, in the registry,
 * which keeps the strings too. An id above PL_METHODS is a method of Record.
 */
#define PL_NAME_SLOTS 2048 /* a power of two, several times PD_MAX_FIELD_NAMES */
#define PL_METHODS    0x8000

struct pl_names {
	struct pd_field_names names;
	const char *key[PL_NAME_SLOTS];
	uint16_t id[PL_NAME_SLOTS];
};

static inline unsigned pl_names_hash(const char *interned)
{
	uintptr_t p = (uintptr_t)interned;

	return (unsigned)((p >> 4 ^ p >> 13) % PL_NAME_SLOTS);
}

/* The id of a name given by the address Lua has it at; 0: none. */
static inline unsigned pl_names_find(const struct pl_names *names, const char *interned)
{
	unsigned h = pl_names_hash(interned);

	while (names->key[h]) {
		if (names->key[h] == interned)
			return names->id[h];
		h = (h + 1) % PL_NAME_SLOTS;
	}
	return 0;
}

const struct pl_names *pl_names_get(lua_State *L);
/* core.record_methods() -> array of the names of what every record has */
int pl_record_methods(lua_State *L);

/* The flag at PL_INTERRUPT, NULL if there is none; for loops in C: is it unset? */
void *pl_interrupt(lua_State *L);
/*
 * A pass begins, which nothing has interrupted yet; it was, when that part of the recording had
 * been read (negative: it is not known which).
 */
void pl_begin_pass(lua_State *L);
void pl_cut_pass(lua_State *L, double part);
/*
 * core.interrupted() -> boolean, number | true | nil: is the flag set, and which part of the
 * recording had the last pass read when that ended it (true: it is not known which; nil: the
 * pass came to its end)?
 */
int pl_interrupted(lua_State *L);
static inline bool pl_goes_on(void *flag)
{
	return !flag || !*(const volatile sig_atomic_t *)flag;
}

/* Sets an integer of the table on top, which Lua takes for a signed one. [-0, +0] */
void pl_set_integer(lua_State *L, const char *name, uint64_t value);
void pl_set_string(lua_State *L, const char *name, const char *text); /* NULL: nothing */

/*
 * A userdata of zeros, with a finalizer of its own, to own what a longjmp would lose. [-0, +1]
 */
void *pl_push_finalized(lua_State *L, size_t size, lua_CFunction gc);

/* For errors about a name that there is not: of the names tried, the closest. */
struct pl_closest {
	const char *name, *best;
	unsigned distance;
};

void pl_closest_init(struct pl_closest *closest, const char *name);
void pl_closest_try(struct pl_closest *closest, const char *candidate);
/* Raises "MESSAGE 'NAME'; did you mean 'BEST'?" */
int pl_closest_raise(lua_State *L, const struct pl_closest *closest, const char *message);

/* Raises: no record type has a field of that name; names the closest. */
int pl_unknown_name(lua_State *L, const struct pl_names *names, const char *name);

/*
 * File; user values: its events, its features, the metatable of its records, the options of
 * open.
 */
enum {
	PL_FILE_EVENTS = 1,
	PL_FILE_FEATURES,
	PL_FILE_RECORD,
	PL_FILE_SYMBOLS,
	PL_FILE_ARGS, /* names of tracepoints' fields: see args.c */
	PL_FILE_VALUES = PL_FILE_ARGS
};

struct pl_file {
	struct pd_session *session; /* NULL: never opened */
	struct pd_file *file;	    /* its first recording, which describes the others too */
	bool closed;
	bool array;	    /* opened by an array of paths */
	bool strict;	    /* damage raises */
	unsigned threads;   /* at most, for one pass; 0: as many as there are processors */
	size_t warned;	    /* damage that was said, of all files */
	uint64_t late;	    /* records of the last pass that came too late for their place */
	uint64_t said_late; /* what was said of them */
	struct pm_system *system; /* made when it is first asked for, or as a stream passes */
	struct pm_resolver *resolver;  /* made with it */
	struct ps_interrupt interrupt; /* of the reading of symbols */
	struct ps_options
		/* as given to open; its strings are kept by user value PL_FILE_SYMBOLS */
		symbols;
	bool copied; /* there may be records that outlive close() */
	const struct pl_names *names;
	void *args; /* likewise of tracepoints' fields: user value PL_FILE_ARGS, or NULL */
};

/*
 * A number of threads in a field of a table, 0 if it has none. Raises if it is no such number.
 * [-0, +0]
 */
unsigned pl_threads_option(lua_State *L, int table, const char *name);
/* perf's version as text. [-0, +1] */
void pl_push_perf(lua_State *L, unsigned perf);
/*
 * Reads the version of a perf whose text can be printed. Returns false if it is not known, and
 * pushes a message. [-0, +(0|1)]
 */
bool pl_take_perf(lua_State *L, const char *text, unsigned *perf);
int pl_perf_version(lua_State *L);
int pl_perf_differences(lua_State *L);
int pl_processors(lua_State *L); /* core.processors() -> integer: how many of them we may use */
int pl_open(lua_State *L); /* core.open(path | paths [, options]) -> File | nil, message, code */
struct pl_file *pl_check_file(lua_State *L, int index);	     /* any File */
struct pl_file *pl_check_open_file(lua_State *L, int index); /* raises if closed */
/* Raises if names that were asked for were not read because of an interrupt; once. */
static inline void pl_check_names(lua_State *L, struct pl_file *f)
{
	if (!atomic_load_explicit(&f->interrupt.cut, memory_order_relaxed))
		return;
	/* whoever reads on at a prompt may have names again */
	atomic_store(&f->interrupt.cut, false);
	atomic_store(&f->interrupt.until, 0);
	luaL_error(L, "%s: " PM_INTERRUPTED, f->file->path);
}

/*
 * Is an error to be told? Not if a stream was waited for when the flag was set: it ends there.
 */
static inline bool pl_tells(void *flag, const struct pd_error *err)
{
	return pl_goes_on(flag) || !pd_error_interrupted(err);
}

/* Can the records be read but once? Then the cursor that does gives them to the system. */
bool pl_file_passes(const struct pl_file *file);
/* The recorded system, as far as it is known. Raises on errors; calls no Lua. */
struct pm_system *pl_system(lua_State *L, struct pl_file *file);
/*
 * The same for whoever must not raise: makes f->system; false: see err. The file must be open.
 */
bool pl_system_make(struct pl_file *file, struct pd_error *err);
void pl_system_free(struct pl_file *file);
/*
 * Makes a system that was read the file's, which has none. False: no memory; it stays the
 * caller's.
 */
bool pl_system_take(struct pl_file *file, struct pm_system *system);
int pl_file_thread(lua_State *L);   /* file:thread(tid [, time]) -> table | nil */
int pl_file_threads(lua_State *L);  /* file:threads() -> array of tables */
int pl_file_resolve(lua_State *L);  /* file:resolve(pid, addr [, time]) -> table | nil */
int pl_file_missing(lua_State *L);  /* file:missing() -> array of tables */
int pl_file_binaries(lua_State *L); /* core.list_binaries(file, load) -> array of tables */
int pl_file_history(lua_State *L);  /* file:history(pid, address [, time]) -> array of tables */
struct pm_map;
/* {start, len, pgoff, filename, build_id, prot} [-0, +1] */
void pl_push_map(lua_State *L, const struct pm_map *map);
/*
 * Pushes what the recorded system knows of a record: v is of PD_SYSTEM. `record` is the Record
 * at that index of the stack, 0 if there is none: then views cannot be. [-0, +1]
 */
void pl_push_system_field(lua_State *L, struct pl_file *file, int record,
			  const struct pd_record *rec, const struct pd_value *v);
/*
 * The frames of a sample as the recorded system knows them, the resolver's. Raises as
 * pl_system.
 */
/* An array of {symbol, srcline} of n lines; nil if there are none. [-0, +1] */
void pl_push_inlined(lua_State *L, const struct ps_line *lines, size_t n);
const struct pd_frame *pl_frames(lua_State *L, struct pl_file *file,
				 const struct pd_record *rec, size_t *n);

/*
 * Says new damage by warn(), once each; raises instead if the file is strict. And how many
 * records came too late for their place in time.
 */
void pl_file_report(lua_State *L, struct pl_file *file);
void pl_push_features(lua_State *L, int file); /* [-0, +1] */
void pl_push_events(lua_State *L, int file);   /* [-0, +1] */
/* The Event object of a file's event; nil for NULL. [-0, +1] */
void pl_push_event(lua_State *L, int file, const struct pd_event *event);
/* The event of the Event at `index`; raises if it is none. */
const struct pd_event *pl_check_event(lua_State *L, int index);

/*
 * Record. Each File has a metatable of its own for them, whose [PL_OWNER] is the File: so a
 * record keeps its file without a user value, which would double what making one costs. The one
 * user value of a reused record is the chunk for bytes that do not fit.
 */
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
	uint32_t capacity;   /* of bytes */
	struct pl_file *file;
	struct pd_record rec;
	uint8_t bytes[];
};

/*
 * Whatever makes a Lua object may run finalizers, and those any Lua: they may close the file,
 * and move the loop whose record is being reused. So bytes of a record are not used across
 * that.
 */

/*
 * Can it be read? Its file is open; or it is a copy, and finalizers have left it the file's
 * description.
 */
static inline bool pl_readable(const struct pl_record *r)
{
	return !r->file->closed || (r->kept && r->file->file);
}

/* Copies a record of a file into a userdata of its own. [-0, +1] */
struct pl_record *pl_push_record(lua_State *L, int file, const struct pd_record *rec);
/*
 * The same where it counts: user value n of `holder` is the metatable for records of f. [-0,
 * +1]
 */
struct pl_record *pl_push_record_of(lua_State *L, struct pl_file *f, int holder, int n,
				    const struct pd_record *rec);
/*
 * A record to be used again and again [-0, +1]; copies the next one into that, at `index` [-0,
 * +0].
 */
struct pl_record *pl_push_reusable(lua_State *L, int file);
void pl_reuse_record(lua_State *L, int index, const struct pd_record *rec);
struct pl_record *pl_check_record(lua_State *L, int index); /* raises if its file is closed */
void pl_push_owner(lua_State *L, int record);		    /* its File [-0, +1] */
/* The metatable for the records of the File on top of the stack. [-0, +1] */
void pl_push_record_metatable(lua_State *L);

/* Pushes a value of the record at `record` (0: of none, then views cannot be). [-0, +1] */
void pl_push_value(lua_State *L, int record, const struct pd_value *value);
void pl_push_view(lua_State *L, int record, const struct pd_view *view); /* [-0, +1] */
/* `args` of the record r at `record`, or nil; `meta` is the metatable of PL_ARGS. [-0, +1] */
void pl_push_args(lua_State *L, struct pl_record *r, int record, int meta);
void pl_push_list(lua_State *L, int record,
		  const struct pd_view *view); /* its items, a table */

/* A sink that leaves what it is fed on the Lua stack as one value. */
struct pl_sink {
	struct pd_sink sink;
	lua_State *L;
	lua_Integer n[16]; /* items so far of each open array, -1 for a table */
	int depth;
};
void pl_sink_init(struct pl_sink *sink, lua_State *L);

/* Cursor: walks records for loops; see cursor.c for its options. */
int pl_file_cursor(lua_State *L);   /* core.cursor(file, options) -> cursor */
int pl_file_dispatch(lua_State *L); /* core.dispatch(file, options) */
int pl_query_call(lua_State *L);    /* query(nil, control) -> next */
int pl_query(lua_State *L);	    /* core.query(metatable, spec) -> Query */
int pl_query_spec(lua_State *L);    /* core.query_spec(query) -> spec */
int pl_file_dump(lua_State *L);	    /* core.dump(file, out, options) */
int pl_file_script(lua_State *L);   /* core.script(file, out, options) */
int pl_script_fields(lua_State *L); /* core.script_fields() -> fields, classes */
int pl_syscall(lua_State *L);	    /* core.syscall(number [, machine]) -> name | nil */
int pl_errno(lua_State *L);	    /* core.errno(number [, machine]) -> name | nil */
int pl_file_group(lua_State *L); /* core.group(file, description) -> groups, see query_group.c */
int pl_file_group_threads(lua_State *L);
int pl_file_loop_threads(lua_State *L);
int pl_file_short_names(lua_State *L); /* core.short_names(file) -> table, see query_report.c */
int pl_file_count(lua_State *L);       /* core.count(file) -> table, see query_count.c */
int pl_file_fields(lua_State *L);  /* core.fields_of(file, type_id [, event_index]) -> array */
int pl_file_members(lua_State *L); /* core.members("file") -> array of names */
int pl_file_health(lua_State *L);  /* core.health(file) -> table, see health.c */

/* What there is, for the manual, the editor stubs and the checks of queries. */
int pl_types(lua_State *L);
int pl_views(lua_State *L);
int pl_feature_names(lua_State *L);
int pl_event_members(lua_State *L);
void pl_push_field(lua_State *L, const struct pd_field *field);	   /* [-0, +1] */
void pl_push_member(lua_State *L, const struct pd_member *member); /* [-0, +1] */

void pl_file_register(lua_State *L);
void pl_event_register(lua_State *L);
void pl_view_register(lua_State *L);
void pl_args_register(lua_State *L);
void pl_cursor_register(lua_State *L);

#endif
