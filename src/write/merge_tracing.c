/*
 * The tracing data of several recordings as those of one: the formats of all their tracepoints.
 * See tracing_data_get, tools/perf/util/trace-event-info.c, for the form.
 */
#include <stdlib.h>

#include "merge.h"
#include "perfdata/tracepoint/tracing.h"

static bool are_texts_equal(struct pd_text a, struct pd_text b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static void add64(struct pb_string *s, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	pb_string_add(s, (const char *)&value, sizeof(value));
}

/* Formats of all recordings, each tracepoint once, in the order in which they were met. */
struct formats {
	const struct pd_format **list; /* [n] */
	size_t n;
	struct pw_met names; /* system and name → index */
};

/* Adds a format. Returns false with *err if another part has one of its name that differs. */
static bool add_format(struct formats *all, const struct pd_file *file,
		       const struct pd_format *format, struct pd_error *err)
{
	struct pd_text name = pd_format_name(format);
	struct pb_string key = { 0 };
	uint32_t at;

	pb_string_add(&key, format->system.p, format->system.n);
	pb_string_add(&key, ":", 1);
	pb_string_add(&key, name.p, name.n);
	if (!pb_string_end(&key))
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET,
				    "no memory to join formats");
	at = pw_meet(&all->names, key.p, key.n, (uint32_t)all->n);
	if (at == UINT32_MAX)
		all->list[all->n++] = format;
	else if (!are_texts_equal(all->list[at]->text, format->text))
		pd_error_set(err, "FORMAT", file->path, PD_NO_OFFSET,
			     "the format of %.100s is another one than in the parts before, so "
			     "their attrs cannot be joined",
			     key.p);
	pb_string_deinit(&key);
	return at == UINT32_MAX || are_texts_equal(all->list[at]->text, format->text);
}

/* Puts the formats of each system after its name. */
static void put_systems(const struct formats *all, bool swap, struct pb_string *out)
{
	struct pb_string systems = { 0 };
	uint32_t n_systems = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct pd_text system = all->list[i]->system;
		uint32_t n = 0;
		size_t first = 0;

		while (!are_texts_equal(all->list[first]->system, system))
			first++;
		if (first < i)
			continue; /* that system was put */
		n_systems++;
		pb_string_add(&systems, system.p, system.n + 1);
		for (size_t k = i; k < all->n; k++)
			n += are_texts_equal(all->list[k]->system, system);
		pw_add32(&systems, n, swap);
		for (size_t k = i; k < all->n; k++) {
			if (!are_texts_equal(all->list[k]->system, system))
				continue;
			add64(&systems, all->list[k]->text.n, swap);
			pb_string_add(&systems, all->list[k]->text.p, all->list[k]->text.n);
		}
	}
	pw_add32(out, n_systems, swap);
	pw_add_string(out, &systems);
}

/* Puts the parts of `base` with other formats: what comes before these, and after. */
static void put_tracing(const struct pd_tracing *base, const struct formats *all,
			struct pb_string *out)
{
	const char *bytes = (const char *)base->bytes;
	const struct pd_format *last = &base->formats[base->n_formats - 1];
	size_t start = (size_t)(base->formats[0].system.p - bytes) - 4;
	size_t end = (size_t)(last->text.p + last->text.n - bytes);

	pb_string_add(out, bytes, start);
	put_systems(all, base->swap, out);
	pb_string_add(out, bytes + end, base->size - end);
}

/* Returns whether joined tracing data can be read; those of a damaged part may not. */
static bool is_whole(const struct pb_string *out)
{
	struct pd_tracing *tracing = calloc(1, sizeof(*tracing));
	uint8_t *bytes = malloc(out->n + 1);
	bool ok = tracing && bytes && !out->failed;
	size_t offset;

	if (ok) {
		memcpy(bytes, out->p, out->n);
		ok = pd_tracing_parse(tracing, bytes, out->n, &offset);
		bytes = NULL; /* it owns them */
	}
	free(bytes);
	pd_tracing_destroy(tracing);
	return ok;
}

bool pw_merge_tracing(const struct pd_session *session, struct pb_string *out,
		      struct pd_error *err)
{
	const struct pd_tracing *base = NULL;
	struct formats all = { 0 };
	size_t n = 0;
	bool ok = true;

	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_tracing *tracing = session->files[i]->tracing;

		if (!tracing || !tracing->n_formats)
			continue;
		n += tracing->n_formats;
		base = base ? base : tracing;
	}
	if (!base)
		return true;
	all.list = calloc(n, sizeof(*all.list));
	if (!all.list)
		return pd_error_set(err, "ENOMEM", session->paths[0], PD_NO_OFFSET,
				    "no memory to join formats");
	pw_met_init(&all.names);
	for (size_t i = 0; ok && i < session->n_files; i++) {
		const struct pd_tracing *tracing = session->files[i]->tracing;

		for (size_t k = 0; ok && tracing && k < tracing->n_formats; k++)
			ok = add_format(&all, session->files[i], &tracing->formats[k], err);
	}
	if (ok && all.n > base->n_formats) {
		put_tracing(base, &all, out);
		ok = is_whole(out) ||
		     pd_error_set(err, "FORMAT", session->paths[0], PD_NO_OFFSET,
				  "its tracing data cannot be joined with those of "
				  "the others");
	}
	pw_met_deinit(&all.names);
	free(all.list);
	return ok;
}
