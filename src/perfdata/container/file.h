/*
 * An open recording: what its envelope says (header, sections, events, features), where its
 * records lie, and what was found wrong with it. Readers have their own state, so several walk
 * one file side by side. After pd_file_open the damage list changes, and what a pass finds that
 * describes the recording and comes late is added: events, which stay where they are, features,
 * units.
 */
#ifndef PERFLUA_PERFDATA_FILE_H
#define PERFLUA_PERFDATA_FILE_H

#include <pthread.h>
#include <stdatomic.h>

#include "perfdata/format/event.h"
#include "perfdata/format/feature.h"
#include "perfdata/input/input.h"
#include "perfdata/format/field_names.h"
#include "perfdata/format/perf_text.h"

struct pd_section {
	uint64_t offset, size;
};

/*
 * Where records lie in a row: in the file itself, and in a directory in each of the files
 * beside it, which have no header.
 */
struct pd_stream {
	struct pd_file *file;
	struct pd_input *input;
	struct pd_section data; /* within the input */
	struct pd_index *index; /* by time, made by the module order; NULL: there is none */
	void (*destroy_index)(struct pd_index *index);
	uint16_t number; /* its place in file->streams */
	bool open_end;	 /* nothing says where the records end: they may have been cut off */
};

struct pd_time_range {
	bool known;
	uint64_t first, last; /* ns */
};

/* Makes it hold these times, too. */
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
	uint8_t *bytes; /* of a pipe-mode recording: kept from its record; else NULL */
	uint64_t grown; /* of one that each record adds to: the end of the last one; else 0 */
};

struct pd_damage {
	const char *path; /* of the file it is in: owned by that input */
	uint64_t offset, size;
	char reason[160];
};

#define PD_TRAILER_KINDS 128 /* six bits of sample_type and sample_id_all */

struct pd_file {
	char *path;	       /* of the file with the header */
	struct pd_input input; /* that file */
	bool directory;	       /* it is the file "data" of one */
	struct pd_input *more; /* the other files of the directory */
	size_t n_more;
	struct pd_stream *streams; /* the first is the file's own */
	size_t n_streams;
	/* its number among several that are read as one, from 1 on; 0: it is alone */
	uint16_t source;
	unsigned text;	  /* enum pd_perf_text */
	unsigned version; /* 1: PERFFILE, 2: PERFILE2 */
	bool big, swap;	  /* big-endian; not this host's byte order */
	bool pipe;	  /* the records describe themselves: no sections */
	bool simpleperf;  /* Android's wrote it: its own records have sizes of 32 bits */
	bool open_end;	  /* nothing says where the records end: they may have been cut off */
	atomic_bool complete;	/* false once something is known to be missing */
	bool unfinished;	/* the recorder never wrote data.size */
	struct pd_section data; /* within the file */
	struct pd_section event_types;
	struct pd_feature_section *features; /* ascending bits */
	size_t n_features;
	struct pd_feature_context context;
	const struct pd_arch *arch;
	const struct pd_abi *abi;   /* numbers of system calls and errors; NULL: not known */
	struct pd_tracing *tracing; /* NULL: it has none */
	struct pd_event *events;
	size_t n_events, room;	    /* of room for so many: full, it grows only while opening */
	struct pd_session *session; /* it is part of; NULL while it is opened */
	struct pd_events_by_id ids;
	struct pd_field_names field_names;
	struct pd_shape bare;			/* of records of a file without events */
	const struct pd_layout *unknown_sample; /* of samples whose event is not known */
	const struct pd_layout *const *bare_layouts;
	const struct pd_layout **trailers[PD_TRAILER_KINDS]; /* [PD_RECORD_TYPES] each */
	struct pd_time_range times; /* of samples: the header's, or found when asked for */
	pthread_mutex_t noting;	    /* of who adds damage: readers may be in several threads */
	struct pd_damage *damage;   /* stays where it is once it is there */
	atomic_size_t n_damage;
};

/* Closes the file itself; its description stays valid for the records that point into it. */
void pd_file_close(struct pd_file *file);
void pd_file_destroy(struct pd_file *file);

/* The section of a feature the file has, or NULL. */
const struct pd_feature_section *pd_file_feature(const struct pd_file *file, unsigned bit);

/* Does the section lie in the stream's data? What comes from a pipe says so of all. */
static inline bool pd_stream_holds(const struct pd_stream *stream, struct pd_section at)
{
	uint64_t end = stream->data.offset + stream->data.size;

	return at.offset <= end && at.size <= end - at.offset;
}

/* Bytes of a section that is kept in memory; in a sparse file those of more cost nothing. */
#define PD_SECTION_MOST (64u << 20)

/* Allocates memory for the bytes of a section, at most PD_SECTION_MOST; the caller frees it. */
void *pd_section_alloc(struct pd_section at);

/*
 * Reads a section of the file or of a stream's data; short reads are failures, and so are
 * streams.
 */
bool pd_file_read(struct pd_file *file, struct pd_section at, void *bytes,
		  struct pd_error *err);
bool pd_stream_read(struct pd_stream *stream, struct pd_section at, void *bytes,
		    struct pd_error *err);

/*
 * Returns whether a feature's section may be read into memory; notes it as damage if it is too
 * large.
 */
bool pd_file_feature_fits(struct pd_file *file, const struct pd_feature_section *section);

/* Reads what a feature holds, section->at.size bytes. */
bool pd_file_read_feature(struct pd_file *file, const struct pd_feature_section *section,
			  void *bytes, struct pd_error *err);

/*
 * What a feature holds, in memory of the caller's, and a cursor over it; NULL if it is absent
 * or cannot be read.
 */
uint8_t *pd_file_feature_bytes(struct pd_file *file, unsigned bit, struct pb_cursor *c);

/* Sets the array of the file's events, which its table of ids points to as well. */
static inline void pd_file_set_events(struct pd_file *file, struct pd_event *events)
{
	file->events = events;
	file->ids.list = events;
}

/* A new event at the end, its attr and ids to be filled in; NULL without
 * memory or room. While the file is opened earlier ones may move. */
struct pd_event *pd_file_add_event(struct pd_file *file);

/*
 * Notes damage of the file, or of a stream of it; each place once. True if it is new. Any
 * thread may.
 */
bool pd_file_damaged(struct pd_file *file, uint64_t offset, uint64_t size, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));
bool pd_stream_damaged(const struct pd_stream *stream, uint64_t offset, uint64_t size,
		       const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
