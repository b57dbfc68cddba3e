/* The parts of a file that outline.c finds and outline_write.c copies. */
#ifndef PERFLUA_WRITE_OUTLINE_INTERNAL_H
#define PERFLUA_WRITE_OUTLINE_INTERNAL_H

#include <sys/stat.h>

#include "outline.h"
#include "sections.h"

/* The fate of a part. */
enum fate {
	LEFT_OUT,   /* any number of records */
	KEPT,	    /* likewise, and a round may end with the last */
	OF_THREAD,  /* one record, which is kept with its thread */
	OF_PROCESS, /* one record, which is kept with its process */
	ROUND_END,  /* the end of a round, which is kept if a record of the round is */
	RECORD,	    /* one record, which goes through the writer, as does the data after it */
};

/* The bytes of the file from an offset on, up to that of the next part. */
struct part {
	uint64_t offset;
	uint32_t id; /* OF_THREAD, OF_PROCESS: thread or process that the record is tied to */
	enum fate fate : 8;
	bool ends_round; /* KEPT: the last record is the end of a round */
};

/* Parts that follow each other, and the counts of the records in those that are KEPT. */
struct chapter {
	uint64_t offset, end;
	size_t first, n;	  /* the first part's index in its sketch; how many there are */
	const struct part *parts; /* [n]: set when all are found */
	struct pw_counts counts;
};

struct pw_outline {
	struct pd_stream *stream;
	struct stat status;	 /* of the file, before it was read */
	uint64_t from, to;	 /* ns: of the chosen samples */
	struct sketch *sketches; /* [n_sketches] */
	unsigned n_sketches;
	struct chapter **chapters; /* [n]: of all sketches, in the order of the file */
	size_t n;
};

#endif
