#include "merge.h"

#include <stdlib.h>

#include "perfdata/format/format.h"
#include "selection.h"

/*
 * Checks that recordings are of one system: perf names binaries and threads of one kernel, and
 * reads records of one byte order.
 */

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

/* Returns false with *err if the recordings are not of one system. */
static bool check_systems(const struct pd_session *s, struct pd_error *err)
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

void pw_met_init(struct pw_met *met)
{
	*met = (struct pw_met){ 0 };
	pb_secret_make(&met->secrets[0]);
	pb_secret_make(&met->secrets[1]);
}

void pw_met_deinit(struct pw_met *met)
{
	pb_id_map_deinit(&met->parts);
}

uint32_t pw_meet(struct pw_met *met, const void *bytes, size_t n, uint32_t number)
{
	uint64_t hash = (uint64_t)pb_hash_bytes(&met->secrets[0], bytes, n) << 32 |
			pb_hash_bytes(&met->secrets[1], bytes, n);
	uint32_t first = pb_id_map_find(&met->parts, hash);

	if (first == UINT32_MAX)
		pb_id_map_add(&met->parts, hash, number); /* without memory it is met again */
	return first;
}

static bool fail_memory(const struct pw_merge *m, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", m->session->paths[0], PD_NO_OFFSET,
			    "no memory to join it");
}

bool pw_merge_init(struct pw_merge *m, struct pd_session *session, struct pd_error *err)
{
	*m = (struct pw_merge){ .session = session, .changed = UINT64_MAX };
	pw_description_init(&m->description);
	pw_met_init(&m->now);
	pw_met_init(&m->lasting);
	m->parts = calloc(session->n_files, sizeof(*m->parts));
	m->last_bytes = malloc(PW_EDITED_MOST);
	m->bytes = malloc(PW_EDITED_MOST);
	if (!m->parts || !m->last_bytes || !m->bytes)
		return fail_memory(m, err);
	for (size_t i = 0; i < session->n_files; i++) {
		struct pw_part *part = &m->parts[i];

		part->file = session->files[i];
		part->edits.shift = part->file->shift;
		pd_timestamp_locator_init(&part->locator, part->file);
	}
	return check_systems(session, err) && pw_merge_events(m, err) &&
	       pw_merge_features(m, err);
}

void pw_merge_deinit(struct pw_merge *m)
{
	for (size_t i = 0; m->parts && i < m->session->n_files; i++) {
		struct pw_part *part = &m->parts[i];

		free(part->joined);
		free(part->edits.new_ids);
		pb_id_map_deinit(&part->edits.renumbered);
		pb_string_deinit(&part->waiting);
	}
	free(m->parts);
	m->parts = NULL;
	free(m->last_bytes);
	free(m->bytes);
	m->last_bytes = m->bytes = NULL;
	pb_id_map_deinit(&m->ids);
	pw_met_deinit(&m->now);
	pw_met_deinit(&m->lasting);
	pw_description_deinit(&m->description);
}

/* Returns whether a record that has no time says something that is so at any time. */
static bool is_lasting(const struct pd_record *rec)
{
	switch (rec->type) {
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2: /* of the kernel */
		return rec->size >= 12 && pd_rec32(rec, 8) == UINT32_MAX;
	case PD_RECORD_KSYMBOL:
	case PD_RECORD_BPF_EVENT:
		return true;
	default:
		return rec->type >= PD_RECORD_USER;
	}
}

/*
 * Returns whether another part has the same record, whose bytes are *rec's, for the same time.
 * Most records are alone at their time, and are not hashed.
 */
static bool is_double(struct pw_merge *m, const struct pd_record *rec, uint16_t part,
		      uint64_t time)
{
	uint32_t first;

	if (time != m->time) {
		if (m->now.parts.n) {
			pw_met_deinit(&m->now);
			m->now.parts = (struct pb_id_map){ 0 };
		}
		m->time = time;
		m->last = *rec;
		m->last_part = part;
		memcpy(m->last_bytes, rec->bytes, rec->size);
		return false;
	}
	if (m->last.size) {
		pw_meet(&m->now, m->last_bytes, m->last.size, m->last_part);
		m->last.size = 0;
	}
	first = pw_meet(&m->now, rec->bytes, rec->size, part);
	return first != UINT32_MAX && first != part;
}

/*
 * Returns whether an earlier part has a record. `at` (ns) is the time for which it counts, 0 if
 * it has none; `edited` is the record as it is written. What the whole began with is so until a
 * record tells of a change.
 */
static bool was_met(struct pw_merge *m, const struct pd_record *rec,
		    const struct pd_record *edited, uint16_t part, bool has_time, uint64_t at)
{
	uint32_t first;

	if (has_time || !(is_lasting(rec) || (at && at <= m->changed)))
		return at && is_double(m, edited, part, at);
	if (rec->type >= PD_RECORD_USER) /* else it may differ by the time that it got */
		rec = edited;
	first = pw_meet(&m->lasting, rec->bytes, rec->size, part);
	return first != UINT32_MAX && first != part;
}

/*
 * Writes a record of a part. Its time in the whole is `time` (ns), or else 0, and then it
 * counts from the time `since` on, which is 0 if that is not known.
 */
