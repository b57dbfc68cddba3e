/*
 * The header features: optional sections that describe the machine and the recording. A table
 * has one row per feature: bit, name, documentation, decoder.
 */
#ifndef PERFLUA_PERFDATA_FEATURE_H
#define PERFLUA_PERFDATA_FEATURE_H

#include "text.h"
#include "error.h"
#include "value.h"

#define PD_FEATURES 256 /* bits in the header's bitmap */

struct pd_layout_row;

/* Facts from elsewhere that decoding a feature needs. */
struct pd_feature_context {
	bool swap;
	uint32_t nr_cpus_avail;		  /* from NRCPUS; 0: unknown */
	uint32_t nr_cpus_online;	  /* the same */
	const struct pd_tracing *tracing; /* NULL: the recording has none */
};

struct pd_feature {
	unsigned bit;
	const char *name; /* kernel name in lower case: "cpu_topology" */
	const char *doc;  /* one sentence: content and units */
	/*
	 * Feeds the feature's value to the sink. Returns false if the bytes are not what the
	 * feature should hold.
	 */
	bool (*decode)(struct pb_cursor *c, const struct pd_feature_context *ctx,
		       struct pd_sink *sink);
	/* the layout of its bytes, see feature_decode.h; NULL: it has none */
	const struct pd_layout_row *layout;
	bool versioned; /* a u32 version, which is 1, comes before it */
};

/* Return the feature with a bit or a name, or NULL. */
const struct pd_feature *pd_feature_by_bit(unsigned bit);
const struct pd_feature *pd_feature_by_name(const char *name);

/*
 * Returns how many of the `n` bytes at `bytes` the feature with a bit takes; UINT32_MAX if its
 * bytes alone do not tell.
 */
uint32_t pd_feature_measure(uint64_t bit, const uint8_t *bytes, uint32_t n, bool swap);

/*
 * Returns the table of all known features in the order of their bits, and sets *n to their
 * number.
 */
const struct pd_feature *pd_feature_table(size_t *n);

/*
 * Walk the bytes of a feature that perflua itself needs, and call `fn` for each entry. Return
 * false if the section ended early; the entries before that were delivered.
 */
typedef void pd_event_desc_fn(void *arg, uint32_t index, struct pd_text name);
bool pd_feature_event_desc(struct pb_cursor *c, pd_event_desc_fn *fn, void *arg);

typedef void pd_pmu_fn(void *arg, uint32_t type, struct pd_text name);
bool pd_feature_pmu_mappings(struct pb_cursor *c, pd_pmu_fn *fn, void *arg);

/* Returns whether the entries of a table of build-ids, as old perfs wrote them, lack a pid. */
bool pd_build_ids_are_old(struct pb_cursor c);

typedef void pd_group_fn(void *arg, uint32_t leader, uint32_t members, struct pd_text name);
bool pd_feature_group_desc(struct pb_cursor *c, pd_group_fn *fn, void *arg);

#endif
