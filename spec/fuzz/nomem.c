/*
 * A whole recording for which there is no memory: after so many allocations (the last two
 * bytes) one fails, or from then on each. What was begun ends with an error or less is read,
 * and nothing is lost or used twice.
 */
#include <stdlib.h>
#include <unistd.h>

#include "common.h"
#include "analysis/health.h"
#include "analysis/stat.h"

static bool failing;
static bool for_good; /* not one alone */
static unsigned left; /* allocations that succeed */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

/* Threads allocate, too: which of them fails matters as little as how often. */
static bool fails(void)
{
	if (!failing || __atomic_load_n(&left, __ATOMIC_RELAXED) == 0)
		return failing && for_good;
	return __atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static void walk(struct pd_session *session, enum pd_order_kind kind)
{
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err = { .code = NULL };
	int got;

	if (!pd_walk_init(&walk, session, kind, &err))
		return;
	while ((got = pd_walk_next(&walk, &rec, &err)) > 0)
		FUZZ_CHECK(rec.layout && rec.size >= 8);
	FUZZ_CHECK(got == 0 || err.code);
	pd_walk_deinit(&walk);
}

static void read_all(const char *path)
{
	struct pd_session *session;
	struct pd_error err = { .code = NULL };
	struct pd_health health;
	struct pd_stat stat;

	if (!pd_session_open(&session, &path, 1, false, PD_PERF_NEWEST, NULL, &err)) {
		FUZZ_CHECK(err.code);
		return;
	}
	walk(session, PD_ORDER_TIME);
	walk(session, PD_ORDER_FILE);
	if (pd_stat_collect(&stat, session, NULL, &err))
		pd_stat_deinit(&stat);
	if (pd_health_collect(&health, session, 1, NULL, &err))
		pd_health_deinit(&health);
	pd_session_close(session);
	pd_session_destroy(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char path[FUZZ_PATH];
	unsigned how;
	int fd;

	if (n < 2)
		return 0;
	how = (unsigned)bytes[n - 1] << 8 | bytes[n - 2];
	fd = fuzz_file(bytes, n, path);
	left = (how >> 1) % 1024 + 1;
	for_good = how & 1;
	failing = true;
	read_all(path);
	failing = false;
	close(fd);
	return 0;
}
