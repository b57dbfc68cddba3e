#include "pass_progress.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"
#include "handle.h"

#define SECOND	   1000000000u
#define FIRST_TIME (2ull * SECOND) /* what is done sooner needs no line */
#define AGAIN	   (SECOND / 4)
#define PREFIX	   "perflua: "
#define TOLD_AGAIN (SECOND / 50) /* the function that is told takes keys, too */
/* The time that a phase beside the reading takes, as a part of the reading. */
#define BESIDE	   0.15
#define NEARLY_ALL 0.98
#define MOST_SHOWN 0.99 /* the part that is shown before all is done */

static const char work_key; /* its address is the key of a pl_work in the registry */

static uint64_t read_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Returns the state's work, which lives as long as the state. [-0, +0] */
static struct pl_work *get_work(lua_State *L)
{
	struct pl_work *work;

	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &work_key) == LUA_TNIL) {
		work = lua_newuserdatauv(L, sizeof(*work), 0);
		*work = (struct pl_work){ .expected = 0 };
		lua_rawsetp(L, LUA_REGISTRYINDEX, &work_key);
	} else {
		work = lua_touserdata(L, -1);
	}
	lua_pop(L, 1);
	return work;
}

int pl_expect_work(lua_State *L)
{
	struct pl_work *work = get_work(L);

	if (lua_isnoneornil(L, 1))
		*work = (struct pl_work){ .expected = 0 };
	else
		work->expected += luaL_checknumber(L, 1);
	lua_pushnumber(L, work->expected);
	lua_pushnumber(L, work->done);
	return 2;
}

void pl_progress_init(lua_State *L, struct pl_progress *p)
{
	struct pb_interrupt *interrupt = pl_interrupt(L);

	if (!pl_goes_on(interrupt)) {
		lua_pushliteral(L, "interrupted"); /* where that is tells nothing */
		lua_error(L);
	}
	*p = (struct pl_progress){ .L = L,
				   .interrupt = interrupt,
				   .part = -1,
				   .work = get_work(L),
				   .thread = pthread_self() };
	pl_begin_pass(L);
	lua_getfield(L, LUA_REGISTRYINDEX, PL_PROGRESS);
	p->is_told = lua_isfunction(L, -1);
	if (p->is_told || (lua_toboolean(L, -1) && isatty(STDERR_FILENO))) {
		p->shows = true;
		p->begun = read_monotonic();
		p->next = p->begun + (p->is_told ? 0 : AGAIN);
		if (!p->is_told && (!p->work->begun || p->begun - p->work->begun < FIRST_TIME))
			p->next = p->begun + FIRST_TIME;
	}
	lua_pop(L, 1);
	if (interrupt)
		interrupt->passes++;
	p->is_open = interrupt != NULL;
}

void pl_progress_init_beside_output(lua_State *L, struct pl_progress *p)
{
	pl_progress_init(L, p);
	lua_getfield(L, LUA_REGISTRYINDEX, PL_PAGED);
	p->shows = p->shows && !isatty(STDOUT_FILENO) && !lua_toboolean(L, -1);
	lua_pop(L, 1);
}

static double weight_of(const struct pl_progress *p)
{
	return p->phase ? BESIDE : 1;
}

/* Adds a phase of `size` bytes to what is expected, unless it was. */
static void begin_work(struct pl_progress *p, uint64_t size)
{
	struct pl_work *work = p->work;
	double more = weight_of(p) * (double)size, all;

	p->size = size;
	/* a new pass, which was not expected */
	if (!p->was_read && work->done > 0 && work->done >= NEARLY_ALL * work->expected) {
		unsigned n = work->n_parts + 1;

		*work = (struct pl_work){ .n_parts = n };
	}
	if (!work->begun)
		work->begun = p->begun;
	all = work->done + more + (p->phase && !p->was_read ? (double)size : 0);
	if (work->expected < all)
		work->expected = all;
}

/* Counts a phase as done, however much of it was read: the rest is not read any more. */
static void end_work(struct pl_progress *p)
{
	if (!p->work) /* it was not begun */
		return;
	p->work->done += weight_of(p) * (double)p->size;
	p->was_read = p->was_read || (!p->phase && p->size);
	p->size = p->done = 0;
}

