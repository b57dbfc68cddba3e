#include <stdlib.h>

#include "internal.h"
#include "perfdata/format/event.h"

static bool fail_memory(const struct pv_scrubber *s, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", s->file->path, PD_NO_OFFSET, "no memory to scrub");
}

/* Adds the events that are not described yet. */
static bool describe_events(struct pv_scrubber *s, struct pw_description *d,
			    struct pd_error *err)
{
	for (size_t i = d->n_events; i < s->file->n_events; i++) {
		const struct pd_event *event = &s->file->events[i];
		struct pd_event *added = pw_add_event(d, s->file, event, err);
		char *name;

		if (!added)
			return false;
		pv_attr(s, added->attr_bytes, added->attr_size);
		name = event->name ? strdup(pv_event_name(s, event).p) : NULL;
		if (event->name && !name)
			return fail_memory(s, err);
		free(added->name);
		added->name = name;
		added->group_name = NULL;
	}
	return true;
}

/* Describes a feature that the recording has. */
static bool describe_feature(struct pv_scrubber *s, struct pw_description *d,
			     const struct pd_feature_section *section, struct pd_error *err)
{
	uint8_t *bytes = malloc((size_t)section->at.size + 1), *scrubbed = NULL;
	size_t n;

	if (!bytes)
		return fail_memory(s, err);
	if (section->at.size && !pd_file_read_feature(s->file, section, bytes, NULL))
		s->unread[section->bit] = true;
	else
		scrubbed = pv_feature(s, section->bit, bytes, (size_t)section->at.size, &n);
	free(bytes);
	if (scrubbed)
		pw_replace_feature(d, section->bit, scrubbed, n);
	else
		pw_drop_feature(d, section->bit);
	return !pv_failed(s) || fail_memory(s, err);
}

/* Returns whether the writer makes a feature, or copies the numbers that it has. */
static bool is_writers(unsigned bit)
{
	return bit == PD_FEATURE_SAMPLE_TIME || bit == PD_FEATURE_COMPRESSED ||
	       bit == PD_FEATURE_DIR_FORMAT || bit == PD_FEATURE_AUXTRACE;
}

/* Describes the names of events of a recording without the feature for it, as old ones are. */
static bool describe_names(struct pv_scrubber *s, struct pw_description *d,
			   struct pd_error *err)
{
	uint8_t *bytes;
	size_t n;
	bool named = false;

	for (size_t i = 0; i < d->n_events; i++)
		named = named || !d->events[i].made_up;
	if (!named)
		return true;
	bytes = pw_make_event_desc(d->events, d->n_events, s->file->swap, &n, err);
	if (bytes)
		pw_replace_feature(d, PD_FEATURE_EVENT_DESC, bytes, n);
	return bytes != NULL;
}

bool pv_describe(struct pv_scrubber *s, struct pw_description *d, struct pd_error *err)
{
	d->drops_event_types = true;
	if (!describe_events(s, d, err))
		return false;
	for (unsigned bit = 0; bit < PD_FEATURES; bit++) {
		const struct pd_feature_section *section = pd_file_feature(s->file, bit);
		uint64_t size = section ? section->at.size + 1 : 0;

		if (is_writers(bit))
			continue;
		/* the new addresses of a bundle's code are known after the last record */
		if (bit == PD_FEATURE_BUNDLE && s->places && !s->has_described)
			size = 0;
		if (!size || section->at.size > PD_SECTION_MOST) {
			s->unread[bit] = size != 0;
			pw_drop_feature(d, bit);
		} else if (size != s->described[bit] && !describe_feature(s, d, section, err)) {
			return false;
		}
		s->described[bit] = size;
	}
	s->has_described = true;
	return pd_file_feature(s->file, PD_FEATURE_EVENT_DESC) || describe_names(s, d, err);
}
