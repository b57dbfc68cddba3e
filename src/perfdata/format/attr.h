/*
 * The perf_event_attr of an event. The recorder's may have another size than ours: members that
 * a shorter one lacks are 0, and a longer one is read as far as it is known. Members are in
 * host byte order; flags have their little-endian bit numbers whatever the recorder's byte
 * order.
 */
#ifndef PERFLUA_PERFDATA_ATTR_H
#define PERFLUA_PERFDATA_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value.h"

#define PD_ATTR_SIZE 136 /* PERF_ATTR_SIZE_VER8: of perf 6.3 to 6.17 */
#define PD_ATTR_MIN  64	 /* PERF_ATTR_SIZE_VER0, also meant by an attr.size of 0 */
#define PD_ATTR_MOST \
	4080 /* with its section of ids a page, which is the most the kernel takes */

struct pd_attr {
	uint32_t type, size;
	uint64_t config;
	uint64_t sample_period; /* sample_freq if PD_ATTR_FREQ is set */
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

/* Bits of pd_attr.flags, at their little-endian numbers. */
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
 * Reads an attr from at most `size` bytes. `big`: the recorder was big-endian, whose compilers
 * number bit fields from the other end. Returns false if there are fewer than PD_ATTR_MIN
 * bytes.
 */
bool pd_attr_parse(struct pd_attr *attr, const uint8_t *bytes, size_t size, bool swap,
		   bool big);

/* Returns true if the attr's periods are nanoseconds: it is one of the two clocks. */
bool pd_attr_is_clock(const struct pd_attr *attr);

/* Returns true if samples say where time went: of a clock, or of the cycles of processors. */
bool pd_attr_samples_time(const struct pd_attr *attr);

/*
 * The members of an attr that scripts see: names and documentation (the last name is NULL), and
 * the value of member `m`.
 */
extern const struct pd_member pd_attr_members[];
void pd_attr_member(const struct pd_attr *attr, unsigned m, struct pd_value *out);

/*
 * Returns the type number of the PMU that counts an event. A hardware event of a hybrid machine
 * has it in the high half of config (PERF_PMU_TYPE_SHIFT); otherwise it is attr->type.
 */
uint32_t pd_event_pmu(const struct pd_attr *attr);

/*
 * Writes perf's name for an event without one into name[size], NUL included: "cycles:u",
 * "L1-dcache-load-misses", "cpu_core/cycles/". `pmu` is the name of pd_event_pmu() in
 * PMU_MAPPINGS, or NULL; `text` is a set of enum pd_perf_text.
 */
void pd_event_name(const struct pd_attr *attr, const char *pmu, unsigned text, char *name,
		   size_t size);

#endif
