/*
 * The header features of several recordings as those of one. See the functions write_…,
 * tools/perf/util/header.c, for their forms.
 */
#include <stdlib.h>

#include "merge.h"
#include "perfdata/format/format.h"

#define BUILD_ID_HEADER 36 /* bytes of an entry before its file name */

/* The content of a feature of each part, and what is made of it. */
struct joining {
	struct pw_merge *m;
	unsigned bit;
	bool swap;
	struct pb_string out;
	struct pb_cursor at; /* in the content of one part */
	uint8_t *bytes;	     /* that content */
};

static struct pd_file *file_at(const struct joining *j, size_t i)
{
	return j->m->session->files[i];
}

/* Reads the content of the feature of part `i`. Returns false if it has none. */
static bool read_part(struct joining *j, size_t i)
{
	free(j->bytes);
	j->bytes = pd_file_feature_bytes(file_at(j, i), j->bit, &j->at);
	return j->bytes != NULL;
}

/* Adds what was not read of the content of a part. */
static void add_rest(const struct joining *j, struct pb_string *s)
{
	if (pb_cursor_left(&j->at))
		pb_string_add(s, (const char *)j->at.pos, pb_cursor_left(&j->at));
}

/* Makes what was joined the content of the feature, if it has one. */
static bool replace(struct joining *j, struct pd_error *err)
{
	size_t n;
	uint8_t *bytes = pw_take_bytes(&j->out, &n, err);

	j->out = (struct pb_string){ 0 };
	if (bytes)
		pw_replace_feature(&j->m->description, j->bit, bytes, n);
	return bytes != NULL;
}

/* Takes the feature of the first part that has it, or drops it. */
static bool join_first(struct joining *j, struct pd_error *err)
{
	for (size_t i = 0; i < j->m->session->n_files; i++) {
		if (!read_part(j, i))
			continue;
		if (!i)
			return true;
		add_rest(j, &j->out);
		return replace(j, err);
	}
	pw_drop_feature(&j->m->description, j->bit);
	return true;
}

/* Takes the feature of the part whose clock is that of the whole. */
static bool join_clock(struct joining *j, struct pd_error *err)
{
	for (size_t i = 0; !j->m->session->one_clock && i < j->m->session->n_files; i++) {
		if (file_at(j, i)->shift || !read_part(j, i))
			continue;
		add_rest(j, &j->out);
		return replace(j, err);
	}
	return join_first(j, err);
}

/* Keeps a feature whose presence says something of all samples, if all parts have it. */
static bool join_flag(struct joining *j, struct pd_error *err)
{
	(void)err;
	for (size_t i = 0; i < j->m->session->n_files; i++)
		if (!pd_file_feature(file_at(j, i), j->bit))
			pw_drop_feature(&j->m->description, j->bit);
	return true;
}

/* Joins command lines that differ: one after another, with a + between them. */
static bool join_command_lines(struct joining *j, struct pd_error *err)
{
	struct pb_string all = { 0 };
	uint8_t *first = NULL;
	size_t first_size = 0;
	uint32_t n = 0;
	bool differ = false;

	for (size_t i = 0; i < j->m->session->n_files; i++) {
		if (!read_part(j, i))
			continue;
		if (!first) {
			first = j->bytes;
			first_size = pb_cursor_left(&j->at);
			j->bytes = NULL;
		} else if (pb_cursor_left(&j->at) == first_size &&
			   memcmp(j->at.pos, first, first_size) == 0) {
			continue; /* parts of one recording have one command line */
		} else {
			differ = true;
			pw_add_text(&all, "+", j->swap);
			n++;
		}
		n += pb_take32(&j->at);
		add_rest(j, &all);
	}
	if (differ) {
		pw_add32(&j->out, n, j->swap);
		pw_add_string(&j->out, &all);
	}
	pb_string_deinit(&all);
	free(first);
	return differ ? replace(j, err) : join_first(j, err);
}

/* Takes the next entry of a list. Returns its bytes and sets *n; NULL at the end. */
typedef const uint8_t *take_entry(struct joining *j, size_t *n);

