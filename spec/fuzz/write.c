/*
 * A recording that is read, written in some form, and written again from that. The first copy
 * can be opened; unless something in it is taken for damage, the second one has its bytes. What
 * it and its copy are merged to can be read.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "write/merge.h"

#define FORMS 16

static struct pw_how form_of(unsigned n)
{
	return (struct pw_how){
		.pipe = n & 1,
		.level = n & 2 ? 1 : 0,
		.padded = n & 4,
		.order = n & 8 ? PW_BIG : PW_SAME_ORDER,
	};
}

/*
 * Writes the recording at a path to `fd`. Returns false if it cannot be opened or written. Sets
 * *is_plain unless something was damaged, or came so late that a copy has it elsewhere.
 */
static bool rewrite(const char *path, int fd, const struct pw_how *how, bool *is_plain)
{
	struct pd_session *session;
	struct pw_writer w;
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;
	size_t n_events;
	bool ok;
	int got = 0;

	*is_plain = false;
	if (!pd_session_open(&session, &path, 1, false, PD_PERF_NEWEST, NULL, &err))
		return false;
	n_events = session->files[0]->n_events;
	ok = pw_writer_init(&w, session->files[0], fd, how, &err) &&
	     pd_walk_init(&walk, session, PD_ORDER_FILE, &err);
	if (ok) {
		walk.options.types = PD_ALL_TYPES;
		while (ok && (got = pd_walk_next(&walk, &rec, &err)) > 0)
			ok = pw_write(&w, &rec, &err);
		pd_walk_deinit(&walk);
		ok = ok && got == 0 && pw_writer_finish(&w, &err);
	}
	pw_writer_deinit(&w);
	*is_plain = ok && !session->files[0]->n_damage &&
		    session->files[0]->n_events == n_events;
	pd_session_close(session);
	pd_session_destroy(session);
	return ok;
}

/* Writes two recordings as one. Returns false if they cannot be joined. */
static bool merge(const char *const *paths, int fd, struct pw_how how)
{
	struct pd_session *session;
	struct pw_merge m;
	struct pw_writer w = { 0 };
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;
	bool ok;
	int got = 0;

	if (!pd_session_open(&session, paths, 2, true, PD_PERF_NEWEST, NULL, &err))
		return false;
	how.selects = how.sorts = true;
	ok = pw_merge_init(&m, session, &err);
	how.description = &m.description;
	ok = ok && pw_writer_init(&w, session->files[0], fd, &how, &err) &&
	     pd_walk_init(&walk, session, PD_ORDER_TIME, &err);
	if (ok) {
		while (ok && (got = pd_walk_next(&walk, &rec, &err)) > 0)
			ok = pw_merge_write(&m, &w, &rec, &err);
		pd_walk_deinit(&walk);
		ok = ok && got == 0 && pw_merge_finish(&m, &w, &err) &&
		     pw_writer_finish(&w, &err);
	}
	pw_writer_deinit(&w);
	pw_merge_deinit(&m);
	pd_session_close(session);
	pd_session_destroy(session);
	return ok;
}

static void check_equal(int a, int b)
{
	struct stat one, other;
	void *p, *q;

	FUZZ_CHECK(fstat(a, &one) == 0 && fstat(b, &other) == 0);
	FUZZ_CHECK(one.st_size == other.st_size);
	p = mmap(NULL, (size_t)one.st_size, PROT_READ, MAP_PRIVATE, a, 0);
	q = mmap(NULL, (size_t)one.st_size, PROT_READ, MAP_PRIVATE, b, 0);
	FUZZ_CHECK(p != MAP_FAILED && q != MAP_FAILED);
	FUZZ_CHECK(memcmp(p, q, (size_t)one.st_size) == 0);
	munmap(p, (size_t)one.st_size);
	munmap(q, (size_t)one.st_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pw_how how = form_of(n ? bytes[n - 1] % FORMS : 0);
	char path[FUZZ_PATH], copied[FUZZ_PATH], again[FUZZ_PATH];
	char whole[FUZZ_PATH];
	int fd = fuzz_file(bytes, n, path), copy = fuzz_file(NULL, 0, copied);
	int second = fuzz_file(NULL, 0, again);
	int third = fuzz_file(NULL, 0, whole);
	bool was_plain, is_plain;

	if (rewrite(path, copy, &how, &was_plain)) {
		const char *paths[] = { copied };

		fuzz_read(paths, 1);
		FUZZ_CHECK(rewrite(copied, second, &how, &is_plain));
		if (was_plain && is_plain)
			check_equal(copy, second);
		if (merge((const char *[]){ path, copied }, third, how))
			fuzz_read((const char *[]){ whole }, 1);
	}
	close(fd);
	close(copy);
	close(second);
	close(third);
	return 0;
}
