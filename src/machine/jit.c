#include "jit.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

void pm_jit_id(int32_t pid, struct ps_dso_id *id, char name[PM_JIT_NAME])
{
	snprintf(name, PM_JIT_NAME, "/tmp/perf-%" PRId32 ".map", pid);
	id->kind = PS_JIT;
	id->pid = pid;
	id->name = name;
}

static bool is_monotonic(const struct pd_file *file)
{
	for (size_t i = 0; i < file->n_events; i++) {
		const struct pd_attr *attr = &file->events[i].attr;

		if (!(attr->flags & PD_ATTR_USE_CLOCKID) || attr->clockid != CLOCK_MONOTONIC)
			return false;
	}
	return file->n_events;
}

bool pm_jit_mapped(struct ps_store *store, const struct pd_file *file, int32_t pid,
		   struct ps_dso_id *id)
{
	struct ps_dso_id code = { .guest = id->guest };
	char name[PM_JIT_NAME];
	struct ps_dso *dso;

	if (id->kind != PS_USER || !ps_is_jitdump(id->name, pid))
		return true;
	id->kind = PS_DATA;
	pm_jit_id(pid, &code, name);
	dso = store ? ps_store_dso(store, &code) : NULL;
	return dso && ps_dso_set_jitdump(dso, id->name, is_monotonic(file));
}
