/*
 * core.write(file, out, options) -> summary | nil, message, error number
 *
 * Writes the records that a cursor of the options yields (cursor.h) as a recording, with those
 * of other types that they need. `out` is the path of a file, or an open file; nil: bytes are
 * only counted. Further options: pipe, level, padded, sorts, unwinds and joins, see struct
 * pw_how; `big`: the byte order; `directory`: the path is that of one, which is replaced;
 * `selects`: records are left out, with kept_threads and kept_processes also those that tell of
 * other ids, and with `outline`, of core.outline(), no cursor is needed; `every`: one of so
 * many samples is kept, see thin.h; `scrub`: see write.h; `inject`: see write.h. The summary
 * is that of struct pw_summary, with names of features, and of struct pw_chain_counts, with
 * what scrubbing did in `scrubbed`, and injecting in `injected`. Several recordings become one,
 * whose records come in the order of time: `merged` is what struct pw_merge counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binding/system.h"
#include "binding/writer.h"
#include "cursor.h"
#include "write.h"
#include "query/query.h"
#include "write/output.h"
#include "write/selection.h"

enum {
	AT_FILE = 1,
	AT_OUT,
	AT_OPTIONS,
	AT_WRITING,
	AT_SCRUBBING,
	AT_INJECTING,
	AT_CURSOR,
};

static void end_writer(struct pl_writing *writing)
{
	pw_rewriter_destroy(writing->rewriter);
	writing->rewriter = NULL;
	pw_writer_deinit(&writing->writer);
	if (writing->merge)
		pw_merge_deinit(writing->merge);
	free(writing->merge);
	writing->merge = NULL;
	if (writing->thinning)
		pw_thinning_deinit(writing->thinning);
	free(writing->thinning);
	writing->thinning = NULL;
}

void pl_writing_end(struct pl_writing *writing)
{
	end_writer(writing);
	pb_id_map_deinit(&writing->threads);
	pb_id_map_deinit(&writing->processes);
	writing->threads = writing->processes = (struct pb_id_map){ 0 };
	if (writing->fd >= 0)
		close(writing->fd);
	writing->fd = -1;
	if (writing->directory)
		pw_directory_discard(writing->directory);
	free(writing->directory);
	writing->directory = NULL;
}

static int writing_gc(lua_State *L)
{
	pl_writing_end(lua_touserdata(L, 1));
	return 0;
}

struct pl_writing *pl_push_writing(lua_State *L)
{
	struct pl_writing *writing = pl_push_finalized(L, sizeof(*writing), writing_gc);

	writing->fd = -1;
	return writing;
}

struct pw_how pl_get_how(lua_State *L, int options)
{
	struct pw_how how = {
		.pipe = pl_get_flag(L, options, "pipe"),
		.padded = pl_get_flag(L, options, "padded"),
		.selects = pl_get_flag(L, options, "selects"),
		.sorts = pl_get_flag(L, options, "sorts"),
		.unwinds = pl_get_flag(L, options, "unwinds"),
		.joins = pl_get_flag(L, options, "joins"),
	};

	if (lua_getfield(L, options, "big") != LUA_TNIL)
		how.order = lua_toboolean(L, -1) ? PW_BIG : PW_LITTLE;
	lua_pop(L, 1);
	if (lua_getfield(L, options, "level") != LUA_TNIL)
		how.level = (int)luaL_checkinteger(L, -1);
	lua_pop(L, 1);
	if (lua_getfield(L, options, "bundle") != LUA_TNIL)
		how.bundle = luaL_checklstring(L, -1, &how.bundle_size);
	lua_pop(L, 1); /* the table keeps it */
	return how;
}

