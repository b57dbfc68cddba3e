/*
 * Rewrites samples whose user frames lie outside of their call chain, so that the chain has
 * them: those that a copy of the stack leads to, and those that were recorded later.
 */
#ifndef PERFLUA_WRITE_CHAINS_H
#define PERFLUA_WRITE_CHAINS_H

#include "base/string_builder.h"
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

/*
 * Appends the bytes of a sample, rewritten as `how` tells, to `out`, unless *leaves_out is set.
 * `resolver` is that of the worker. A sample that has nothing to rewrite is appended as it is.
 */
void pw_rewrite_chain(const struct pw_how *how, struct pm_resolver *resolver,
		      const struct pd_record *rec, struct pb_string *out,
		      struct pw_chain_counts *counts, bool *leaves_out);

#endif
