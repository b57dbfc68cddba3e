/*
 * What is kept while addresses are resolved.
 */
#ifndef PERFLUA_MACHINE_RESOLVER_H
#define PERFLUA_MACHINE_RESOLVER_H

#include "frames.h"
#include "fields.h"
#include "unwind.h"

/* Symbols that were looked up, by dso and address: a power of two. */
#ifndef PM_KNOWN
#define PM_KNOWN 16384
#endif

struct pm_known {
	const struct ps_dso *dso; /* NULL: free */
	uint64_t address;
	const struct ps_symbol *symbol;
};

/* Names of threads that were asked for, by the thread: a power of two. */
#define PM_CALLED 256

/* A record, known by where it lies: its bytes may be in the place of another's. */
struct pm_seen {
	bool known;
	uint16_t source, stream;
	uint64_t offset, chunk_offset;
};

static inline bool pm_is_seen(const struct pm_seen *seen, const struct pd_record *rec)
{
	return seen->known && seen->offset == rec->offset &&
	       seen->chunk_offset == rec->chunk_offset && seen->source == rec->source &&
	       seen->stream == rec->stream;
}

static inline void pm_see(struct pm_seen *seen, const struct pd_record *rec)
{
	*seen = (struct pm_seen){ true, rec->source, rec->stream, rec->offset,
				  rec->chunk_offset };
}

/* What is at an address. Unlike a map it stays. */
struct pm_spot {
	struct ps_dso *dso; /* NULL: nothing was mapped there */
	uint64_t address;   /* in the dso */
	uint64_t time;	    /* of pm_where */
};

struct pm_resolver {
	struct pm_machine *machine;
	struct pm_unwinder *unwinder; /* NULL: not needed yet */
	char *text;		      /* [capacity]: of pm_chain_text */
	size_t capacity;
	struct pd_frame frames[PM_MAX_FRAMES]; /* of the sample that is looked at */
	struct {
		struct pm_seen seen; /* the record that the frames are of */
		size_t n;
	} latest;
	struct { /* of a record's ip: several of its fields are often asked for */
		struct pm_seen seen;
		uint64_t taken; /* the machine's, then */
		struct pm_spot spot;
	} own;
	struct { /* of message.c */
		struct pd_printer **
			/* [n]: by the number of the recording; NULL: not needed yet */
			printers;
		size_t n;
		unsigned text;		     /* of a version of perf: enum pd_perf_text */
		const struct pd_record *rec; /* that is looked at */
	} messages;
	struct pm_called called[PM_CALLED];
	struct pm_known known[PM_KNOWN];
};

/* Lets go of the printers: message.c. */
void pm_messages_destroy(struct pm_resolver *resolver);

#endif