int pl_writing_open(lua_State *L, struct pl_writing *writing, int out)
{
	luaL_Stream *stream;

	if (lua_isnil(L, out))
		return -1;
	if (lua_type(L, out) == LUA_TSTRING) {
		writing->fd = open(lua_tostring(L, out),
				   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		return writing->fd;
	}
	stream = pl_check_stream(L, out);
	return fflush(stream->f) ? -1 : fileno(stream->f);
}

int pl_writing_close(lua_State *L, struct pl_writing *writing)
{
	int fd = writing->fd;

	writing->fd = -1;
	if (fd >= 0 && close(fd))
		return luaL_fileresult(L, 0, NULL);
	/* a selection without samples is not to be there */
	if (writing->directory &&
	    (writing->writer.summary.samples || !writing->writer.how.selects) &&
	    !pw_directory_commit(writing->directory))
		return luaL_fileresult(L, 0, NULL);
	pl_push_summary(L, writing);
	return 1;
}

/* Adds a record to what is written. Returns false with *err. */
static bool add_record(struct pl_writing *writing, struct pd_record *rec, struct pd_error *err)
{
	if (writing->merge)
		return pw_merge_write(writing->merge, &writing->writer, rec, err);
	return writing->rewriter ? pw_rewriter_add(writing->rewriter, rec, err) :
				   pw_write(&writing->writer, rec, err);
}

/* Makes the rewriter. Returns false with *err. */
static bool open_rewriter(lua_State *L, struct pl_writing *writing,
			  const struct pl_cursor *cursor, struct pd_error *err)
{
	const struct pw_how *how = &writing->writer.how;
	unsigned workers = pq_printer_workers(&cursor->scope);
	struct pm_system *system;

	if (!how->unwinds && !how->joins)
		return true;
	system = pl_system(L, cursor->file);
	if (workers > 1 && !pm_system_prepare(system))
		workers = 1;
	writing->rewriter = pw_rewriter_create(&writing->writer, system, workers);
	return writing->rewriter || pd_error_set(err, "ENOMEM", cursor->file->file->path,
						 PD_NO_OFFSET, "no memory to rewrite records");
}

static bool scrub_sample(void *scrubber, struct pd_record *rec)
{
	return pv_record(scrubber, rec);
}

/*
 * Adds the records after one that the cursor yielded, if all are written as they come, or
 * scrubbed one by one. Returns false with *err.
 */
static bool add_run(struct pl_writing *writing, struct pl_cursor *cursor,
		    struct pl_scrubbing *scrubbing, struct pd_error *err)
{
	struct pd_walk *walk = &cursor->walk;

	if (walk->state != PD_WALK_READING || walk->special || walk->options.on_sideband.call)
		return true;
	if (!scrubbing)
		return pw_write_run(&writing->writer, &walk->reader, err);
	return pw_change_run(&writing->writer, &walk->reader, scrub_sample, scrubbing->scrubber,
			     err);
}

/* Returns whether runs of records may be added. */
static bool adds_runs(const struct pl_writing *writing, const struct pl_scrubbing *scrubbing)
{
	const struct pw_writer *w = &writing->writer;

	return pw_copies_runs(w) && !writing->rewriter && !writing->thinning &&
	       !w->how.selects &&
	       (!scrubbing || (!w->compressor && !scrubbing->scrubber->places));
}

/* Returns what finds the times of the recording that a record comes from. */
static const struct pd_timestamp_locator *find_locator(const struct pl_writing *writing,
						       const struct pd_record *rec)
{
	if (writing->merge && rec->source)
		return &writing->merge->parts[rec->source - 1].locator;
	return &writing->writer.locator;
}

/* Writes the records. Returns false with *err. */
static bool write_records(lua_State *L, struct pl_writing *writing, struct pd_error *err)
{
	struct pl_cursor *cursor = lua_touserdata(L, AT_CURSOR);
	struct pw_writer *w = &writing->writer;
	struct pw_selection selection = {
		cursor->scope.from,
		cursor->scope.to,
		writing->has_threads ? &writing->threads : NULL,
		writing->has_threads ? &writing->processes : NULL,
	};
	struct pl_scrubbing *scrubbing = lua_touserdata(L, AT_SCRUBBING);
	struct pl_injecting *injecting = lua_touserdata(L, AT_INJECTING);
	struct pd_record rec;
	bool ok = open_rewriter(L, writing, cursor, err);
	bool copies = !injecting && adds_runs(writing, scrubbing);
	int got = 0;

	while (ok && (!copies || (ok = add_run(writing, cursor, scrubbing, err))) &&
	       (got = pl_cursor_read(L, cursor, AT_CURSOR, &rec, err)) > 0) {
		if (w->how.selects && pd_types_has(&cursor->others, rec.type) &&
		    !pw_keeps(&selection, find_locator(writing, &rec), &rec))
			continue;
		if (writing->thinning && rec.type == PD_RECORD_SAMPLE &&
		    !pw_thin(writing->thinning, &rec))
			continue;
		if (injecting)
			ok = pj_write(injecting->injector, w, &rec, err);
		else if (!scrubbing || pv_record(scrubbing->scrubber, &rec))
			ok = add_record(writing, &rec, err);
	}
	if (ok && writing->rewriter) {
		ok = pw_rewriter_finish(writing->rewriter, err);
		pw_rewriter_count(writing->rewriter, &writing->counts);
	}
	if (ok)
		pl_cursor_end(L, cursor, got < 0 ? err : NULL);
	pl_cursor_close(cursor);
	if (ok && writing->merge)
		ok = pw_merge_finish(writing->merge, w, err);
	if (ok && writing->thinning)
		ok = pw_thinning_finish(writing->thinning, err);
	return ok && (!scrubbing || pl_scrubbing_describe(scrubbing, err)) &&
	       (!injecting || pj_finish(injecting->injector, w, err)) &&
	       pw_writer_finish(w, err);
}

/* Makes the cursor walk all records, of which those of other types pass its filters. */
static void add_others(struct pl_cursor *cursor)
{
	struct pd_walk_options *walk = &cursor->walk.options;

	cursor->others = PD_ALL_TYPES;
	for (size_t i = 0; i < 2; i++)
		cursor->others.bits[i] &= ~cursor->scope.types.bits[i];
	cursor->others.unknown = !cursor->scope.types.unknown;
	walk->types = PD_ALL_TYPES;
	walk->from = 0;
	walk->to = UINT64_MAX;
	walk->split = false;
}

int pl_writing_failed(lua_State *L, const struct pw_writer *w, const struct pd_error *err)
{
	int error = w->out.error;

	lua_pushnil(L);
	lua_pushstring(L, error ? strerror(error) : err->message);
	if (error)
		lua_pushinteger(L, error);
	else
		lua_pushstring(L, err->code);
	return 3;
}

/* Makes what thins out the samples of a file. Returns false with *err. */
static bool begin_thinning(struct pl_writing *writing, struct pd_file *like, struct pw_how *how,
			   uint64_t every, struct pd_error *err)
{
	writing->thinning = malloc(sizeof(*writing->thinning));
	if (!writing->thinning)
		return pd_error_set(err, "ENOMEM", like->path, PD_NO_OFFSET,
				    "no memory to write");
	how->description = &writing->thinning->description;
	return pw_thinning_init(writing->thinning, like, every, err);
}

/* Makes what joins the recordings of a session. Returns false with *err. */
static bool begin_merge(struct pl_writing *writing, struct pd_session *session,
			struct pw_how *how, struct pd_error *err)
{
	writing->merge = malloc(sizeof(*writing->merge));
	if (!writing->merge)
		return pd_error_set(err, "ENOMEM", session->paths[0], PD_NO_OFFSET,
				    "no memory to join it");
	how->selects = how->sorts = true; /* data of AUX areas cannot be joined */
	how->description = &writing->merge->description;
	return pw_merge_init(writing->merge, session, err);
}

/* Begins to write the recordings of a session to `fd`. Returns false with *err. */
static bool begin_writing(struct pl_writing *writing, struct pd_session *session, int fd,
			  struct pw_how *how, uint64_t every, struct pd_error *err)
{
	struct pd_file *like = session->files[0];

	if (every > 1 && !begin_thinning(writing, like, how, every, err))
		return false;
	if (session->n_files > 1 && !begin_merge(writing, session, how, err))
		return false;
	return pw_writer_init(&writing->writer, like, fd, how, err);
}

/* Opens the file with the header of a directory. Returns -1 with errno. */
static int open_directory(struct pl_writing *writing, const struct pd_file *like)
{
	writing->fd = pw_directory_open(writing->directory, like);
	return writing->fd;
}

/* Makes the directory, and opens its first file. Returns -1 with errno. */
static int make_directory(lua_State *L, struct pl_writing *writing, const struct pd_file *like)
{
	struct pb_unfinished *unfinished;

	writing->directory = calloc(1, sizeof(*writing->directory));
	if (!writing->directory) {
		errno = ENOMEM;
		return -1;
	}
	lua_getfield(L, LUA_REGISTRYINDEX, PL_UNFINISHED);
	unfinished = lua_touserdata(L, -1);
	lua_pop(L, 1);
	if (!pw_directory_begin(writing->directory, luaL_checkstring(L, AT_OUT), unfinished))
		return -1;
	return open_directory(writing, like);
}

/*
 * Writes the recording to `fd`. Whether a sample keeps its copy of the stack, which attrs tell
 * of all, is known when it was unwound; so the first one makes the writing begin again, if what
 * was written can be dropped. Returns false with *err.
 */
static bool write_recording(lua_State *L, struct pl_writing *writing, struct pw_how *how,
			    int fd, struct pd_error *err)
{
	struct pl_file *f = lua_touserdata(L, AT_FILE);
	const struct pw_outline *outline = pl_get_outline(L, AT_OPTIONS);
	bool can_restart = !how->pipe && !pl_file_passes(f);
	uint64_t every;

	lua_getfield(L, AT_OPTIONS, "every");
	every = (uint64_t)luaL_optinteger(L, -1, 1);
	lua_pop(L, 1);
	how->directory = writing->directory;
	f->file->input.keeps_payloads = pl_file_passes(f) && !how->selects;
	how->keeps_stacks = how->unwinds && !can_restart;
	for (;;) {
		if (!outline)
			add_others(pl_push_cursor(L, AT_FILE, AT_OPTIONS, "write"));
		if (begin_writing(writing, f->session, fd, how, every, err) &&
		    (outline ? pl_write_outline(L, f, writing, outline, err) :
			       write_records(L, writing, err)))
			return true;
		if (how->keeps_stacks || strcmp(err->code, "STACKS") != 0)
			return false;
		end_writer(writing);
		if (how->directory) {
			close(fd);
			fd = open_directory(writing, f->file);
			if (fd < 0)
				return pd_error_set(err, "WRITE", writing->directory->target,
						    PD_NO_OFFSET, "%s", strerror(errno));
		}
		if (fd >= 0 && (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0))
			return false;
		how->keeps_stacks = true;
		lua_settop(L, AT_INJECTING);
	}
}

/* Reads a list of ids, if the options have it. Returns false if they have not. [-0, +0] */
static bool read_ids(lua_State *L, const char *name, struct pb_id_map *ids)
{
	bool has = lua_getfield(L, AT_OPTIONS, name) == LUA_TTABLE;
	lua_Integer n = has ? luaL_len(L, -1) : 0;

	for (lua_Integer i = 1; i <= n; i++) {
		lua_geti(L, -1, i);
		if (!pb_id_map_add(ids, (uint32_t)luaL_checkinteger(L, -1), 0))
			luaL_error(L, "not enough memory");
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return has;
}

int pl_file_write(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, AT_FILE);
	struct pl_scrubbing *scrubbing;
	struct pl_injecting *injecting;
	struct pl_writing *writing;
	struct pw_how how;
	struct pd_error err;
	bool ok;
	int fd, n;

	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	lua_settop(L, AT_OPTIONS);
	how = pl_get_how(L, AT_OPTIONS);
	writing = pl_push_writing(L);
	writing->has_threads = read_ids(L, "kept_threads", &writing->threads) &&
			       read_ids(L, "kept_processes", &writing->processes);
	pl_system_hold(f);
	scrubbing = pl_push_scrubbing(L, f, AT_OPTIONS);
	injecting = pl_push_injecting(L, f, AT_OPTIONS);
	if (scrubbing || injecting)
		how.description = scrubbing ? &scrubbing->description :
					      &injecting->injector->description;
	fd = pl_get_flag(L, AT_OPTIONS, "directory") ? make_directory(L, writing, f->file) :
						       pl_writing_open(L, writing, AT_OUT);
	if (fd < 0 && !lua_isnil(L, AT_OUT)) {
		n = luaL_fileresult(L, 0, NULL);
		pl_system_let_go(f);
		return n;
	}
	ok = (!scrubbing || pl_scrubbing_describe(scrubbing, &err)) &&
	     write_recording(L, writing, &how, fd, &err);
	pl_system_let_go(f);
	n = ok ? pl_writing_close(L, writing) : pl_writing_failed(L, &writing->writer, &err);
	pl_writing_end(writing);
	if (scrubbing && n == 1) {
		pl_push_scrubbed(L, scrubbing);
		lua_setfield(L, -2, "scrubbed");
	} else if (injecting && n == 1) {
		pl_push_injected(L, injecting);
		lua_setfield(L, -2, "injected");
	}
	return n;
}

/* core.compress_most() -> the highest level of compression */
int pl_compress_most(lua_State *L)
{
	lua_pushinteger(L, pw_compress_most());
	return 1;
}

/* core.reads(file, path) -> whether the path leads to a file that the File reads */
int pl_file_reads(lua_State *L)
{
	const struct pl_file *f = pl_check_open_file(L, 1);
	struct stat st, read;
	bool reads = false;

	if (stat(luaL_checkstring(L, 2), &st) < 0)
		st.st_ino = 0;
	for (size_t i = 0; st.st_ino && i < f->session->n_files; i++) {
		const struct pd_file *file = f->session->files[i];

		for (size_t k = 0; k < file->n_streams; k++) {
			int fd = file->streams[k].input->fd;

			reads = reads || (fd >= 0 && fstat(fd, &read) == 0 &&
					  read.st_ino == st.st_ino && read.st_dev == st.st_dev);
		}
	}
	lua_pushboolean(L, reads);
	return 1;
}
