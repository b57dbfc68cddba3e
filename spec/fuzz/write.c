/*
 * A recording that is read, written in some form, and written again from that. The first copy
 * can be opened; unless something in it is taken for damage, the second one has its bytes. What
 * it and its copy are merged to can be read, and so can the recording with other call chains,
 * and as a directory, which can be written as a file.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "write/directory.h"
#include "write/merge.h"
#include "write/rewriter.h"

#define FORMS	  32
#define REWRITES  64  /* bit of an input's last byte: call chains are rewritten */
#define DIRECTORY 128 /* a directory is written */

static struct pw_how form_of(unsigned n)
{
	return (struct pw_how){
		.pipe = n & 1,
		.level = n & 2 ? 1 : 0,
		.padded = n & 4,
		.order = n & 16 ? PW_SAME_ORDER :
			 n & 8	? PW_BIG :
				  PW_LITTLE,
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
	if (how->directory) {
		fd = pw_directory_open(how->directory, session->files[0]);
		FUZZ_CHECK(fd >= 0);
	}
	n_events = session->files[0]->n_events;
	ok = pw_writer_init(&w, session->files[0], fd, how, &err) &&
	     pd_walk_init(&walk, session, how->sorts ? PD_ORDER_TIME : PD_ORDER_FILE, &err);
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
	if (how->directory)
		close(fd);
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

/* Rewrites the call chains of a recording; the records are written in the order of time. */
static bool rewrite_chains(const char *path, int fd, struct pw_how how)
{
	struct pd_session *session;
	struct pw_rewriter *rewriter = NULL;
	struct pm_system *system;
	struct pw_writer w = { 0 };
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;
	bool ok;
	int got = 0;

	if (!pd_session_open(&session, &path, 1, false, PD_PERF_NEWEST, NULL, &err))
		return false;
	system = pm_system_create(session, &(struct ps_options){ .symfs = "/nowhere" });
	how.unwinds = how.joins = how.keeps_stacks = how.sorts = true;
	FUZZ_CHECK(system);
	ok = pm_system_read(system, NULL, 1, false, NULL, &err) &&
	     pw_writer_init(&w, session->files[0], fd, &how, &err) &&
	     pd_walk_init(&walk, session, PD_ORDER_TIME, &err);
	if (ok) {
		walk.options.types = PD_ALL_TYPES;
		rewriter = pw_rewriter_create(&w, system, 1);
		FUZZ_CHECK(rewriter);
		while (ok && (got = pd_walk_next(&walk, &rec, &err)) > 0)
			ok = pw_rewriter_add(rewriter, &rec, &err);
		ok = ok && got == 0 && pw_rewriter_finish(rewriter, &err) &&
		     pw_writer_finish(&w, &err);
		pd_walk_deinit(&walk);
	}
	pw_rewriter_destroy(rewriter);
	pw_writer_deinit(&w);
	pm_system_destroy(system);
	pd_session_close(session);
	pd_session_destroy(session);
	return ok;
}

/* Writes a recording as a directory, that as a file to `fd`, and removes it. */
static void write_directory(const char *path, int fd, struct pw_how how)
{
	static struct pw_directory d;
	char target[PATH_MAX];
	const char *parent = getenv("TMPDIR");
	bool is_plain;

	snprintf(target, sizeof(target), "%s/perflua-fuzz-write-%d/", parent ? parent : "/tmp",
		 (int)getpid());
	FUZZ_CHECK(pw_directory_begin(&d, target, NULL));
	how.pipe = false;
	how.sorts = true;
	how.directory = &d;
	if (rewrite(path, -1, &how, &is_plain)) {
		FUZZ_CHECK(pw_directory_commit(&d));
		how.directory = NULL;
		fuzz_read((const char *[]){ target }, 1);
		FUZZ_CHECK(rewrite(target, fd, &how, &is_plain));
		memcpy(d.path, target, sizeof(target)); /* to be removed */
	}
	pw_directory_discard(&d);
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
	unsigned form = n ? bytes[n - 1] : 0;
	struct pw_how how = form_of(form % FORMS);
	char path[FUZZ_PATH], copied[FUZZ_PATH], again[FUZZ_PATH];
	char whole[FUZZ_PATH], rewritten[FUZZ_PATH], flat[FUZZ_PATH];
	int fd = fuzz_file(bytes, n, path), copy = fuzz_file(NULL, 0, copied);
	int second = fuzz_file(NULL, 0, again);
	int third = fuzz_file(NULL, 0, whole);
	int chains = fuzz_file(NULL, 0, rewritten), file = fuzz_file(NULL, 0, flat);
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
	if (form & REWRITES && rewrite_chains(path, chains, how))
		fuzz_read((const char *[]){ rewritten }, 1);
	if (form & DIRECTORY)
		write_directory(path, file, how);
	close(fd);
	close(copy);
	close(second);
	close(chains);
	close(file);
	close(third);
	return 0;
}
