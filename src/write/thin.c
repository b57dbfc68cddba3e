#include "thin.h"

#include <stdio.h>
#include <stdlib.h>

#include "edit.h"
#include "perfdata/format/format.h"

#define PERIOD_AT 16 /* offset of sample_period in an attr */

/* Returns x × y, or the greatest number if that is less. */
static uint64_t multiply(uint64_t x, uint64_t y)
{
	uint64_t product;

	return __builtin_mul_overflow(x, y, &product) ? UINT64_MAX : product;
}

/* Adds to the command line what was done. The form is that of write_cmdline in perf. */
static bool describe_command(struct pw_thinning *t, struct pd_error *err)
{
	const char *const words[] = { "|", "perflua", "cut", "--every" };
	bool swap = t->file->swap;
	struct pb_string s = { 0 };
	struct pb_cursor c;
	uint8_t *old = pd_file_feature_bytes(t->file, PD_FEATURE_CMDLINE, &c);
	uint32_t n = old ? pb_take32(&c) : 0;
	size_t left = old ? pb_cursor_left(&c) : 0, size;
	char every[24];
	uint8_t *bytes;

	if (n == left && n) { /* hiperf's is a single text */
		free(old);
		return true;
	}
	pw_add32(&s, n + 5, swap);
	if (left)
		pb_string_add(&s, (const char *)c.pos, left);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		pw_add_text(&s, words[i], swap);
	snprintf(every, sizeof(every), "%llu", (unsigned long long)t->every);
	pw_add_text(&s, every, swap);
	free(old);
	bytes = pw_take_bytes(&s, &size, err);
	if (bytes)
		pw_replace_feature(&t->description, PD_FEATURE_CMDLINE, bytes, size);
	return bytes != NULL;
}

static bool has_own_periods(const struct pd_event *event)
{
	return event->attr.sample_type & PD_SAMPLE_PERIOD;
}

/* Scales the periods of attrs whose samples carry none. */
static bool scale_attrs(struct pw_thinning *t, struct pd_error *err)
{
	struct pw_description *d = &t->description;
	size_t size;
	uint8_t *bytes;

	if (!pw_add_events(d, t->file, err))
		return false;
	for (size_t i = 0; i < d->n_events; i++) {
		struct pd_event *event = &d->events[i];

		if (has_own_periods(event))
			continue;
		if (event->attr.flags & PD_ATTR_FREQ)
			return pd_error_set(err, "FORMAT", t->file->path, PD_NO_OFFSET,
					    "nothing says what the samples of %.60s stand for: "
					    "they are of a frequency, and have no periods",
					    event->name);
		event->attr.sample_period = multiply(event->attr.sample_period, t->every);
		pw_store64(event->attr_bytes + PERIOD_AT, event->attr.sample_period,
			   t->file->swap);
	}
	bytes = pw_make_event_desc(d->events, d->n_events, t->file->swap, &size, err);
	if (bytes)
		pw_replace_feature(d, PD_FEATURE_EVENT_DESC, bytes, size);
	return bytes != NULL;
}

bool pw_thinning_init(struct pw_thinning *t, struct pd_file *file, uint64_t every,
		      struct pd_error *err)
{
	bool ok = true;

	*t = (struct pw_thinning){ .file = file, .every = every, .n_events = file->n_events };
	pw_description_init(&t->description);
	t->met = calloc(t->n_events + 1, sizeof(*t->met));
	t->bytes = malloc(UINT16_MAX);
	if (!t->met || !t->bytes)
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET,
				    "no memory to write");
	for (size_t i = 0; i < file->n_events; i++)
		ok = ok && has_own_periods(&file->events[i]);
	return (ok || scale_attrs(t, err)) && describe_command(t, err);
}

void pw_thinning_deinit(struct pw_thinning *t)
{
	pw_description_deinit(&t->description);
	free(t->met);
	free(t->bytes);
	t->met = NULL;
	t->bytes = NULL;
}

bool pw_thin(struct pw_thinning *t, struct pd_record *rec)
{
	const struct pd_event *event = rec->event;
	size_t i = event && event->index < t->n_events ? event->index : t->n_events;
	uint32_t at = rec->layout->parts[PD_PART_PERIOD];

	/* the middle one, so that an event of few samples is not always counted too high */
	if (t->met[i]++ % t->every != (t->every - 1) / 2)
		return false;
	if (!at || at + 8 > rec->size)
		return true;
	memcpy(t->bytes, rec->bytes, rec->size);
	pw_store64(t->bytes + at, multiply(pd_rec64(rec, at), t->every), rec->layout->swap);
	rec->bytes = t->bytes;
	return true;
}

bool pw_thinning_finish(const struct pw_thinning *t, struct pd_error *err)
{
	const struct pd_file *file = t->file;
	bool ok = file->n_events == t->n_events || !t->description.n_events;

	for (size_t i = t->n_events; i < file->n_events; i++)
		ok = ok && has_own_periods(&file->events[i]);
	return ok ||
	       pd_error_set(err, "FORMAT", file->path, PD_NO_OFFSET,
			    "found an event that comes after records, whose period cannot "
			    "be scaled: convert it to a file first");
}
