/*
 * The chunks of a stream that can be read again: made by one pass over its record headers and times, kept
 * with the stream, and never changed.
 */
#ifndef PERFLUA_PERFDATA_INDEX_H
#define PERFLUA_PERFDATA_INDEX_H

#include "chunk.h"
#include "reader.h"

struct pd_index {
	struct pd_chunk *chunks;
	size_t n;
};

enum pd_indexed {
	PD_INDEX_MADE,	 /* stream->index is there */
	PD_INDEX_NONE,	 /* it cannot be: the records are compressed, or come but once */
	PD_INDEX_ENDED,	 /* go_on said no */
	PD_INDEX_FAILED, /* see err */
};

/*
 * Makes the index of a stream, unless it has one. The numbers of its chunks are without the stream's, which
 * depends on what it is merged with. `go_on`, unless NULL, is asked now and then whether to.
 */
enum pd_indexed pd_index_make(struct pd_stream *stream, const struct pd_stamp *stamp,
			      bool (*go_on)(void *arg), void *arg, struct pd_error *err);
void pd_index_destroy(struct pd_index *index);

#endif
