/*
 * An open recording: its description (header, sections, events, features), the streams of its
 * records, and the damage that was found.
 *
 * Readers have their own state, so several can walk one file at the same time. After
 * pd_file_open() the list of damage grows, and a pass adds metadata that comes late: events,
 * which never move, features, and units of events.
 */
#ifndef PERFLUA_PERFDATA_FILE_H
#define PERFLUA_PERFDATA_FILE_H

#include <pthread.h>
#include <stdatomic.h>

#include "perfdata/format/event.h"
#include "perfdata/format/feature.h"
#include "perfdata/input/input.h"
#include "perfdata/format/layout.h"
#include "perfdata/format/perf_text.h"

struct pd_section {
	uint64_t offset, size;
};

/*
 * Consecutive records: the data of the file itself, or in a directory one of the files beside
 * it, which have no header.
 */
struct pd_stream {
	struct pd_file *file;
	struct pd_input *input;
	struct pd_section data; /* section of the input that holds the records */
	struct pd_index *index; /* time index, made by the module order; NULL: none yet */
	void (*destroy_index)(struct pd_index *index);
	uint16_t number; /* index in file->streams */
	/* the end of the records is not recorded, so the last may be cut off */
	bool open_end;
};

struct pd_time_range {
	bool known;
	uint64_t first, last; /* ns */
};

/* Widens the range to include `first` and `last`. */
static inline void pd_time_range_widen(struct pd_time_range *range, uint64_t first,
				       uint64_t last)
{
	if (!range->known || first < range->first)
		range->first = first;
	if (!range->known || last > range->last)
		range->last = last;
	range->known = true;
}

struct pd_feature_section {
	unsigned bit;
	struct pd_section at;
	/* [capacity]: in pipe mode a copy from the feature's record; else NULL */
	uint8_t *bytes;
	size_t capacity;
	/* of a feature that several records add to: offset after the last of them; else 0 */
	uint64_t grown;
};

struct pd_damage {
	const char *path; /* the damaged file's, owned by its input */
	uint64_t offset, size;
	char reason[160];
};

/* kinds of sample_id trailers: six bits of sample_type, and sample_id_all */
#define PD_TRAILER_KINDS 128

struct pd_file {
	char *path;	       /* path of the file with the header */
	struct pd_input input; /* the file with the header */
	bool directory;	       /* it is the file "data" of a directory */
	struct pd_input *more; /* the other files of a directory */
	size_t n_more, more_room;
	struct pd_stream *streams; /* the first is that of the file with the header */
	size_t n_streams;
	/* number of the recording in its session, from 1 on; 0: it is alone */
	uint16_t source;
	unsigned perf;	  /* version of perf whose texts are printed: PD_PERF(…) */
	unsigned text;	  /* enum pd_perf_text: the differences that version has */
	unsigned version; /* 1: PERFFILE, 2: PERFILE2 */
	bool big, swap;	  /* big-endian; not the host's byte order */
	bool pipe;	  /* pipe mode: records take the place of sections */
	bool simpleperf;  /* Android's simpleperf wrote it: its own records have 32-bit sizes */
	/* the end of the records is not recorded, so the last may be cut off */
	bool open_end;
	atomic_bool complete;	/* false once a part is known to be missing */
	bool unfinished;	/* the recorder never wrote data.size */
	struct pd_section data; /* section of the records */
	struct pd_section event_types;
	struct pd_feature_section *features; /* in ascending order of bits */
	size_t n_features, features_room;
	struct pd_feature_context context;
	const struct pd_arch *arch;
	const struct pd_abi *abi;   /* numbers of system calls and errors; NULL: unknown */
	struct pd_tracing *tracing; /* NULL: the recording has none */
	struct pd_event *events;
	/* it grows only while the file is opened, so that events do not move */
	size_t n_events, events_capacity;
	struct pd_session *session; /* the session it belongs to; NULL while it is opened */
	struct pd_events_by_id ids;
	struct pd_field_names field_names;
	struct pd_shape bare;			/* for records of a file without events */
	const struct pd_layout *unknown_sample; /* for samples whose event is not known */
	const struct pd_layout *const *bare_layouts;
	const struct pd_layout **trailers[PD_TRAILER_KINDS]; /* [PD_RECORD_TYPES] each */
	/* of samples: from the header, or from a pass that pd_session_times() made */
	struct pd_time_range times;
	struct pd_clock clock; /* clock of the times */
	struct pd_sockets sockets;
	/* ns to add to its times for the order of several recordings: session.h */
	uint64_t shift;
	pthread_mutex_t damage_lock; /* for adding damage, from any thread */
	struct pd_damage *damage;    /* entries never move */
	atomic_size_t n_damage;
};