/* An entry of BPF_PROG_INFO: sizes, which arrays there are, and both. */
static const uint8_t *take_program(struct joining *j, size_t *n)
{
	const uint8_t *start = j->at.pos;
	uint64_t info = pb_take32(&j->at), data = pb_take32(&j->at);

	pb_take64(&j->at);
	pb_take(&j->at, info);
	pb_take(&j->at, data);
	*n = (size_t)(j->at.pos - start);
	return j->at.failed ? NULL : start;
}

/* An entry of BPF_BTF: id, size, data. */
static const uint8_t *take_btf(struct joining *j, size_t *n)
{
	const uint8_t *start = j->at.pos;

	pb_take32(&j->at);
	pb_take(&j->at, pb_take32(&j->at));
	*n = (size_t)(j->at.pos - start);
	return j->at.failed ? NULL : start;
}

/* Joins lists that begin with the number of their entries; equal entries become one. */
static bool join_list(struct joining *j, take_entry *take, struct pd_error *err)
{
	struct pw_met met;
	struct pb_string all = { 0 };
	uint32_t n = 0;
	size_t size;

	pw_met_init(&met);
	for (size_t i = 0; i < j->m->session->n_files; i++) {
		const uint8_t *entry;

		if (!read_part(j, i))
			continue;
		for (uint32_t left = pb_take32(&j->at); left; left--) {
			entry = take(j, &size);
			if (!entry)
				break;
			if (pw_meet(&met, entry, size, (uint32_t)i) != UINT32_MAX)
				continue;
			pb_string_add(&all, (const char *)entry, size);
			n++;
		}
	}
	pw_add32(&j->out, n, j->swap);
	pw_add_string(&j->out, &all);
	pw_met_deinit(&met);
	if (n)
		return replace(j, err);
	pb_string_deinit(&j->out);
	j->out = (struct pb_string){ 0 };
	return join_first(j, err);
}

static bool join_programs(struct joining *j, struct pd_error *err)
{
	return join_list(j, take_program, err);
}

static bool join_btf(struct joining *j, struct pd_error *err)
{
	return join_list(j, take_btf, err);
}

static bool join_events(struct joining *j, struct pd_error *err)
{
	const struct pw_description *d = &j->m->description;
	size_t n, named = 0;
	uint8_t *bytes;

	for (size_t i = 0; i < d->n_events; i++)
		named += !d->events[i].made_up;
	if (!named)
		return true; /* no part has names, which perf then makes itself */
	bytes = pw_make_event_desc(d->events, d->n_events, j->swap, &n, err);
	if (bytes)
		pw_replace_feature(&j->m->description, j->bit, bytes, n);
	return bytes != NULL;
}

static bool join_groups(struct joining *j, struct pd_error *err)
{
	const struct pw_description *d = &j->m->description;
	uint32_t n = 0;

	for (size_t i = 0; i < d->n_events; i++)
		n += d->events[i].leader == i && d->events[i].n_members > 1;
	pw_drop_feature(&j->m->description, j->bit);
	if (!n)
		return true;
	pw_add32(&j->out, n, j->swap);
	for (size_t i = 0; i < d->n_events; i++) {
		const struct pd_event *event = &d->events[i];

		if (event->leader != i || event->n_members < 2)
			continue;
		pw_add_text(&j->out, event->group_name ? event->group_name : "{anon_group}",
			    j->swap);
		pw_add32(&j->out, (uint32_t)i, j->swap);
		pw_add32(&j->out, event->n_members, j->swap);
	}
	return replace(j, err);
}

#define PATH_MOST 4096

/* Entries of BUILD_ID that were met, and the binaries that they name. */
struct met_builds {
	struct pw_met entries, names;
};

/*
 * Adds an entry of BUILD_ID of part `i`, unless another part has one for a binary of its name.
 * Returns false with *err.
 */
