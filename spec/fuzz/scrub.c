/*
 * A recording that is scrubbed, in some form, or the parts of a bundle. The copy can be opened
 * and read; what it tells of the kinds that are hashed are hashes, and of those that are
 * dropped it tells nothing.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "pack/text.h"
#include "scrub/internal.h"
#include "write/writer.h"

#define FORMS  5
#define BUNDLE 4 /* the form of parts of a bundle */

struct scrubbing {
	struct pd_session *session;
	struct pv_scrubber *scrubber;
	struct pw_description description;
	struct pw_writer writer;
	bool writes;
};

/* Opens a recording and prepares to scrub it. Returns false if it cannot be opened. */
static bool begin(struct scrubbing *s, const char *path, const struct pv_rules *rules)
{
	struct pd_error err;

	memset(s, 0, sizeof(*s));
	if (!pd_session_open(&s->session, &path, 1, false, PD_PERF_NEWEST, NULL, &err))
		return false;
	s->scrubber = pv_scrubber_create(s->session->files[0], NULL, rules, "fuzz", 4);
	FUZZ_CHECK(s->scrubber);
	s->scrubber->session = s->session;
	pw_description_init(&s->description);
	return true;
}

static void end(struct scrubbing *s)
{
	if (s->writes)
		pw_writer_deinit(&s->writer);
	pw_description_deinit(&s->description);
	pv_scrubber_destroy(s->scrubber);
	pd_session_close(s->session);
	pd_session_destroy(s->session);
}

/*
 * Scrubs all records, and writes them to `fd` unless it is negative. Returns false if they
 * cannot be read or written.
 */
static bool scrub(struct scrubbing *s, int fd, struct pw_how *how)
{
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;
	bool ok = pv_describe(s->scrubber, &s->description, &err);
	int got = 0;

	how->description = &s->description;
	s->writes = ok && fd >= 0;
	if (s->writes)
		ok = pw_writer_init(&s->writer, s->session->files[0], fd, how, &err);
	ok = ok && pd_walk_init(&walk, s->session, PD_ORDER_FILE, &err);
	if (!ok)
		return false;
	walk.options.types = PD_ALL_TYPES;
	while (ok && (got = pd_walk_next(&walk, &rec, &err)) > 0)
		if (pv_record(s->scrubber, &rec) && s->writes)
			ok = pw_write(&s->writer, &rec, &err);
	pd_walk_deinit(&walk);
	ok = ok && got == 0 && pv_describe(s->scrubber, &s->description, &err);
	return ok && (!s->writes || pw_writer_finish(&s->writer, &err));
}

/* Returns whether a part of a name is a hash, or the beginning of one. */
static bool is_hash(const char *p, size_t n)
{
	if (!n)
		return true;
	for (size_t i = 1; i < n; i++)
		if (!isxdigit((unsigned char)p[i]) || isupper((unsigned char)p[i]))
			return false;
	return p[0] == 'x' && n <= PV_HASH_SIZE;
}

/* Returns whether a name says nothing: its parts are hashes, or it is what scrubbing leaves. */
static bool says_nothing(const struct pv_scrubber *original, const struct pv_name *name)
{
	const char *p = name->text.p, *last = p + name->text.n;
	size_t n;

	for (size_t i = 0; i < original->names.n; i++) {
		struct pd_text shown = original->names.list[i].shown;

		if (name->text.n <= shown.n && memcmp(shown.p, p, name->text.n) == 0)
			return true;
	}
	if (strncmp(p, PV_SHOWN_DROP, name->text.n) == 0)
		return true;
	for (; p < last; p += n + 1) {
		n = strcspn(p, "/[]");
		if (!is_hash(p, n))
			return false;
	}
	return true;
}

