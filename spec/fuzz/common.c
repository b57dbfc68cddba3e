#define _GNU_SOURCE
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "consume.h"
#include "analysis/health.h"
#include "analysis/stat.h"

#define MAX_PAYLOAD  (1u << 20)
#define SMALL_WINDOW 1000
#define MAX_FILES    2

void fuzz_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

/*
 * Replaces the source of random numbers in targets that are linked so: an input does the same
 * each time, and no system call is made.
 */
ssize_t __wrap_getrandom(void *buffer, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *buffer, size_t n, unsigned flags)
{
	uint64_t word = n;

	(void)flags;
	for (size_t i = 0; i < n; i += sizeof(word)) {
		word = (word ^ word >> 29) * UINT64_C(0xbf58476d1ce4e5b9) +
		       UINT64_C(0x9e3779b97f4a7c15);
		memcpy((char *)buffer + i, &word, n - i < sizeof(word) ? n - i : sizeof(word));
	}
	return (ssize_t)n;
}

int fuzz_file(const uint8_t *bytes, size_t n, char path[FUZZ_PATH])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", fd);
	return fd;
}

void fuzz_split(const uint8_t *bytes, size_t n, struct fuzz_part *parts, size_t n_parts)
{
	struct pb_cursor c;

	pb_cursor_init(&c, bytes, n, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	for (size_t i = 0; i + 1 < n_parts; i++)
		parts[i].n = pb_take32(&c);
	parts[n_parts - 1].n = SIZE_MAX;
	for (size_t i = 0; i < n_parts; i++) {
		size_t left = pb_cursor_left(&c);

		if (parts[i].n > left)
			parts[i].n = left;
		parts[i].bytes = pb_take(&c, parts[i].n);
	}
}

/* A pass over a session: its options, and the counts of what it met. */
struct pass {
	enum pd_order_kind kind;
	bool only_samples;
	uint64_t from, to;     /* ns: what is wanted; to 0: all */
	uint64_t since, until; /* ns: of which samples are counted as inside */
	/* reads all of each record; NULL: only the records themselves */
	struct fuzz_output *out;
	uint64_t records, samples, inside, bytes;
	uint64_t sum;	       /* of all records, whatever their order */
	uint64_t back;	       /* records before the time or the place of the one before them */
	struct pd_record last; /* that has a time */
	uint64_t last_time;
	size_t n_events[MAX_FILES]; /* of each file, when the pass began */
};

static void read_payload(const struct pd_session *session, const struct pd_record *rec)
{
	struct pd_section at = { 0, 0 };
	uint8_t *bytes;

	if (pd_has_payload(rec->type) && rec->chunk_offset == PD_NO_CHUNK)
		at = pd_record_payload(rec);
	if (!at.size || at.size > MAX_PAYLOAD)
		return;
	bytes = malloc(at.size);
	FUZZ_CHECK(bytes);
	pd_stream_read(pd_session_stream(session, rec), at, bytes, NULL);
	free(bytes);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	return (a ^ b) * UINT64_C(0x9e3779b97f4a7c15) ^ a >> 29;
}

/* Reads the time as time order sees it: perf's own records have none. */
static bool time_of(const struct pd_session *session, const struct pd_record *rec,
		    uint64_t *time)
{
	const struct pd_field_names *names = &session->files[0]->field_names;
	unsigned index = rec->layout->slot[pd_field_name_id(names, "time", strlen("time"))];
	struct pd_value v = { .type = PD_NIL };

	if (index && rec->type < PD_RECORD_USER)
		pd_record_get(rec, index, &v);
	*time = v.u;
	return v.type == PD_UINT && v.u && v.u != UINT64_MAX;
}

/*
 * Returns whether an event recorded times when the pass began. If none did, times in the bodies
 * of records order nothing, and neither do events that come later.
 */
static bool is_ordered(const struct pass *pass, const struct pd_session *session,
		       const struct pd_record *rec)
{
	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_file *file = session->files[i];

		/* recordings whose times cannot be compared follow one another */
		if (!session->merged && file->source != rec->source)
			continue;
		for (size_t k = 0; k < pass->n_events[i]; k++)
			if (file->events[k].shape.sample_type & PD_SAMPLE_TIME)
				return true;
	}
	return false;
}

/* Returns whether the record is out of order; records of equal times are in file order. */
static bool goes_back(const struct pass *pass, const struct pd_record *rec, uint64_t time)
{
	const struct pd_record *last = &pass->last;

	if (time != pass->last_time)
		return time < pass->last_time;
	if (rec->source != last->source || rec->stream != last->stream)
		return false;
	return rec->offset != last->offset ? rec->offset < last->offset :
					     rec->chunk_offset < last->chunk_offset;
}

