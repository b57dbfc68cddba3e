/*
 * The user parts of call chains that the kernel records later than their samples, found by
 * thread and by the cookie that both have. See PERF_RECORD_CALLCHAIN_DEFERRED,
 * include/uapi/linux/perf_event.h.
 *
 * Many samples have the same chain: each distinct one is stored once, as differences between
 * successive addresses.
 */
#ifndef PERFLUA_MACHINE_DEFERRED_H
#define PERFLUA_MACHINE_DEFERRED_H

#include "base/hash.h"
#include "base/map.h"
#include "sources.h"

struct pm_deferred_chain {
	uint64_t cookie;
	uint32_t machine;
	int32_t tid;
	uint64_t at; /* offset in `bytes`: the size of the chain (32 bits), then the chain */
};

struct pm_deferred {
	uint8_t *bytes; /* [n_bytes] */
	size_t n_bytes, room;
	uint64_t *kept; /* [n_kept]: offsets of the distinct chains in `bytes` */
	size_t n_kept, kept_room;
	struct pb_map by_bytes;		  /* numbers of `kept` */
	struct pm_deferred_chain *chains; /* [n] */
	size_t n, chain_room;
	struct pb_map by_key;	 /* numbers of `chains`, by machine, thread and cookie */
	struct pb_secret secret; /* secret of the hashes */
};

void pm_deferred_deinit(struct pm_deferred *deferred);

/*
 * Adds a CALLCHAIN_DEFERRED record; one that is damaged is ignored. Returns false without
 * memory.
 */
bool pm_deferred_add(struct pm_deferred *deferred, uint32_t machine, unsigned tid_id,
		     const struct pd_record *rec);

/*
 * Writes the addresses of a chain to `ips`, from the callee on, at most `n`, and sets *got to
 * their number. Returns false if the chain is not known (yet).
 */
bool pm_deferred_find(const struct pm_deferred *deferred, uint32_t machine, int32_t tid,
		      uint64_t cookie, uint64_t *ips, size_t n, size_t *got);

#endif
