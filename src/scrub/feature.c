/*
 * The header: its events and features. See the write_… functions, tools/perf/util/header.c, for
 * the forms of features.
 */
#include <stdlib.h>

#include "perfdata/format/attr.h"
#include "perfdata/format/event.h"
#include "internal.h"

#define ALIGN 64 /* bytes: strings of a header are padded to these */

/* A feature in the making. */
struct maker {
	struct pv_scrubber *s;
	struct pb_cursor c;
	struct pb_string out;
	enum pv_kind kind;
};

/* Puts a string as perf does: its padded size, the text, zeros. */
static void put_string(struct maker *m, struct pd_text text)
{
	size_t size = (text.n + ALIGN) & ~(size_t)(ALIGN - 1);

	pv_put_number(&m->out, size, 4, m->c.swap);
	pb_string_add(&m->out, text.p, text.n);
	pb_string_fill(&m->out, 0, size - text.n);
}

static uint64_t copy_number(struct maker *m, unsigned bytes)
{
	uint64_t value = bytes == 8 ? pb_take64(&m->c) : pb_take32(&m->c);

	pv_put_number(&m->out, value, bytes, m->c.swap);
	return value;
}

static void copy_bytes(struct maker *m, uint64_t n)
{
	const uint8_t *p = pb_take(&m->c, n);

	if (p)
		pb_string_add(&m->out, (const char *)p, (size_t)n);
}

/* Returns the end of a list's form, after its parenthesis. */
static const char *skip_form(const char *form)
{
	unsigned depth = 0;

	do {
		depth += *form == '(';
		depth -= *form == ')';
	} while (*form++ && depth);
	return form;
}

/*
 * Copies a feature of a form: 4 and 8 are integers of so many bytes, s is a string, a bitmap b
 * has the u64 number of its bits before it; *(…) is a list after its u32 count, #(…) after a
 * u64. Returns the end of the form.
 */
static const char *copy_form(struct maker *m, const char *form)
{
	while (*form && *form != ')' && !m->c.failed) {
		char what = *form++;
		uint64_t n;

		switch (what) {
		case '4':
		case '8':
			copy_number(m, (unsigned)(what - '0'));
			break;
		case 's':
			put_string(m, pv_meet_name(m->s, m->kind, pd_take_string(&m->c)));
			break;
		case 'b':
			n = copy_number(m, 8);
			copy_bytes(m, n / 64 * 8 + (n % 64 ? 8 : 0));
			break;
		default:
			n = copy_number(m, what == '#' ? 8 : 4);
			for (uint64_t i = 0; i < n && !m->c.failed; i++)
				copy_form(m, form + 1);
			form = skip_form(form);
		}
	}
	return form;
}

/* Copies processors by socket, die and core: pd_decode_cpu_topology() has the revisions. */
static void copy_topology(struct maker *m)
{
	uint64_t n = m->s->file->context.nr_cpus_avail;

	copy_form(m, "*(s)*(s)");
	if (n && pb_cursor_left(&m->c))
		copy_bytes(m, 8 * n);
	if (n && pb_cursor_left(&m->c)) {
		copy_form(m, "*(s)");
		copy_bytes(m, 4 * n);
	}
}

static void copy_domains(struct maker *m)
{
	enum {
		NAMED_SINCE = 17
	};
	uint64_t version = copy_number(m, 4), n = m->s->file->context.nr_cpus_online;

	copy_number(m, 4);
	for (uint64_t i = 0; (n ? i < n : pb_cursor_left(&m->c) > 0) && !m->c.failed; i++)
		copy_form(m, version >= NAMED_SINCE ? "4*(4sss)" : "4*(4ss)");
}

/* Names, ids and attrs of events: see write_event_desc. */
static void copy_event_desc(struct maker *m)
{
	uint64_t n = copy_number(m, 4), attr_size = copy_number(m, 4), n_ids;

	if (attr_size < PD_ATTR_MIN)
		pb_cursor_fail(&m->c, "an attr that is too short");
	for (uint64_t i = 0; i < n && !m->c.failed; i++) {
		size_t attr = m->out.n;
		struct pd_text name;

		copy_bytes(m, attr_size);
		if (!m->c.failed && !m->out.failed)
			pv_attr(m->s, (uint8_t *)m->out.p + attr, (size_t)attr_size);
		n_ids = copy_number(m, 4);
		name = pd_take_string(&m->c);
		if (i < m->s->file->n_events)
			name = pv_event_name(m->s, &m->s->file->events[i]);
		else
			name.n = 0;
		put_string(m, name);
		copy_bytes(m, n_ids * 8);
	}
}

