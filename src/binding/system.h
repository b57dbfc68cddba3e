/*
 * The recorded system of a File, as Lua values.
 */
#ifndef PERFLUA_BINDING_SYSTEM_H
#define PERFLUA_BINDING_SYSTEM_H

#include "handle.h"

/*
 * Returns the recorded system, with all that is known so far. Raises on errors; calls no Lua.
 */
struct pm_system *pl_system(lua_State *L, struct pl_file *file);

/*
 * Does what pl_system() does, where records are to be read in the order of time: see
 * pm_system_read().
 */
struct pm_system *pl_ordered_system(lua_State *L, struct pl_file *file);

/*
 * Makes file->system, unless it is there, without raising; the file must be open. Returns false
 * on errors and sets *err, which may be NULL.
 */
bool pl_system_make(struct pl_file *file, bool is_ordered, const struct pb_progress *progress,
		    struct pd_error *err);
void pl_system_free(struct pl_file *file);

/*
 * Lets the pass over all records that follows find what the system is made of, unless it is
 * there. After the pass pl_system_end_watch() keeps that for pl_system_make().
 */
void pl_system_watch(struct pl_file *file);
void pl_system_end_watch(struct pl_file *file);

/*
 * Hold the system, which close() frees, and let go of it: whatever reads it over a call of Lua,
 * or an allocation, in which a finalizer may close the File. After an error that left it held,
 * it is freed with the File.
 */
void pl_system_hold(struct pl_file *file);
void pl_system_let_go(struct pl_file *file);

/* Frees what source lines are read from; those that were asked for stay known. */
void pl_system_end_lines(struct pl_file *file);

/*
 * Makes a system that was read the file's, which has none. Returns false without memory: then
 * the caller still owns it.
 */
bool pl_system_take(struct pl_file *file, struct pm_system *system);

/* Pushes {start, len, pgoff, filename, build_id, prot}. [-0, +1] */
struct pm_map;
void pl_push_map(lua_State *L, const struct pm_map *map);

/*
 * Pushes a row of file:binaries(); looks for the symbols of `dso` if `load` is true. [-0, +1]
 */
struct ps_dso;
void pl_push_binary(lua_State *L, struct pl_file *file, struct ps_dso *dso, bool load);

/* How binaries are listed. `file` and `fn` are indices of the stack, or of upvalues. */
struct pl_listing {
	int file, fn;
	bool load; /* looks for the symbols of all; else of those with samples */
	/*
	 * Sets *samples to the number of samples in binaries of that name and build-id. Returns
	 * false if one of them was counted before. NULL: samples are not counted.
	 */
	bool (*count)(void *arg, const struct ps_dso *dso, uint64_t *samples);
	void *arg;
};

/*
 * Calls fn(row, first) for each binary, as they were first mapped, with a row of
 * file:binaries(). `first` is what count() returned, or else true. The function must not read
 * records. [-0, +0]
 */
void pl_list_binaries(lua_State *L, const struct pl_listing *listing);

/*
 * Pushes a value of PD_SYSTEM of a record. `record` is the index of the Record on the stack, 0
 * if there is none: then the value must not be a view. [-0, +1]
 */
void pl_push_system_field(lua_State *L, struct pl_file *file, int record,
			  const struct pd_record *rec, const struct pd_value *v);

/* Pushes an array of {symbol, srcline} of n lines; nil if there are none. [-0, +1] */
void pl_push_inlined(lua_State *L, const struct ps_line *lines, size_t n);

/*
 * Returns the frames of a sample as the recorded system knows them, and sets *n to their
 * number. The resolver owns them; they are valid until it is asked again. Raises as pl_system()
 * does.
 */
const struct pd_frame *pl_frames(lua_State *L, struct pl_file *file,
				 const struct pd_record *rec, size_t *n);

#endif
