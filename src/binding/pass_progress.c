#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"
#include "pass_progress.h"

#define SECOND	   1000000000u
#define FIRST_TIME (2ull * SECOND) /* what is done sooner needs no line */
#define AGAIN	   (SECOND / 4)

static uint64_t read_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

void pl_progress_init(lua_State *L, struct pl_progress *p)
{
	*p = (struct pl_progress){ .interrupt = pl_interrupt(L),
				   .part = -1,
				   .thread = pthread_self() };
	pl_begin_pass(L);
	lua_getfield(L, LUA_REGISTRYINDEX, PL_PROGRESS);
	if (lua_toboolean(L, -1) && isatty(STDERR_FILENO)) {
		p->shows = true;
		p->begun = read_monotonic();
		p->next = p->begun + FIRST_TIME;
	}
	lua_pop(L, 1);
}

void pl_progress_init_beside_output(lua_State *L, struct pl_progress *p)
{
	pl_progress_init(L, p);
	p->shows = p->shows && !isatty(STDOUT_FILENO);
}

/* Writes how long a pass will take at the rate so far; nothing at its very beginning. */
static int print_time_left(char *text, size_t room, double seconds, double part)
{
	double left = part > 0 ? seconds * (1 / part - 1) : -1;

	if (left < 0 || part < 0.001)
		return 0;
	if (left < 90)
		return snprintf(text, room, ", %.0f s left", left);
	return snprintf(text, room, ", %.0f min left", left / 60);
}

static void show_line(struct pl_progress *p, uint64_t time, uint64_t done, uint64_t size)
{
	double seconds = (double)(time - p->begun) / SECOND, mb = (double)done / 1e6;
	double rate = mb / seconds;
	double part = size ? (double)(done < size ? done : size) / (double)size : 0;
	char text[80];
	int n;

	if (p->stage)
		n = snprintf(text, sizeof(text), "perflua: %s, %.0f s", p->stage, seconds);
	else if (size)
		n = snprintf(text, sizeof(text), "perflua: %3.0f %%, %.0f MB/s", 100 * part,
			     rate);
	else
		n = snprintf(text, sizeof(text), "perflua: %.0f MB, %.0f MB/s", mb, rate);
	if (!p->stage)
		n += print_time_left(text + n, sizeof(text) - (size_t)n, seconds, part);
	fprintf(stderr, "\r%-*s", (int)p->width, text);
	fflush(stderr);
	p->width = (unsigned)n;
}

void pl_progress_at(struct pl_progress *p, uint64_t done, uint64_t size)
{
	uint64_t time = p->shows ? read_monotonic() : 0;

	p->done = done;
	p->size = size;
	if (!p->shows || time < p->next)
		return;
	show_line(p, time, done, size);
	p->next = time + AGAIN;
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

struct pb_progress pl_progress_shown(struct pl_progress *progress)
{
	return (struct pb_progress){ continue_pass, progress };
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
	if (p->watched && p->watched->arg == p)
		p->watched->tick = NULL;
	ps_interrupt_release(p->watched);
	p->watched = NULL;
	if (p->width) {
		fprintf(stderr, "\r%*s\r", (int)p->width, "");
		fflush(stderr);
	}
	p->width = 0;
}
