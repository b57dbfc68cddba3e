#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "query_scope.h"

#define SECOND	   1000000000u
#define FIRST_TIME (2ull * SECOND) /* what is done sooner needs no line */
#define AGAIN	   (SECOND / 4)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

void pl_progress_init(lua_State *L, struct pl_progress *p)
{
	*p = (struct pl_progress){ .interrupt = pl_interrupt(L), .part = -1 };
	pl_begin_pass(L);
	lua_getfield(L, LUA_REGISTRYINDEX, PL_PROGRESS);
	if (lua_toboolean(L, -1) && isatty(STDERR_FILENO)) {
		p->shows = true;
		p->begun = now();
		p->next = p->begun + FIRST_TIME;
	}
	lua_pop(L, 1);
}

static void show(struct pl_progress *p, uint64_t time, uint64_t done, uint64_t size)
{
	double mb = (double)done / 1e6, rate = mb / ((double)(time - p->begun) / SECOND);
	char text[80];
	int n;

	if (size)
		n = snprintf(text, sizeof(text), "perflua: %3.0f %%, %.0f MB/s",
			     100.0 * (double)(done < size ? done : size) / (double)size, rate);
	else
		n = snprintf(text, sizeof(text), "perflua: %.0f MB, %.0f MB/s", mb, rate);
	fprintf(stderr, "\r%-*s", (int)p->width, text);
	fflush(stderr);
	p->width = (unsigned)n;
}

static bool continue_pass(void *arg, uint64_t done, uint64_t size)
{
	struct pl_progress *p = arg;

	if (p->shows) {
		uint64_t time = now();

		if (time >= p->next) {
			show(p, time, done, size);
			p->next = time + AGAIN;
		}
	}
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

void pl_progress_end(struct pl_progress *p)
{
	if (p->width) {
		fprintf(stderr, "\r%*s\r", (int)p->width, "");
		fflush(stderr);
	}
	p->width = 0;
}