static void count(struct pass *pass, const struct pd_session *session,
		  const struct pd_record *rec)
{
	uint64_t sum = mix(rec->offset, rec->chunk_offset), time, shift;

	for (uint32_t i = 0; i + 8 <= rec->size; i += 8)
		sum = mix(sum, pb_load64(rec->bytes + i, false));
	pass->records++;
	pass->bytes += rec->size;
	pass->samples += rec->type == PD_RECORD_SAMPLE;
	pass->sum += mix(sum, (uint64_t)rec->source << 16 | rec->stream);
	if (!time_of(session, rec, &time))
		return;
	pass->inside += rec->type == PD_RECORD_SAMPLE && time >= pass->since &&
			time < pass->until;
	shift = pd_session_stream(session, rec)->file->shift;
	/* the latest times are not told apart; UINT64_MAX is none */
	if (__builtin_add_overflow(time, shift, &time) || time == UINT64_MAX)
		time = UINT64_MAX - 1;
	if (pass->last_time && (session->merged || rec->source == pass->last.source))
		pass->back += goes_back(pass, rec, time) && is_ordered(pass, session, rec);
	pass->last = *rec;
	pass->last_time = time;
}

static void check_record(const struct pd_session *session, const struct pd_record *rec)
{
	size_t source = rec->source ? rec->source - 1u : 0;

	FUZZ_CHECK(source < session->n_files);
	FUZZ_CHECK(rec->stream < session->files[source]->n_streams);
	FUZZ_CHECK(!rec->event || rec->event->recorded_with == &session->files[source]->ids);
	FUZZ_CHECK(!rec->event || rec->event->number < session->n_events);
}

/* One pass. False: it could not be begun or went wrong. */
static bool walk(struct pd_session *session, struct pass *pass)
{
	struct pd_walk walk;
	struct pd_record rec;
	struct pd_error err;
	int got;

	if (!pd_walk_init(&walk, session, pass->kind, &err))
		return false;
	for (size_t i = 0; i < session->n_files; i++)
		pass->n_events[i] = session->files[i]->n_events;
	if (pass->only_samples) {
		walk.options.types = (struct pd_types){ 0 };
		pd_types_add(&walk.options.types, PD_RECORD_SAMPLE);
	}
	if (pass->to) {
		walk.options.from = pass->from;
		walk.options.to = pass->to;
	}
	while ((got = pd_walk_next(&walk, &rec, &err)) > 0) {
		check_record(session, &rec);
		count(pass, session, &rec);
		if (pass->out) {
			fuzz_record(pass->out, &rec);
			read_payload(session, &rec);
		}
	}
	pd_walk_deinit(&walk);
	if (pass->kind == PD_ORDER_TIME && !walk.late)
		FUZZ_CHECK(!pass->back);
	return got == 0;
}

static void read_features(struct pd_file *file)
{
	for (size_t i = 0; i < file->n_features; i++) {
		const struct pd_feature_section *section = &file->features[i];
		const struct pd_feature *feature = pd_feature_by_bit(section->bit);
		struct pb_cursor c;
		uint8_t *bytes = pd_file_feature_bytes(file, section->bit, &c);

		if (bytes && feature)
			fuzz_feature(feature, bytes, section->at.size, &file->context);
		free(bytes);
	}
}

static const struct pd_file *file_of(const struct pd_session *session,
				     const struct pd_event *event)
{
	size_t i = 0;

	while (event->recorded_with != &session->files[i]->ids)
		i++;
	return session->files[i];
}

static void read_events(const struct pd_session *session)
{
	struct pd_value v;

	for (size_t i = 0; i < session->n_events; i++) {
		const struct pd_event *event = session->events[i];
		const struct pd_file *file = file_of(session, event);

		FUZZ_CHECK(event->name && event->number == i);
		FUZZ_CHECK(event->leader < file->n_events);
		FUZZ_CHECK(event->leader + event->n_members <= file->n_events);
		for (size_t k = 0; k < event->n_ids; k++)
			FUZZ_CHECK(pd_event_by_id(event->recorded_with, event->ids[k]));
		for (unsigned m = 0; pd_attr_members[m].name; m++) {
			v.type = PD_NIL;
			pd_attr_member(&event->attr, m, &v);
		}
	}
}

/*
 * Counts the damage of records. That of counter values is noted by the passes that form their
 * differences.
 */
static size_t damages(const struct pd_session *session)
{
	static const char values[] = "counter values";
	size_t n = 0;

	for (size_t i = 0; i < session->n_files; i++) {
		const struct pd_file *file = session->files[i];

		for (size_t k = 0; k < file->n_damage; k++)
			n += strncmp(file->damage[k].reason, values, sizeof(values) - 1) != 0;
	}
	return n;
}

