/*
 * One event's perf_event_attr, of whatever size the recorder wrote: shorter ones read zero in
 * what they lack, longer ones are read as far as known. Held in host byte order, its flags at
 * their little-endian bit numbers whatever the recorder's byte order.
 */
#ifndef PERFLUA_PERFDATA_ATTR_H
#define PERFLUA_PERFDATA_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value.h"

#define PD_ATTR_MIN 64 /* PERF_ATTR_SIZE_VER0; attr.size 0 means this */

struct pd_attr {
	uint32_t type, size;
	uint64_t config;
	uint64_t sample_period; /* sample_freq when freq is set */
	uint64_t sample_type, read_format;
	uint64_t flags; /* PD_ATTR_* */
	uint32_t wakeup_events, bp_type;
	uint64_t config1; /* bp_addr, kprobe_func, uprobe_path */
	uint64_t config2; /* bp_len, kprobe_addr, probe_offset */
	uint64_t branch_sample_type, sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint32_t aux_sample_size, aux_action;
	uint64_t sig_data, config3, config4;
};

/* attr.flags, at their little-endian bit numbers */
#define PD_ATTR_INHERIT		(UINT64_C(1) << 1)
#define PD_ATTR_EXCLUDE_USER	(UINT64_C(1) << 4)
#define PD_ATTR_EXCLUDE_KERNEL	(UINT64_C(1) << 5)
#define PD_ATTR_EXCLUDE_HV	(UINT64_C(1) << 6)
#define PD_ATTR_FREQ		(UINT64_C(1) << 10)
#define PD_ATTR_WATERMARK	(UINT64_C(1) << 14)
#define PD_ATTR_PRECISE_IP(f)	((unsigned)((f) >> 15 & 3))
#define PD_ATTR_SAMPLE_ID_ALL	(UINT64_C(1) << 18)
#define PD_ATTR_EXCLUDE_HOST	(UINT64_C(1) << 19)
#define PD_ATTR_EXCLUDE_GUEST	(UINT64_C(1) << 20)
#define PD_ATTR_USE_CLOCKID	(UINT64_C(1) << 25)
#define PD_ATTR_BUILD_ID	(UINT64_C(1) << 34)
#define PD_ATTR_DEFER_CALLCHAIN (UINT64_C(1) << 38)

/*
 * Reads an attr from at most size bytes; false if there are fewer than PD_ATTR_MIN. big: see
 * flags.
 */
bool pd_attr_parse(struct pd_attr *attr, const uint8_t *bytes, size_t size, bool swap,
		   bool big);

/*
 * What scripts see of an attr: names and documentation (ends with a NULL name), and values by
 * index.
 */
extern const struct pd_member pd_attr_members[];
void pd_attr_member(const struct pd_attr *attr, unsigned m, struct pd_value *out);

/*
 * The PMU that counts an event: of a hardware event on a hybrid machine the one of a kind of
 * core, in the high half of config (PERF_PMU_TYPE_SHIFT), else attr->type.
 */
uint32_t pd_event_pmu(const struct pd_attr *attr);

/*
 * Writes perf's name of an event that has none: "cycles:u", "L1-dcache-load-misses",
 * "cpu_core/cycles/" … pmu is the name of pd_event_pmu in PMU_MAPPINGS, or NULL; text is enum
 * pd_perf_text. At most size bytes are written, NUL included.
 */
void pd_event_name(const struct pd_attr *attr, const char *pmu, unsigned text, char *name,
		   size_t size);

#endif