/* Checks what a scrubber of the copy, which keeps all, found in it. */
static void check_found(const struct pv_scrubber *original, const struct pv_scrubber *copy)
{
	static const enum pv_kind none[] = { PV_CMDLINE, PV_CPU,       PV_HARDWARE,  PV_CLOCK,
					     PV_BPF,	 PV_NAMESPACE, PV_REGISTERS, PV_STACKS,
					     PV_CODE,	 PV_AUX,       PV_UNKNOWN,   PV_ALIAS,
					     PV_TEXT };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		FUZZ_CHECK(copy->found[none[i]].n == 0 ||
			   original->rules.of[none[i]] == PV_KEEP);
	for (size_t i = 0; i < copy->names.n; i++) {
		const struct pv_name *name = &copy->names.list[i];

		if (original->rules.of[name->kind] != PV_KEEP)
			FUZZ_CHECK(says_nothing(original, name));
	}
}

static struct pv_rules keep_all(void)
{
	struct pv_rules rules;

	for (unsigned kind = 0; kind < PV_KINDS; kind++)
		rules.of[kind] = pv_kinds[kind].can >> PV_KEEP & 1 ? PV_KEEP : PV_DROP;
	return rules;
}

static void check_copy(const struct pv_scrubber *original, const char *path)
{
	const struct pv_rules keep = keep_all();
	struct scrubbing s;
	struct pw_how how = { 0 };

	FUZZ_CHECK(begin(&s, path, &keep));
	FUZZ_CHECK(scrub(&s, -1, &how));
	check_found(original, s.scrubber);
	end(&s);
}

/* Scrubs the parts of a bundle, and what that made, which is a bundle again. */
static void scrub_bundle(const struct pv_rules *rules, const uint8_t *bytes, size_t n)
{
	const struct pv_rules keep = keep_all();
	struct pb_string parts = { 0 }, section = { 0 }, copy = { 0 }, again = { 0 };
	struct pk_texts texts = { .n = 0 };
	struct pd_file file = { .path = "" };
	struct pv_scrubber *first = pv_scrubber_create(&file, NULL, rules, "fuzz", 4);
	struct pv_scrubber *second = pv_scrubber_create(&file, NULL, &keep, "fuzz", 4);
	const char *reason;

	FUZZ_CHECK(first && second);
	pb_string_add(&parts, (const char *)bytes, n);
	FUZZ_CHECK(pk_seal(&texts, &parts, &section, &reason));
	if (pv_bundle(first, (const uint8_t *)section.p, section.n, &copy) && copy.n) {
		FUZZ_CHECK(pv_bundle(second, (const uint8_t *)copy.p, copy.n, &again));
		check_found(first, second);
		FUZZ_CHECK(again.n && !again.failed);
	}
	pv_scrubber_destroy(first);
	pv_scrubber_destroy(second);
	pb_string_deinit(&parts);
	pb_string_deinit(&section);
	pb_string_deinit(&copy);
	pb_string_deinit(&again);
	pk_texts_deinit(&texts);
}

static void scrub_recording(const struct pv_rules *rules, unsigned form, const uint8_t *bytes,
			    size_t n)
{
	struct pw_how how = { .pipe = form & 1, .level = form & 2 ? 1 : 0 };
	char path[FUZZ_PATH], copied[FUZZ_PATH];
	int fd = fuzz_file(bytes, n, path), copy = fuzz_file(NULL, 0, copied);
	struct scrubbing s;

	if (begin(&s, path, rules)) {
		if (scrub(&s, copy, &how)) {
			const char *paths[] = { copied };

			fuzz_read(paths, 1);
			check_copy(s.scrubber, copied);
		}
		end(&s);
	}
	close(fd);
	close(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	unsigned form = n ? bytes[n - 1] % FORMS : 0;
	bool keeps = n && bytes[n - 1] / FORMS & 1; /* what cannot be hashed */
	struct pv_rules rules;

	for (unsigned kind = 0; kind < PV_KINDS; kind++) {
		rules.of[kind] = (enum pv_action)pv_kinds[kind].anonymous;
		if (keeps && !(pv_kinds[kind].can >> PV_HASH & 1) &&
		    pv_kinds[kind].can >> PV_KEEP & 1)
			rules.of[kind] = PV_KEEP;
	}
	if (form == BUNDLE)
		scrub_bundle(&rules, bytes, n - 1);
	else
		scrub_recording(&rules, form, bytes, n);
	return 0;
}