static void copy_groups(struct maker *m)
{
	static const struct pd_text own = { "{anon_group}", 12 };
	bool keeps = m->s->rules.of[PV_ALIAS] == PV_KEEP;
	uint64_t n = copy_number(m, 4);

	for (uint64_t i = 0; i < n && !m->c.failed; i++) {
		struct pd_text name = pd_take_string(&m->c);

		if (name.n && (name.n != own.n || memcmp(name.p, own.p, own.n) != 0)) {
			m->s->found[PV_ALIAS].n++;
			name = keeps ? pv_show(&m->s->names, PV_ALIAS, name) : own;
		}
		put_string(m, name);
		copy_form(m, "44");
	}
}

static void copy_build_ids(struct maker *m)
{
	enum {
		HEAD = 8,
		NAME = PV_BUILD_ID_HEAD
	};

	while (pb_cursor_left(&m->c) >= HEAD) {
		uint16_t size = pb_load16(m->c.pos + 6, m->c.swap);
		const uint8_t *entry = size > NAME ? pb_take(&m->c, size) : NULL;
		uint8_t head[NAME];
		struct pd_text text;
		size_t padded;

		if (!entry) {
			pb_cursor_fail(&m->c, "an entry that is too short");
			return;
		}
		text = pv_meet_name(m->s, PV_BINARY, pd_text_in(entry + NAME, size - NAME));
		padded = (text.n + ALIGN) & ~(size_t)(ALIGN - 1);
		pv_build_id_entry(m->s, entry, pb_load16(entry + 4, m->c.swap), head);
		pv_store16(head + 6, (uint16_t)(NAME + padded), m->c.swap);
		pb_string_add(&m->out, (const char *)head, NAME);
		pb_string_add(&m->out, text.p, text.n);
		pb_string_fill(&m->out, 0, padded - text.n);
	}
}

/* Without the kernel's release, of a version of perf only its first two numbers stay. */
static void copy_version(struct maker *m)
{
	struct pd_text text = pd_take_string(&m->c);
	size_t n = 0;

	for (unsigned dots = 0; n < text.n; n++) {
		dots += text.p[n] == '.';
		if (dots > 1 || !strchr("0123456789.", text.p[n]))
			break;
	}
	if (m->s->rules.of[PV_KERNEL] != PV_KEEP)
		text.n = n;
	put_string(m, pv_meet_name(m->s, PV_BASICS, text));
}

/*
 * perf finds no features in a recording of the other byte order without this one: see
 * perf_file_header__read, tools/perf/util/header.c.
 */
static void copy_host(struct maker *m)
{
	put_string(m, pv_meet_name(m->s, PV_HOST, pd_take_string(&m->c)));
}

static void copy_tracing(struct maker *m)
{
	size_t n = pb_cursor_left(&m->c);

	if (!pv_tracing(m->s, m->c.pos, n, &m->out))
		pb_cursor_fail(&m->c, "tracing data that cannot be read");
}

static void copy_all(struct maker *m)
{
	size_t n = pb_cursor_left(&m->c);

	if (n > sizeof(uint32_t)) /* a list without entries is their number alone */
		pv_meet(m->s, m->kind, n);
	copy_bytes(m, n);
}

static void copy_bundle(struct maker *m)
{
	if (!pv_bundle(m->s, m->c.pos, pb_cursor_left(&m->c), &m->out))
		pb_cursor_fail(&m->c, "a bundle that cannot be read");
}