static bool add_build_id(struct joining *j, struct met_builds *met, size_t i,
			 const uint8_t *entry, size_t n, struct pd_error *err)
{
	struct pd_text name = pd_text_in(entry + BUILD_ID_HEADER, n - BUILD_ID_HEADER);
	uint8_t key[6 + PATH_MOST];
	uint32_t part = (uint32_t)i, first;

	if (name.n > PATH_MOST || pw_meet(&met->entries, entry, n, part) != UINT32_MAX)
		return true;
	memcpy(key, entry + 4, 2); /* host or guest, kernel or user */
	memcpy(key + 2, entry + 8, 4);
	memcpy(key + 6, name.p, name.n);
	first = pw_meet(&met->names, key, 6 + name.n, part);
	if (first == UINT32_MAX || first == part) {
		pb_string_add(&j->out, (const char *)entry, n);
		return true;
	}
	j->m->rebuilt++;
	return name.n < 7 || memcmp(name.p, "[kernel", 7) != 0 ||
	       pd_error_set(
		       err, "FORMAT", file_at(j, i)->path, PD_NO_OFFSET,
		       "the build-id of %.*s is another one than in %.80s: recordings "
		       "of several kernels cannot be one; open() of several reads them beside "
		       "each other",
		       (int)name.n, name.p, file_at(j, first)->path);
}

static bool join_build_ids(struct joining *j, struct pd_error *err)
{
	struct met_builds met;
	bool ok = true;

	j->m->rebuilt = 0;
	pw_met_init(&met.entries);
	pw_met_init(&met.names);
	for (size_t i = 0; ok && i < j->m->session->n_files; i++) {
		if (!read_part(j, i))
			continue;
		while (ok && pb_cursor_left(&j->at) >= BUILD_ID_HEADER) {
			uint16_t n = pb_load16(j->at.pos + 6, j->swap);
			const uint8_t *entry = n >= BUILD_ID_HEADER ? pb_take(&j->at, n) : NULL;

			if (!entry)
				break;
			ok = add_build_id(j, &met, i, entry, n, err);
		}
	}
	pw_met_deinit(&met.entries);
	pw_met_deinit(&met.names);
	if (!ok || j->out.n)
		return ok && replace(j, err);
	return join_first(j, err);
}

/* Keeps the names that were packed if they are the same: they are of their recording alone. */
static bool join_bundles(struct joining *j, struct pd_error *err)
{
	size_t n = j->m->session->n_files;

	(void)err;
	j->m->has_other_names = false;
	for (size_t i = 1; i < n; i++)
		if (!pd_file_feature_equal(file_at(j, 0), file_at(j, i), j->bit))
			j->m->has_other_names = true;
	if (j->m->has_other_names)
		pw_drop_feature(&j->m->description, j->bit);
	return true;
}

static bool join_tracing(struct joining *j, struct pd_error *err)
{
	if (!pw_merge_tracing(j->m->session, &j->out, err))
		return false;
	if (j->out.n)
		return replace(j, err);
	return join_first(j, err);
}

static bool keep(struct joining *j, struct pd_error *err)
{
	(void)j;
	(void)err;
	return true; /* the writer knows */
}

static bool drop(struct joining *j, struct pd_error *err)
{
	(void)err;
	pw_drop_feature(&j->m->description, j->bit);
	return true;
}

/* How features are joined; the system is described by the first part that does. */
static bool (*const joins[PD_FEATURES])(struct joining *j, struct pd_error *err) = {
	[PD_FEATURE_TRACING_DATA] = join_tracing,
	[PD_FEATURE_BUILD_ID] = join_build_ids,
	[PD_FEATURE_CMDLINE] = join_command_lines,
	[PD_FEATURE_EVENT_DESC] = join_events,
	[PD_FEATURE_BRANCH_STACK] = join_flag,
	[PD_FEATURE_GROUP_DESC] = join_groups,
	[PD_FEATURE_AUXTRACE] = drop,
	[PD_FEATURE_SAMPLE_TIME] = keep,
	[PD_FEATURE_CLOCKID] = join_clock,
	[PD_FEATURE_DIR_FORMAT] = keep,
	[PD_FEATURE_BPF_PROG_INFO] = join_programs,
	[PD_FEATURE_BPF_BTF] = join_btf,
	[PD_FEATURE_COMPRESSED] = keep,
	[PD_FEATURE_CLOCK_DATA] = join_clock,
	[PD_FEATURE_BUNDLE] = join_bundles,
};

bool pw_merge_features(struct pw_merge *m, struct pd_error *err)
{
	struct joining j = { .m = m, .swap = m->session->files[0]->swap };
	bool ok = true;

	for (j.bit = 0; ok && j.bit < PD_FEATURES; j.bit++)
		ok = joins[j.bit] ? joins[j.bit](&j, err) : join_first(&j, err);
	free(j.bytes);
	pb_string_deinit(&j.out);
	return ok;
}
