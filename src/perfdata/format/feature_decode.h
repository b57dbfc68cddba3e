/*
 * Shared by the decoders of header features: layouts as data, and decoders that need code of
 * their own.
 *
 * A layout is a tree of rows. A row says how a value is stored: as a number, a string, a struct
 * (`of`: its members in order, ended by PD_L_END) or a list (`of`: one row for all items).
 */
#ifndef PERFLUA_PERFDATA_FEATURE_DECODE_H
#define PERFLUA_PERFDATA_FEATURE_DECODE_H

#include "feature.h"

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

/* Returns whether the file's byte order is big-endian. */
static inline bool pd_is_big(bool swap)
{
	return swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

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
