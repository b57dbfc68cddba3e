/*
 * Rewrites samples whose user frames lie outside of their call chain, so that the chain has
 * them: those that a copy of the stack leads to, and those that were recorded later. Several
 * workers do; samples are written in the order in which they were added.
 *
 *	struct pw_rewriter *rewriter = pw_rewriter_create(&writer, system, workers);
 *
 *	while (… reads a record …)
 *		if (!pw_rewriter_add(rewriter, &rec, &err)) …
 *	if (!pw_rewriter_finish(rewriter, &err)) …
 *	pw_rewriter_destroy(rewriter);
 *
 * The records of a batch are copies, so that the walk goes on while they are rewritten.
 */
#ifndef PERFLUA_WRITE_REWRITER_H
#define PERFLUA_WRITE_REWRITER_H

#include "machine/machine.h"
#include "writer.h"

/* Numbers of samples, by how they were rewritten. */
struct pw_chain_counts {
	uint64_t unwound;   /* their copy of the stack became frames */
	uint64_t kept;	    /* keep it, as it does not lead to the outermost frame */
	uint64_t joined;    /* were given the frames that were recorded later */
	uint64_t unmatched; /* the frames that were to be recorded later are missing */
	uint64_t damaged;   /* left out, as their parts do not fit them */
};

struct pw_rewriter;

/*
 * Creates a rewriter for what writer->how tells to rewrite. `system` knows the whole recording,
 * and is prepared (pm_system_prepare()) if there are several workers; with one, records are
 * rewritten as they are added. Returns NULL without memory.
 */
struct pw_rewriter *pw_rewriter_create(struct pw_writer *writer, struct pm_system *system,
				       unsigned workers);

/* Ends the threads, and drops what was not written. NULL: nothing. */
void pw_rewriter_destroy(struct pw_rewriter *rewriter);

/*
 * Adds a record. Returns false as pw_write() does; with the code "STACKS" if a sample keeps its
 * copy of the stack though how.keeps_stacks is not set.
 */
bool pw_rewriter_add(struct pw_rewriter *rewriter, const struct pd_record *rec,
		     struct pd_error *err);

/* Writes what was added. Returns as pw_rewriter_add(). */
bool pw_rewriter_finish(struct pw_rewriter *rewriter, struct pd_error *err);

/* Adds what was counted to *counts. */
void pw_rewriter_count(const struct pw_rewriter *rewriter, struct pw_chain_counts *counts);

#endif
