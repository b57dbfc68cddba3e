/*
 * The header features: optional sections that describe the machine and the recording. A table
 * has one row per feature: bit, name, documentation, decoder.
 */
#ifndef PERFLUA_PERFDATA_FEATURE_H
#define PERFLUA_PERFDATA_FEATURE_H

#include "error.h"
#include "text.h"
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
	/* the layout of its bytes, see below; NULL: it has none */
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

/*
 * Shared by the decoders of header features: layouts as data, and decoders that need code of
 * their own.
 *
 * A layout is a tree of rows. A row says how a value is stored: as a number, a string, a struct
 * (`of`: its members in order, ended by PD_L_END) or a list (`of`: one row for all items).
 */

enum pd_layout_kind {
	PD_L_END,
	PD_L_U32,
	PD_L_S32,
	PD_L_U64,
	PD_L_INDEX,  /* u32 counted from 0, delivered counted from 1 as in Lua */
	PD_L_STRING, /* u32 size, text padded with zeros */
	PD_L_STRUCT,
	PD_L_LIST32, /* u32 count, items */
	PD_L_LIST64, /* u64 count, items */
	PD_L_PAIRS,  /* u32 count, {string name, string value}: a table */
	/* u32 size of the blob that follows, which the blob's own row reads again */
	PD_L_SIZE,
	PD_L_BLOB, /* u32 size, bytes */
};

struct pd_layout_row {
	const char *key; /* key of a member of a struct; else NULL */
	enum pd_layout_kind kind;
	const struct pd_layout_row *of;
};

/*
 * Feeds the value of a row to the sink under `key`; NULL: it is an item or the whole feature.
 * Returns false if the bytes end early.
 */
bool pd_decode_row(struct pb_cursor *c, struct pd_sink *sink, const char *key,
		   const struct pd_layout_row *row);

/*
 * Reads a u32 count. The cursor fails unless as many items of at least `min_size` bytes can
 * follow.
 */
uint32_t pd_take_count(struct pb_cursor *c, size_t min_size);

/* Decoders, for pd_feature.decode. */
typedef bool pd_feature_decoder(struct pb_cursor *c, const struct pd_feature_context *ctx,
				struct pd_sink *sink);

pd_feature_decoder pd_decode_tracing_data; /* tracepoint/tracing.c */
pd_feature_decoder pd_decode_build_id;
pd_feature_decoder pd_decode_event_desc;
pd_feature_decoder pd_decode_pmu_mappings;
pd_feature_decoder pd_decode_cpu_topology;
pd_feature_decoder pd_decode_mem_topology;
pd_feature_decoder pd_decode_cpu_domain_info;
pd_feature_decoder pd_decode_bpf_prog_info;

#endif
