/*
 * One feature: a byte that chooses it, one for byte order and number of processors, then what
 * the feature holds.
 */
#include "common.h"

static void on_event(void *arg, uint32_t index, struct pd_text name)
{
	(void)index;
	*(size_t *)arg += name.n ? (size_t)(name.p[0] + name.p[name.n - 1]) : 0;
}

static void on_pmu(void *arg, uint32_t type, struct pd_text name)
{
	on_event(arg, type, name);
}

static void on_group(void *arg, uint32_t leader, uint32_t members, struct pd_text name)
{
	on_event(arg, leader + members, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pd_feature_context context = { .tracing = NULL };
	const struct pd_feature *table;
	struct pb_cursor c;
	size_t rows, used = 0;

	if (n < 2)
		return 0;
	table = pd_feature_table(&rows);
	context.swap = bytes[1] & 1;
	context.nr_cpus_avail = bytes[1] >> 1;
	context.nr_cpus_online = context.nr_cpus_avail / 2;
	fuzz_feature(&table[bytes[0] % rows], bytes + 2, n - 2, &context);
	pb_cursor_init(&c, bytes + 2, n - 2, context.swap);
	pd_feature_event_desc(&c, on_event, &used);
	pb_cursor_init(&c, bytes + 2, n - 2, context.swap);
	pd_feature_pmu_mappings(&c, on_pmu, &used);
	pb_cursor_init(&c, bytes + 2, n - 2, context.swap);
	pd_feature_group_desc(&c, on_group, &used);
	return 0;
}
