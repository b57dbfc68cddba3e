/*
 * Checks that recordings are of one system: perf names binaries and threads of one kernel, and
 * reads records of one byte order.
 */
#include <stdlib.h>

#include "merge.h"
#include "perfdata/format/format.h"

static bool refuse(struct pd_file *a, struct pd_file *b, const char *what, const char *x,
		   const char *y, struct pd_error *err)
{
	return pd_error_set(
		err, "FORMAT", b->path, PD_NO_OFFSET,
		"%s is \"%.60s\" here, \"%.60s\" in %.80s: recordings of several "
		"systems cannot be one; open() of several reads them beside each other",
		what, y, x, a->path);
}

/* Compares the features that name the system. */
static bool check_names(struct pd_file *a, struct pd_file *b, struct pd_error *err)
{
	static const struct {
		unsigned bit;
		const char *what;
	} texts[] = {
		{ PD_FEATURE_HOSTNAME, "hostname" },
		{ PD_FEATURE_OSRELEASE, "osrelease" },
		{ PD_FEATURE_ARCH, "arch" },
		{ PD_FEATURE_CPUDESC, "cpudesc" },
	};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *x = pd_file_feature_text(a, texts[i].bit),
		     *y = pd_file_feature_text(b, texts[i].bit);

		ok = !x || !y || strcmp(x, y) == 0 || refuse(a, b, texts[i].what, x, y, err);
		free(x);
		free(y);
	}
	return ok;
}

static bool check_form(struct pd_file *a, struct pd_file *b, struct pd_error *err)
{
	static const char *const orders[] = { "little-endian", "big-endian" };

	if (b->simpleperf)
		return pd_error_set(err, "FORMAT", b->path, PD_NO_OFFSET,
				    "found a recording of simpleperf, whose own records cannot "
				    "be joined");
	if (pd_file_feature(b, PD_FEATURE_STAT))
		return pd_error_set(err, "FORMAT", b->path, PD_NO_OFFSET,
				    "found counts of perf stat, which have no order of time");
	return a->big == b->big ||
	       refuse(a, b, "byte order", orders[a->big], orders[b->big], err);
}

/* perf reads a recording only if all or none of its events have it (evlist__sample_id_all). */
static bool check_attrs(const struct pd_session *s, struct pd_error *err)
{
	const struct pd_event *first = NULL;

	for (size_t i = 0; i < s->n_files; i++)
		for (size_t k = 0; k < s->files[i]->n_events; k++) {
			const struct pd_event *event = &s->files[i]->events[k];

			first = first ? first : event;
			if ((event->attr.flags ^ first->attr.flags) & PD_ATTR_SAMPLE_ID_ALL)
				return pd_error_set(
					err, "FORMAT", s->files[i]->path, PD_NO_OFFSET,
					"the attrs of %.60s and %.60s cannot be joined: only "
					"one has sample_id_all",
					first->name, event->name);
		}
	return true;
}

bool pw_merge_check(const struct pd_session *s, struct pd_error *err)
{
	struct pd_file *first = s->files[0];

	for (size_t i = 0; i < s->n_files; i++)
		if (!check_form(first, s->files[i], err) ||
		    !check_names(first, s->files[i], err))
			return false;
	if (!s->merged)
		return pd_error_set(
			err, "FORMAT", first->path, PD_NO_OFFSET,
			"the clocks of the recordings differ, and not all know the "
			"wall clock: %s; record with -k CLOCK_MONOTONIC, for example",
			s->clocks);
	return check_attrs(s, err);
}
