/*
 * The user parts of call chains that were recorded later than their samples: by thread, and by
 * the cookie that both have. See PERF_RECORD_CALLCHAIN_DEFERRED,
 * include/uapi/linux/perf_event.h.
 *
 * A chain that many samples have is kept once, each address as what it differs from the one
 * before.
 */
#ifndef PERFLUA_MACHINE_DEFERRED_H
#define PERFLUA_MACHINE_DEFERRED_H

#include "base/map.h"
#include "sources.h"

struct pm_deferred_chain {
	uint64_t cookie;
	uint32_t system;
	int32_t tid;
	uint64_t at; /* in bytes: how many its addresses take (32 bits), then they */
};

struct pm_deferred {
	uint8_t *bytes; /* [n_bytes] */
	size_t n_bytes, room;
	uint64_t *kept; /* [n_kept]: where different chains are in bytes */
	size_t n_kept, kept_room;
	struct pb_map by_bytes;		  /* of kept */
	struct pm_deferred_chain *chains; /* [n] */
	size_t n, chain_room;
	struct pb_map by_key; /* of chains, by system, thread and cookie */
	uint64_t factor; /* odd; what places are hashed with, which a recording cannot know */
};

void pm_deferred_deinit(struct pm_deferred *deferred);

/* Keeps what a record of that type says. False: no memory. */
bool pm_deferred_add(struct pm_deferred *deferred, uint32_t system, unsigned tid_id,
		     const struct pd_record *rec);

/* The addresses of a chain, callee first, at most n; false: it is not known (yet). */
bool pm_deferred_find(const struct pm_deferred *deferred, uint32_t system, int32_t tid,
		      uint64_t cookie, uint64_t *ips, size_t n, size_t *got);

#endif