/* Returns the part of all work that is shown as done. */
static double find_part(struct pl_progress *p)
{
	struct pl_work *work = p->work;
	double done = work->done +
		      weight_of(p) * (double)(p->done < p->size ? p->done : p->size);
	double part = work->expected > 0 ? done / work->expected : 0;

	if (part > MOST_SHOWN)
		part = MOST_SHOWN;
	if (part > work->shown)
		work->shown = part;
	return work->shown;
}

/* Writes how long all work will take at the rate so far; nothing at its very beginning. */
static int print_time_left(char *text, size_t room, double seconds, double part)
{
	double left = part > 0 ? seconds * (1 / part - 1) : -1;

	if (left < 0 || part < 0.001)
		return 0;
	if (left < 90)
		return snprintf(text, room, ", %.0f s left", left);
	return snprintf(text, room, ", %.0f min left", left / 60);
}

/* Writes the beginning of the line: the number of the part of the work, what is done. */
static int print_part(char *text, size_t room, struct pl_progress *p)
{
	const struct pl_work *work = p->work;
	int n = 0;

	if (work->n_parts)
		n = snprintf(text, room, "pass %u, ", work->n_parts + 1);
	if (p->size || work->shown > 0)
		n += snprintf(text + n, room - (size_t)n, "%3.0f %%, ", 100 * find_part(p));
	return n;
}

/* Writes the phase, and how fast it is. */
static int print_phase(char *text, size_t room, const struct pl_progress *p, uint64_t time)
{
	double seconds = (double)(time - p->begun) / SECOND, mb = (double)p->done / 1e6;
	int n;

	if (p->stage || (p->phase && p->was_read))
		return snprintf(text, room, "%s, %.0f s", p->stage ? p->stage : p->phase,
				seconds);
	n = snprintf(text, room, "%s", p->phase ? p->phase : "reading");
	if (!p->size)
		n += snprintf(text + n, room - (size_t)n, ", %.0f MB", mb);
	if (seconds >= 0.1)
		n += snprintf(text + n, room - (size_t)n, ", %.0f MB/s", mb / seconds);
	return n;
}

/* Writes how far all work is. */
static void print_line(char *text, size_t room, struct pl_progress *p, uint64_t time)
{
	int n = print_part(text, room, p);

	n += print_phase(text + n, room - (size_t)n, p, time);
	if (p->size && p->work->shown < MOST_SHOWN)
		print_time_left(text + n, room - (size_t)n,
				(double)(time - p->work->begun) / SECOND, p->work->shown);
}

static void show_line(const char *text, struct pl_progress *p)
{
	p->shows = isatty(STDERR_FILENO); /* a pager may have it now */
	if (!p->shows)
		return;
	fprintf(stderr, "\r" PREFIX "%-*s", (int)p->width, text);
	fflush(stderr);
	p->width = (unsigned)strlen(text);
}

/* (text, function) -> what function(text) returns. Runs under lua_pcall: see tell_line() */
static int call_told(lua_State *L)
{
	lua_pushstring(L, lua_touserdata(L, 1));
	lua_replace(L, 1);
	lua_insert(L, 1);
	lua_call(L, 1, 1);
	return 1;
}

/*
 * Tells the function how far all work is. If it returns true, or fails, this pass and all
 * others end as if there was a SIGINT.
 */
static void tell_line(char *text, struct pl_progress *p)
{
	struct pb_interrupt *interrupt = p->interrupt;
	lua_State *L = p->L;

	if (!pthread_equal(p->thread, pthread_self()) || !lua_checkstack(L, 8))
		return;
	lua_pushcfunction(L, call_told);
	lua_pushlightuserdata(L, text);
	lua_getfield(L, LUA_REGISTRYINDEX, PL_PROGRESS);
	if (lua_pcall(L, 2, 1, 0) != LUA_OK || lua_toboolean(L, -1))
		interrupt->flag = 1;
	lua_pop(L, 1);
}

