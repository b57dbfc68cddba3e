#define _GNU_SOURCE /* sched_getaffinity */
/* Checks Files, reports their damage, and counts the threads that work for one. */
#include "handle.h"
#include "functions.h"

#include <sched.h>
#include <unistd.h>

#define MOST_THREADS 16

struct pl_file *pl_check_file(lua_State *L, int index)
{
	return luaL_checkudata(L, index, PL_FILE);
}

struct pl_file *pl_check_open_file(lua_State *L, int index)
{
	struct pl_file *f = pl_check_file(L, index);

	if (!f->file || f->closed)
		luaL_error(L, "%s: the file is closed", f->file ? f->file->path : "file");
	return f;
}

void pl_warn(lua_State *L, const struct pd_error *error)
{
	lua_warning(L, lua_pushfstring(L, "perflua: %s", error->message), 0);
	lua_pop(L, 1);
}

static void report_damage(lua_State *L, struct pl_file *f, const struct pd_damage *d)
{
	struct pd_error error;

	pd_error_set(&error, "FORMAT", d->path, d->offset, "%s", d->reason);
	if (f->strict)
		luaL_error(L, "perflua: %s", error.message);
	pl_warn(L, &error);
}

void pl_file_report(lua_State *L, struct pl_file *f)
{
	size_t before = 0; /* damage of the files before the i-th */
	struct pd_error late;

	/* a warn function of Lua may close or collect any object */
	for (size_t i = 0; f->session && i < f->session->n_files; i++) {
		while (f->session && f->warned - before < f->session->files[i]->n_damage)
			report_damage(L, f,
				      &f->session->files[i]->damage[f->warned++ - before]);
		if (f->session)
			before += f->session->files[i]->n_damage;
	}
	if (f->session && f->late > f->said_late) {
		f->said_late = f->late;
		pd_error_set(&late, "ETIME", f->file->path, PD_NO_OFFSET,
			     "%llu records came too late to be sorted by time",
			     (unsigned long long)f->late);
		pl_warn(L, &late);
	}
}

bool pl_file_passes(const struct pl_file *f)
{
	for (size_t i = 0; i < f->session->n_files; i++)
		if (f->session->files[i]->input.stream)
			return true;
	return false;
}

static unsigned count_processors(void)
{
	cpu_set_t cpus;
	long n;

	/* it fails where there are more processors than the set holds */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		n = CPU_COUNT(&cpus);
	else
		n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : (unsigned)n;
}

int pl_processors(lua_State *L)
{
	lua_pushinteger(L, count_processors());
	return 1;
}

unsigned pl_threads(const struct pl_file *f)
{
	unsigned n = f->threads ? f->threads : count_processors();

	return n < MOST_THREADS ? n : MOST_THREADS;
}

unsigned pl_threads_option(lua_State *L, int table, const char *name)
{
	lua_Integer n = 0;

	if (lua_getfield(L, table, name) != LUA_TNIL) {
		n = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
		if (n < 1 || n > MOST_THREADS)
			luaL_error(L, "%s is an integer from 1 to %d", name, MOST_THREADS);
	}
	lua_pop(L, 1);
	return (unsigned)n;
}