static const struct {
	enum pv_kind kind;
	const char *form; /* NULL: the function copies it */
	void (*copy)(struct maker *m);
} features[] = {
	[PD_FEATURE_TRACING_DATA] = { PV_EVENT, NULL, copy_tracing },
	[PD_FEATURE_BUILD_ID] = { PV_BUILDID, NULL, copy_build_ids },
	[PD_FEATURE_HOSTNAME] = { PV_HOST, NULL, copy_host },
	[PD_FEATURE_OSRELEASE] = { PV_KERNEL, "s", NULL },
	[PD_FEATURE_VERSION] = { PV_BASICS, NULL, copy_version },
	[PD_FEATURE_ARCH] = { PV_BASICS, "s", NULL },
	[PD_FEATURE_NRCPUS] = { PV_BASICS, "44", NULL },
	[PD_FEATURE_CPUDESC] = { PV_CPU, "s", NULL },
	[PD_FEATURE_CPUID] = { PV_CPU, "s", NULL },
	[10] = { PV_HARDWARE, "8", NULL },
	[11] = { PV_CMDLINE, "*(s)", NULL },
	[PD_FEATURE_EVENT_DESC] = { PV_EVENT, NULL, copy_event_desc },
	[PD_FEATURE_CPU_TOPOLOGY] = { PV_HARDWARE, NULL, copy_topology },
	[14] = { PV_HARDWARE, "*(488s)", NULL },
	[15] = { PV_BASICS, "", NULL },
	[PD_FEATURE_PMU_MAPPINGS] = { PV_HARDWARE, "*(4s)", NULL },
	[PD_FEATURE_GROUP_DESC] = { PV_EVENT, NULL, copy_groups },
	[PD_FEATURE_AUXTRACE] = { PV_AUX, NULL, copy_all },
	[19] = { PV_BASICS, "", NULL },
	[20] = { PV_HARDWARE, "4*(4444sss)", NULL },
	[PD_FEATURE_SAMPLE_TIME] = { PV_BASICS, "88", NULL },
	[22] = { PV_HARDWARE, "88#(88b)", NULL },
	[23] = { PV_BASICS, "8", NULL },
	[PD_FEATURE_DIR_FORMAT] = { PV_BASICS, "8", NULL },
	[25] = { PV_BPF, NULL, copy_all },
	[26] = { PV_BPF, NULL, copy_all },
	[PD_FEATURE_COMPRESSED] = { PV_BASICS, "44444", NULL },
	[28] = { PV_HARDWARE, "*(ss)", NULL },
	[PD_FEATURE_CLOCK_DATA] = { PV_CLOCK, "4488", NULL },
	[30] = { PV_HARDWARE, "*(ss)", NULL },
	[31] = { PV_HARDWARE, "*(*(ss)s)", NULL },
	[32] = { PV_HARDWARE, NULL, copy_domains },
	[PD_FEATURE_E_MACHINE] = { PV_BASICS, "44", NULL },
	[34] = { PV_HARDWARE, "4", NULL },
	[PD_FEATURE_BUNDLE] = { PV_BASICS, NULL, copy_bundle },
};

uint8_t *pv_feature(struct pv_scrubber *s, unsigned bit, const uint8_t *bytes, size_t n,
		    size_t *size)
{
	struct maker m = { .s = s };

	if (bit >= sizeof(features) / sizeof(features[0]) ||
	    (!features[bit].form && !features[bit].copy)) {
		pv_meet(s, PV_UNKNOWN, n);
		return NULL;
	}
	m.kind = features[bit].kind;
	if (s->rules.of[m.kind] == PV_DROP && bit != PD_FEATURE_HOSTNAME) {
		pv_meet(s, m.kind, n);
		return NULL;
	}
	if (bit == PD_FEATURE_TRACING_DATA && !s->has_formats)
		return NULL;
	pb_cursor_init(&m.c, bytes, n, s->file->swap);
	if (features[bit].form)
		copy_form(&m, features[bit].form);
	else
		features[bit].copy(&m);
	if (bit == PD_FEATURE_BUNDLE && !m.c.failed && !m.out.failed && !m.out.n)
		return NULL; /* nothing is left of it */
	if (!m.c.failed && pb_string_end(&m.out)) {
		*size = m.out.n;
		return (uint8_t *)m.out.p;
	}
	s->failed = s->failed || m.out.failed;
	s->unread[bit] = !m.out.failed;
	pb_string_deinit(&m.out);
	return NULL;
}

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
