/*
 * What the recorded system knows: of a record, and of its threads.
 */
#include "binding.h"

bool pl_file_passes(const struct pl_file *f)
{
	for (size_t i = 0; i < f->session->n_files; i++)
		if (f->session->files[i]->input.stream)
			return true;
	return false;
}

bool pl_machine_make(struct pl_file *f, struct pd_error *err)
{
	struct pm_machine *machine = f->machine;

	if (machine)
		return true;
	machine = pm_machine_create(f->session);
	if (!machine)
		return pd_error_set(err, "ENOMEM", f->file->path, PD_NO_OFFSET,
				    "no memory for the recorded system");
	/* all of it or nothing: what is known in part gives wrong names. So no interrupt ends this */
	if (!pl_file_passes(f) && !pm_machine_read(machine, err)) {
		pm_machine_destroy(machine);
		return false;
	}
	f->machine = machine;
	return true;
}

struct pm_machine *pl_machine(lua_State *L, struct pl_file *f)
{
	struct pd_error err;

	if (f->closed && !f->machine)
		luaL_error(L, "%s: the file is closed", f->file->path);
	if (!pl_machine_make(f, &err))
		luaL_error(L, "%s", err.message);
	return f->machine;
}

void pl_push_machine(lua_State *L, struct pl_file *f, const struct pd_record *rec,
		     const struct pd_value *v)
{
	struct pd_value value;

	pm_machine_field(pl_machine(L, f), rec, v->u, &value);
	/* Lua knows strings by their addresses, if they come often: it need not hash them each time */
	if (value.type == PD_STR && value.s.p != value.text)
		lua_pushstring(L, value.s.p);
	else
		pl_push_value(L, 0, &value);
}

static void set_time(lua_State *L, const char *name, uint64_t time)
{
	if (time == PM_NO_TIME)
		return;
	lua_pushinteger(L, (lua_Integer)time);
	lua_setfield(L, -2, name);
}

/* {pid, tid, comm, start, exit} [-0, +1] */
static void push_life(lua_State *L, const struct pm_life *life)
{
	lua_createtable(L, 0, 6);
	lua_pushinteger(L, life->pid);
	lua_setfield(L, -2, "pid");
	lua_pushinteger(L, life->tid);
	lua_setfield(L, -2, "tid");
	pl_push_value(L, 0, &life->comm);
	lua_setfield(L, -2, "comm");
	set_time(L, "start", life->start);
	set_time(L, "exit", life->exit);
	if (life->source) {
		lua_pushinteger(L, (lua_Integer)life->source);
		lua_setfield(L, -2, "source");
	}
}

/* file:thread(tid [, time]) -> {pid, tid, comm, start, exit} | nil: as it was then, or last */
int pl_file_thread(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	lua_Integer tid = luaL_checkinteger(L, 2);
	uint64_t time = lua_isnoneornil(L, 3) ? PM_NO_TIME : (uint64_t)luaL_checkinteger(L, 3);
	const struct pm_machine *machine = pl_machine(L, f);
	struct pm_life life;

	luaL_argcheck(L, tid >= INT32_MIN && tid <= INT32_MAX, 2, "no thread id");
	/* of recordings whose clocks differ it is the first that knows the thread */
	for (uint32_t i = 0; i < f->session->n_files; i++) {
		if (!pm_machine_life(machine, i, (int32_t)tid, time, &life))
			continue;
		push_life(L, &life);
		return 1;
	}
	lua_pushnil(L);
	return 1;
}

/* file:threads() -> array of {pid, tid, comm, start, exit}: each life of each tid */
int pl_file_threads(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, 1);
	const struct pm_machine *machine = pl_machine(L, f);
	const struct pm_threads *threads = pm_machine_threads(machine);
	lua_Integer n = 0;

	lua_createtable(L, threads->n < 1u << 20 ? (int)threads->n : 0, 0);
	for (size_t i = 0; i < threads->n; i++) {
		const struct pm_thread *thread = &threads->threads[i];

		for (size_t k = 0; k < thread->n; k++) {
			struct pm_life life;

			/* a life ends where the next begins */
			if (k + 1 < thread->n &&
			    !pm_life_begins(thread, &thread->moments[k + 1]))
				continue;
			pm_machine_life_of(machine, thread, (ptrdiff_t)k, &life);
			push_life(L, &life);
			lua_rawseti(L, -2, ++n);
		}
	}
	return 1;
}
