/* The parts of a file that outline.c finds and outline_write.c copies. */
#ifndef PERFLUA_WRITE_OUTLINE_INTERNAL_H
#define PERFLUA_WRITE_OUTLINE_INTERNAL_H

#include "outline.h"
#include "sections.h"

/* The fate of a part. */
enum fate {
	LEFT_OUT,
	KEPT,
	OF_THREAD, /* a record that is kept with its thread */
	OF_PROCESS,
	ROUND_END, /* which may be without records */
	RECORD,	   /* the writer decides, and copies the data after it, too */
};

/* The bytes of the file from an offset on, up to that of the next part. */
struct part {
	uint64_t offset;
	uint32_t id; /* of the thread or process that the record is tied to */
	enum fate fate : 8;
	bool ends_round; /* of those that are KEPT: a round ends with it */
};

/* Parts that follow each other, and what their parts of KEPT hold. */
struct chapter {
	uint64_t offset, end;
	size_t first, n;	  /* parts of the worker that found them */
	const struct part *parts; /* [n]: set when all are found */
	struct pw_counts counts;
};

struct pw_outline {
	struct pd_stream *stream;
	uint64_t from, to;	 /* ns: of the chosen samples */
	struct sketch *sketches; /* [n_sketches] */
	unsigned n_sketches;
	struct chapter **chapters; /* [n]: of all sketches, in the order of the file */
	size_t n;
};

#endif
