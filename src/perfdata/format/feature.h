/*
 * The header features: optional sections that describe the machine and the recording. One row
 * of a table per feature: bit, name, documentation, decoder.
 */
#ifndef PERFLUA_PERFDATA_FEATURE_H
#define PERFLUA_PERFDATA_FEATURE_H

#include "text.h"
#include "error.h"
#include "value.h"

#define PD_FEATURES 256 /* bits in the header's bitmap */

/* What decoding one feature needs to know from elsewhere. */
struct pd_feature_context {
	bool swap;
	uint32_t nr_cpus_avail;		  /* of NRCPUS; 0: unknown */
	uint32_t nr_cpus_online;	  /* likewise */
	const struct pd_tracing *tracing; /* NULL: it has none */
};

struct pd_feature {
	unsigned bit;
	const char *name; /* lower-case kernel name: "cpu_topology" */
	const char *doc;  /* one sentence: what it holds, with units */
	/* Feeds one value to the sink. False: the bytes are not what the feature should be. */
	bool (*decode)(struct pb_cursor *c, const struct pd_feature_context *ctx,
		       struct pd_sink *sink);
};

/* The feature of that bit or name, or NULL. */
const struct pd_feature *pd_feature_by_bit(unsigned bit);
const struct pd_feature *pd_feature_by_name(const char *name);

/* All known ones in the order of their bits; *n becomes their number. */
const struct pd_feature *pd_feature_table(size_t *n);

/*
 * What the file itself needs of its features. Each walks a section's bytes and calls back per
 * entry; false when the section ended early (entries before that were delivered).
 */
typedef void pd_event_desc_fn(void *arg, uint32_t index, struct pd_text name);
bool pd_feature_event_desc(struct pb_cursor *c, pd_event_desc_fn *fn, void *arg);

typedef void pd_pmu_fn(void *arg, uint32_t type, struct pd_text name);
bool pd_feature_pmu_mappings(struct pb_cursor *c, pd_pmu_fn *fn, void *arg);

typedef void pd_group_fn(void *arg, uint32_t leader, uint32_t members, struct pd_text name);
bool pd_feature_group_desc(struct pb_cursor *c, pd_group_fn *fn, void *arg);

#endif