void pl_progress_at(struct pl_progress *p, uint64_t done, uint64_t size)
{
	uint64_t time = p->shows ? read_monotonic() : 0;
	char text[120] = "";

	if (size && !p->size)
		begin_work(p, size);
	p->done = done;
	if (!p->shows || time < p->next)
		return;
	print_line(text, sizeof(text), p, time);
	if (p->is_told)
		tell_line(text, p);
	else
		show_line(text, p);
	p->next = time + (p->is_told ? TOLD_AGAIN : AGAIN);
}

static bool continue_pass(void *arg, uint64_t done, uint64_t size)
{
	struct pl_progress *p = arg;

	/* 0, 0: asked only */
	if (done || size)
		pl_progress_at(p, done, size);
	if (pl_goes_on(p->interrupt))
		return true;
	p->ended = true;
	p->part = size ? (double)done / (double)size : -1;
	return false;
}

static void begin_phase(void *arg, const char *name)
{
	struct pl_progress *p = arg;

	end_work(p);
	p->phase = name;
	if (p->shows)
		p->begun = read_monotonic();
}

struct pb_progress pl_progress_shown(struct pl_progress *progress)
{
	return (struct pb_progress){ .goes_on = continue_pass,
				     .arg = progress,
				     .set_phase = begin_phase };
}

/* Shows again how far the pass is, while a thread loads symbols. */
static void tick_progress(void *arg)
{
	struct pl_progress *p = arg;

	if (p->shows && pthread_equal(p->thread, pthread_self()))
		pl_progress_at(p, p->done, p->size);
}

void pl_progress_watch(struct pl_progress *p, struct ps_interrupt *interrupt)
{
	if (!p->shows)
		return;
	ps_interrupt_keep(interrupt);
	ps_interrupt_release(p->watched);
	p->watched = interrupt;
	interrupt->tick = tick_progress;
	interrupt->arg = p;
}

void pl_progress_begin_stage(struct pl_progress *p, const char *stage)
{
	p->stage = stage;
	p->begun = p->shows ? read_monotonic() : 0;
}

void pl_progress_end(struct pl_progress *p)
{
	struct pb_interrupt *interrupt = p->interrupt;

	end_work(p);
	if (p->is_open)
		interrupt->passes--;
	p->is_open = false;
	if (p->watched && p->watched->arg == p)
		p->watched->tick = NULL;
	ps_interrupt_release(p->watched);
	p->watched = NULL;
	if (p->width && isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r%*s\r", (int)(strlen(PREFIX) + p->width), "");
		fflush(stderr);
	}
	p->width = 0;
}

/*
 * Registry key: the part of the recording that the last pass had read when it was interrupted.
 */
#define PART "perflua.part"

/* Registry key: true if the last pass could not read names because of the interrupt. */
#define UNNAMED "perflua.unnamed"

void *pl_interrupt(lua_State *L)
{
	void *flag;

	lua_getfield(L, LUA_REGISTRYINDEX, PL_INTERRUPT);
	flag = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return flag;
}

void pl_begin_pass(lua_State *L)
{
	lua_pushnil(L);
	lua_setfield(L, LUA_REGISTRYINDEX, PART);
	lua_pushnil(L);
	lua_setfield(L, LUA_REGISTRYINDEX, UNNAMED);
}

void pl_cut_pass(lua_State *L, double part)
{
	if (part < 0)
		lua_pushboolean(L, 1);
	else
		lua_pushnumber(L, part < 1 ? part : 1);
	lua_setfield(L, LUA_REGISTRYINDEX, PART);
}

void pl_cut_names(lua_State *L, struct pl_file *f)
{
	if (!ps_interrupt_was_cut(f->interrupt))
		return;
	lua_pushboolean(L, 1);
	lua_setfield(L, LUA_REGISTRYINDEX, UNNAMED);
	if (lua_getfield(L, LUA_REGISTRYINDEX, PART) == LUA_TNIL)
		pl_cut_pass(L, 1);
	lua_pop(L, 1);
}

int pl_interrupted(lua_State *L)
{
	if (pl_goes_on(pl_interrupt(L))) {
		lua_pushboolean(L, 0);
		return 1;
	}
	lua_pushboolean(L, 1);
	lua_getfield(L, LUA_REGISTRYINDEX, PART);
	lua_getfield(L, LUA_REGISTRYINDEX, UNNAMED);
	return 3;
}
