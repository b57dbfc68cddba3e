/*
 * A recording, or a description of one. What is built of a description can be read; a recording
 * that is described and built again has the same bytes.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/string_builder.h"
#include "common.h"
#include "consume.h"
#include "describe/build.h"
#include "describe/describe.h"

#define PIECE 61	/* bytes that the parser gets at once */
#define MOST  (1 << 20) /* bytes of a recording that is read: a short text says a large one */

struct text {
	const char *p, *end;
};

static int64_t read_text(void *arg, char *buffer, size_t n)
{
	struct text *text = arg;

	if (n > PIECE)
		n = PIECE;
	if (n > (size_t)(text->end - text->p))
		n = (size_t)(text->end - text->p);
	if (n)
		memcpy(buffer, text->p, n);
	text->p += n;
	return (int64_t)n;
}

/* Builds what a description says. Returns false if that is refused. */
static bool build(const char *p, size_t n, int fd)
{
	static struct pw_builder b;
	struct text text = { p, p + n };
	struct pd_error err = { 0 };
	bool ok;

	FUZZ_CHECK(pw_builder_init(&b, read_text, &text, "fuzz", fd));
	ok = pw_build(&b, &err);
	if (!ok)
		FUZZ_CHECK(err.code && err.message[0]);
	else
		FUZZ_CHECK(!b.out.error && b.samples <= b.records);
	pw_builder_deinit(&b);
	return ok;
}

static void add_text(void *arg, const char *p, size_t n)
{
	pb_string_add(arg, p, n);
}

static bool describe_records(struct pd_session *session, struct pw_describer *d)
{
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;
	bool ok = true;

	FUZZ_CHECK(pd_walk_init(&walk, session, PD_ORDER_FILE, &err));
	walk.options.types = PD_ALL_TYPES;
	walk.options.split = false;
	while (ok && pd_walk_next(&walk, &rec, &err) > 0)
		ok = pw_describe_record(d, &rec, &err);
	pd_walk_deinit(&walk);
	return ok;
}

/* Describes a recording. Returns false if it cannot be opened or read. */
static bool describe(const char *path, struct pb_string *text)
{
	struct pd_session *session;
	struct pw_describer d;
	struct pd_print out;
	struct pd_error err;
	bool ok;

	if (!pd_session_open(&session, &path, 1, false, PD_PERF_NEWEST, NULL, &err))
		return false;
	pd_print_init(&out, add_text, text);
	pw_describer_init(&d, session->files[0], &out);
	ok = pw_describe_head(&d, &err) && describe_records(session, &d) &&
	     pw_describe_end(&d, &err);
	pd_print_flush(&out);
	pw_describer_deinit(&d);
	pd_session_close(session);
	pd_session_destroy(session);
	FUZZ_CHECK(!text->failed);
	return ok;
}

static void check_lines(const struct pb_string *text)
{
	const char *p = text->p, *end = p + text->n, *next;

	for (; p < end; p = next) {
		next = memchr(p, '\n', (size_t)(end - p));
		FUZZ_CHECK(next++);
		fuzz_check_text(p, (size_t)(next - p));
	}
}

static size_t size_of(int fd)
{
	struct stat st;

	FUZZ_CHECK(fstat(fd, &st) == 0);
	return (size_t)st.st_size;
}

static void check_equal(int a, int b)
{
	size_t n = size_of(a);
	void *p, *q;

	FUZZ_CHECK(n == size_of(b));
	p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, a, 0);
	q = mmap(NULL, n, PROT_READ, MAP_PRIVATE, b, 0);
	FUZZ_CHECK(p != MAP_FAILED && q != MAP_FAILED && memcmp(p, q, n) == 0);
	munmap(p, n);
	munmap(q, n);
}

/* Returns whether the bytes are a recording; if so, its description makes them again. */
static bool check_again(int fd, const char *path)
{
	char copied[FUZZ_PATH];
	struct pb_string text = { 0 };
	bool ok = describe(path, &text);

	if (ok) {
		int copy = fuzz_file(NULL, 0, copied);

		check_lines(&text);
		FUZZ_CHECK(build(text.p, text.n, copy));
		check_equal(fd, copy);
		close(copy);
	}
	pb_string_deinit(&text);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char path[FUZZ_PATH], built[FUZZ_PATH];
	int fd = fuzz_file(bytes, n, path), made = fuzz_file(NULL, 0, built);

	if (!check_again(fd, path) && build((const char *)bytes, n, made) &&
	    size_of(made) <= MOST) {
		fuzz_read((const char *[]){ built }, 1);
		check_again(made, built);
	}
	close(fd);
	close(made);
	return 0;
}
