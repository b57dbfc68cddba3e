/*
 * core.outline(file, options) -> outline | nil
 *
 * Outlines the recording of a File, whose samples from time `from` up to `to`, both options,
 * are chosen; see write/outline.h. Returns nil if it has to be read record by record.
 * core.write() takes the outline as an option.
 *
 * core.outline_found(outline) -> { pid, tid, pid, tid, … }, { tid, ptid, ppid, tid, … }
 *
 * Returns the threads with chosen samples, and the forks of the recording.
 */
#include "write.h"

#include "binding/functions.h"
#include "scope.h"

#define PL_OUTLINE "perflua.outline"

static int outline_gc(lua_State *L)
{
	struct pw_outline **outline = lua_touserdata(L, 1);

	pw_outline_destroy(*outline);
	*outline = NULL;
	return 0;
}

int pl_file_outline(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	struct pl_progress progress;
	struct pw_outline **outline;
	struct pq_scope scope;

	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	outline = lua_newuserdatauv(L, sizeof(struct pw_outline *), 0);
	*outline = NULL;
	if (luaL_newmetatable(L, PL_OUTLINE)) {
		lua_pushcfunction(L, outline_gc);
		lua_setfield(L, -2, "__gc");
	}
	lua_setmetatable(L, -2);
	lua_newtable(L);
	pl_to_scope(L, lua_gettop(L), f, 2, &progress, &scope);
	lua_settop(L, 3);
	pl_progress_init(L, &progress);
	pl_check_open_file(L, 1); /* an allocation may have closed it */
	*outline = pw_outline_create(f->session, scope.from, scope.to, scope.threads,
				     &scope.progress);
	pl_progress_end(&progress);
	if (progress.ended)
		pl_cut_pass(L, progress.part);
	return *outline ? 1 : 0;
}

/* An array on the stack that integers are appended to. */
struct listing {
	lua_State *L;
	lua_Integer n;
};

static void append(struct listing *l, uint32_t id)
{
	lua_pushinteger(l->L, id);
	lua_rawseti(l->L, -2, ++l->n);
}

static void append_thread(void *arg, uint32_t pid, uint32_t tid)
{
	append(arg, pid);
	append(arg, tid);
}

static void append_fork(void *arg, const struct pw_outlined_fork *fork)
{
	append(arg, fork->tid);
	append(arg, fork->ptid);
	append(arg, fork->ppid);
}

int pl_outline_found(lua_State *L)
{
	struct pw_outline **outline = luaL_checkudata(L, 1, PL_OUTLINE);
	struct listing threads = { L, 0 }, forks = { L, 0 };

	luaL_argcheck(L, *outline, 1, "the recording has no outline");
	lua_newtable(L);
	pw_outline_each_thread(*outline, append_thread, &threads);
	lua_newtable(L);
	pw_outline_each_fork(*outline, append_fork, &forks);
	return 2;
}

const struct pw_outline *pl_get_outline(lua_State *L, int options)
{
	struct pw_outline **outline;

	lua_getfield(L, options, "outline");
	outline = lua_isnil(L, -1) ? NULL : luaL_checkudata(L, -1, PL_OUTLINE);
	lua_pop(L, 1);
	return outline ? *outline : NULL;
}

bool pl_write_outline(lua_State *L, const struct pl_file *f, struct pl_writing *writing,
		      const struct pw_outline *outline, struct pd_error *err)
{
	struct pw_writer *w = &writing->writer;
	bool has = writing->has_threads;
	struct pl_progress progress;
	const struct pb_progress shown = pl_progress_shown(&progress);
	struct pb_pass *pass;
	bool ok;

	pl_progress_init(L, &progress);
	pass = pb_pass_begin(f->session->timing, "write", f->session->number);
	ok = pw_outline_write(outline, w, has ? &writing->threads : NULL,
			      has ? &writing->processes : NULL, &shown, err) &&
	     pw_writer_finish(w, err);
	pb_pass_end(pass);
	pl_progress_end(&progress);
	if (progress.ended)
		pl_cut_pass(L, progress.part);
	return ok;
}