static bool write_record(struct pw_merge *m, struct pw_writer *w, struct pw_part *part,
			 const struct pd_record *rec, uint64_t time, uint64_t since,
			 struct pd_error *err)
{
	const struct pw_edits *edits = &part->edits;
	struct pd_record edited = *rec;
	uint64_t change = time;

	if (edits->shift || edits->begin || edits->renumbered.n || edits->adds_id) {
		edited.size = pw_edit(edits, rec, m->bytes);
		edited.bytes = m->bytes;
		if (!edited.size)
			return pd_error_set(
				err, "FORMAT", part->file->path, rec->offset,
				"found a record of %u bytes, which has no room for the "
				"id that tells its event from those of the others",
				rec->size);
	}
	if (was_met(m, rec, &edited, (uint16_t)(part - m->parts), time != 0,
		    time ? time : since)) {
		m->doubles++;
		return true;
	}
	/* what a part restates may differ, because it changed while nobody recorded */
	if (!time && edits->begin && !is_lasting(rec))
		change = since;
	if (change && change < m->changed && pw_tells_of_system(rec))
		m->changed = change;
	return pw_write_timed(w, &edited, time, err);
}

/* Writes the records of a part that waited for its first time. */
static bool write_waiting(struct pw_merge *m, struct pw_writer *w, struct pw_part *part,
			  struct pd_error *err)
{
	const char *p = part->waiting.p, *end;
	bool ok = true;

	if (!part->waiting.n)
		return true;
	end = p + part->waiting.n;
	w->keeps_round = true; /* their time is before that of records already written */
	while (ok && p < end) {
		struct pd_record rec;

		memcpy(&rec, p, sizeof(rec));
		rec.bytes = (const uint8_t *)p + sizeof(rec);
		p += sizeof(rec) + rec.size;
		ok = write_record(m, w, part, &rec, 0, part->first, err);
	}
	w->keeps_round = false;
	pb_string_deinit(&part->waiting);
	part->waiting = (struct pb_string){ 0 };
	return ok;
}

/* Begins a part at the time of its first record. */
static bool begin_part(struct pw_merge *m, struct pw_writer *w, struct pw_part *part,
		       uint64_t time, struct pd_error *err)
{
	part->began = true;
	part->first = time;
	if (!m->began)
		m->first = time;
	m->began = true;
	if (time > m->first)
		part->edits.begin = time - 1; /* before all that another part has of `time` */
	return write_waiting(m, w, part, err);
}

/* Keeps a copy of a record until its part begins. */
static bool make_wait(const struct pw_merge *m, struct pw_part *part,
		      const struct pd_record *rec, struct pd_error *err)
{
	pb_string_add(&part->waiting, (const char *)rec, sizeof(*rec));
	pb_string_add(&part->waiting, (const char *)rec->bytes, rec->size);
	return !part->waiting.failed || fail_memory(m, err);
}

/* Returns whether the whole has none of a part's records of a type, or has its own. */
static bool is_left_out(struct pw_merge *m, const struct pw_part *part, uint32_t type)
{
	bool is_first;

	switch (type) {
	case PD_RECORD_THREAD_MAP:
	case PD_RECORD_CPU_MAP:
	case PD_RECORD_FINISHED_INIT:
		is_first = !pd_types_has(&m->written, type);
		pd_types_add(&m->written, type);
		return !is_first;
	case PD_RECORD_FINISHED_ROUND:
		return true;
	case PD_RECORD_TIME_CONV:
		return part->edits.shift != 0; /* it is about times as they were */
	case PD_RECORD_HEADER_ATTR:
	case PD_RECORD_EVENT_TYPE:
	case PD_RECORD_TRACING_DATA:
	case PD_RECORD_HEADER_FEATURE:
		return true;
	case PD_RECORD_BUILD_ID:
		return part->file->pipe;
	default:
		return false;
	}
}

bool pw_merge_write(struct pw_merge *m, struct pw_writer *w, struct pd_record *rec,
		    struct pd_error *err)
{
	struct pw_part *part = &m->parts[rec->source ? rec->source - 1 : 0];
	uint64_t time = 0;

	if (part->file->n_events != part->n_events)
		return pd_error_set(
			err, "FORMAT", part->file->path, rec->offset,
			"found an event that comes after records: convert it to a file "
			"first");
	if (is_left_out(m, part, rec->type))
		return true;
	if (pd_timestamp_of(&part->locator, rec, &time)) {
		time += part->edits.shift;
		if (!part->began && !begin_part(m, w, part, time, err))
			return false;
	} else if (!part->began && part->locator.any && rec->type != PD_RECORD_SAMPLE &&
		   !pd_payload_size(rec)) {
		return make_wait(m, part, rec, err);
	}
	return write_record(m, w, part, rec, time, 0, err);
}

bool pw_merge_finish(struct pw_merge *m, struct pw_writer *w, struct pd_error *err)
{
	for (size_t i = 0; i < m->session->n_files; i++)
		if (!write_waiting(m, w, &m->parts[i], err))
			return false;
	return w->how.pipe || pw_merge_features(m, err);
}
