/*
 * Strings that are kept once each, where they stay: names of threads, paths. They end with a
 * NUL and have no other.
 */
#ifndef PERFLUA_MACHINE_NAMES_H
#define PERFLUA_MACHINE_NAMES_H

#include "base/map.h"
#include "perfdata/format/text.h"

struct pm_names {
	struct pb_map by_text; /* of texts */
	uint64_t seed; /* of the hash: what strings there are is the recording's choice */
	struct pd_text *texts; /* by number */
	size_t n, capacity;
};

#define PM_NO_NAME UINT32_MAX

/* The number of a string, which is copied; PM_NO_NAME: no memory. */
uint32_t pm_names_add(struct pm_names *names, struct pd_text text);
void pm_names_deinit(struct pm_names *names);

#endif