static void check_stat(struct pd_session *session, const struct pass *pass)
{
	struct pd_stat stat;
	uint64_t records = 0, bytes = 0;

	FUZZ_CHECK(pd_stat_collect(&stat, session, NULL, NULL));
	FUZZ_CHECK(stat.types[PD_RECORD_SAMPLE].records == pass->samples);
	for (size_t i = 0; i < PD_RECORD_TYPES; i++) {
		records += stat.types[i].records;
		bytes += stat.types[i].bytes;
	}
	for (size_t i = 0; i < stat.n_unknown; i++) {
		records += stat.unknown[i].count.records;
		bytes += stat.unknown[i].count.bytes;
	}
	FUZZ_CHECK(records == pass->records && bytes == pass->bytes);
	pd_stat_deinit(&stat);
}

static void check_health(struct pd_session *session, const struct pass *pass, unsigned threads)
{
	struct pd_health health;
	uint64_t samples = 0;

	FUZZ_CHECK(pd_health_collect(&health, session, threads, NULL, NULL));
	FUZZ_CHECK(health.n_events == session->n_events);
	for (size_t i = 0; i <= health.n_events; i++)
		samples += health.events[i].samples;
	FUZZ_CHECK(samples == pass->samples);
	FUZZ_CHECK(health.types[PD_RECORD_SAMPLE] == pass->samples);
	pd_health_deinit(&health);
}

/* In the order of time, all and parts, with little room to wait. */
static void read_ordered(struct pd_session *session, const struct pass *first)
{
	struct pass pass = { .kind = PD_ORDER_TIME };

	session->window = SMALL_WINDOW;
	FUZZ_CHECK(walk(session, &pass));
	FUZZ_CHECK(pass.records == first->records && pass.sum == first->sum);
	session->window = PD_WINDOW;
	pass = (struct pass){
		.kind = PD_ORDER_TIME,
		.only_samples = true,
		.from = first->since,
		.to = first->until,
		.since = first->since,
		.until = first->until,
	};
	FUZZ_CHECK(walk(session, &pass));
	FUZZ_CHECK(pass.records <= first->samples && pass.inside == first->inside);
}

/* However a session is passed over, its records are the same, and so is its damage. */
static void read_again(struct pd_session *session, const struct pass *first)
{
	struct pd_time_range times;
	size_t n = damages(session);
	struct pass pass;

	FUZZ_CHECK(pd_session_times(session, &times, NULL));
	pass = (struct pass){ .kind = PD_ORDER_TIME };
	if (times.known && times.first < times.last) {
		pass.since = times.first + (times.last - times.first) / 4;
		pass.until = times.last - (times.last - times.first) / 4;
	}
	FUZZ_CHECK(walk(session, &pass));
	FUZZ_CHECK(pass.records == first->records && pass.sum == first->sum);
	read_ordered(session, &pass);
	pass = (struct pass){ .kind = PD_ORDER_FILE, .only_samples = true };
	FUZZ_CHECK(walk(session, &pass));
	FUZZ_CHECK(pass.records == first->samples);
	check_stat(session, first);
	check_health(session, first, 1);
	check_health(session, first, 3);
	FUZZ_CHECK(damages(session) == n);
}

static bool is_stream(const struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++)
		if (session->files[i]->input.stream)
			return true;
	return false;
}

static void describe(struct pd_session *session)
{
	for (size_t i = 0; i < session->n_files; i++)
		read_features(session->files[i]);
	read_events(session);
}

static bool open_session(struct pd_session **session, const char *const *paths, size_t n)
{
	struct pd_error err;

	if (pd_session_open(session, paths, n, n > 1, PD_PERF_NEWEST, NULL, &err))
		return true;
	FUZZ_CHECK(err.code && err.message[0]);
	return false;
}

static void close_session(struct pd_session *session)
{
	pd_session_close(session);
	pd_session_destroy(session);
}

/* All of each record, in one pass. */
static struct pass read_records(struct pd_session *session, enum pd_order_kind kind)
{
	struct fuzz_output out;
	struct pass pass = { .kind = kind, .out = &out };

	fuzz_output_init(&out);
	FUZZ_CHECK(walk(session, &pass));
	fuzz_output_deinit(&out);
	return pass;
}

void fuzz_read(const char *const *paths, size_t n)
{
	struct pd_session *session;
	struct pass pass;
	size_t known;

	if (!open_session(&session, paths, n))
		return;
	known = session->n_events;
	pass = read_records(session, PD_ORDER_FILE);
	/* what events there are decides what is damage */
	if (!is_stream(session) && session->n_events == known)
		read_again(session, &pass);
	describe(session);
	close_session(session);
}

void fuzz_read_stream(const char *path, enum pd_order_kind kind, bool small_window)
{
	struct pd_session *session;

	if (!open_session(&session, &path, 1))
		return;
	if (small_window)
		session->window = SMALL_WINDOW;
	read_records(session, kind);
	describe(session);
	close_session(session);
}