/*
 * Closes the descriptors. The description stays valid, for the records that point into it,
 * until pd_file_destroy(), which frees it.
 */
void pd_file_close(struct pd_file *file);
void pd_file_destroy(struct pd_file *file);

/* Returns the section of a feature, or NULL if the file has none. */
const struct pd_feature_section *pd_file_feature(const struct pd_file *file, unsigned bit);

/*
 * Returns whether a section lies in the stream's data. The size of a pipe's data is not known,
 * so it is true there.
 */
static inline bool pd_stream_holds(const struct pd_stream *stream, struct pd_section at)
{
	uint64_t end = stream->data.offset + stream->data.size;

	return at.offset <= end && at.size <= end - at.offset;
}

/* Bytes of a section that is read into memory, at most: a sparse file could claim any size. */
#define PD_SECTION_MOST (64u << 20)

/* Allocates memory for the bytes of a section, at most PD_SECTION_MOST; the caller frees it. */
void *pd_section_alloc(struct pd_section at);

/*
 * Read a section of the file, or of a stream's data, into `bytes`, which must have room for it.
 * Return false with *err if the bytes are not all there or the input is a one-shot stream.
 */
bool pd_file_read(struct pd_file *file, struct pd_section at, void *bytes,
		  struct pd_error *err);
bool pd_stream_read(struct pd_stream *stream, struct pd_section at, void *bytes,
		    struct pd_error *err);

/*
 * Returns whether a feature's section is small enough to be read into memory; if not, notes
 * that as damage.
 */
bool pd_file_feature_fits(struct pd_file *file, const struct pd_feature_section *section);

/* Reads the section->at.size bytes of a feature. Returns false with *err. */
bool pd_file_read_feature(struct pd_file *file, const struct pd_feature_section *section,
			  void *bytes, struct pd_error *err);

/*
 * Returns the bytes of a feature, which the caller frees, and initialises a cursor over them.
 * Returns NULL if the feature is absent or cannot be read.
 */
uint8_t *pd_file_feature_bytes(struct pd_file *file, unsigned bit, struct pb_cursor *c);

/*
 * Returns the text of a feature that consists of one, which the caller frees; NULL if it is
 * absent or empty, or without memory.
 */
char *pd_file_feature_text(struct pd_file *file, unsigned bit);

/*
 * Returns whether a feature has the same bytes in two recordings, or is in neither. One that
 * cannot be read is taken for another.
 */
bool pd_file_feature_equal(struct pd_file *a, struct pd_file *b, unsigned bit);

/* Makes `events` the array of the file's events, for the table of ids as well. */
static inline void pd_file_set_events(struct pd_file *file, struct pd_event *events)
{
	file->events = events;
	file->ids.list = events;
}

/*
 * Appends an event; the caller sets its attr and ids. Returns NULL without memory or capacity.
 * While the file is opened this may move the other events.
 */
struct pd_event *pd_file_add_event(struct pd_file *file);

/*
 * Note damage of the file or of one of its streams, each offset once. Return true if it is new.
 * May be called from any thread.
 */
bool pd_file_damaged(struct pd_file *file, uint64_t offset, uint64_t size, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));
bool pd_stream_damaged(const struct pd_stream *stream, uint64_t offset, uint64_t size,
		       const char *format, ...) __attribute__((format(printf, 4, 5)));

struct pd_record;

/*
 * Takes over a record that comes after the prologue and describes the recording: adds an event
 * with its layouts, or a feature, which is applied to the events. Returns false without memory.
 */
bool pd_prologue_late(struct pd_file *file, const struct pd_record *rec);

/*
 * Returns whether pd_prologue_late() would change nothing, because all that the record says is
 * known.
 */
bool pd_prologue_knows(const struct pd_file *file, const struct pd_record *rec);

#endif
