#include "located.h"

#include <stdlib.h>
#include <string.h>

static void drop_long(void *arg, const char *p, size_t n)
{
	struct px_located *located = arg;

	(void)p;
	(void)n;
	located->is_too_long = true;
}

struct px_located *px_located_create(void)
{
	struct px_located *located = calloc(1, sizeof(*located));

	if (located)
		pd_print_init(&located->out, drop_long, located);
	return located;
}

void px_located_destroy(struct px_located *located)
{
	free(located);
}

uint64_t px_located_number(struct px_located *located, const struct pm_system *system,
			   const struct pm_addr_context *context, bool kernel)
{
	uint64_t key = pm_key_of(context->machine, kernel ? PM_KERNEL : context->pid);
	uint64_t taken = pm_system_revision(system) + 1, time = context->time;
	struct px_mapping *mapping = &located->mappings[(key ^ key >> 32) % PX_MAPPINGS_KEPT];
	struct pm_mapping_version version;
	bool known;

	if (mapping->key != key || mapping->taken != taken || time < mapping->from ||
	    time > mapping->last) {
		known = pm_mapping_version_of(system, context, kernel, &version);
		*mapping = (struct px_mapping){
			.key = key,
			.taken = taken,
			.from = version.from,
			.last = version.last,
			.number = known ? ++located->n_mappings : 0,
		};
	}
	return mapping->number;
}

struct pd_print *px_located_begin(struct px_located *located)
{
	located->out.n = 0;
	located->is_too_long = false;
	return &located->out;
}

const char *px_located_keep(struct px_located *located, uint64_t address, uint64_t tag,
			    size_t *n)
{
	uint64_t at = located->used;

	*n = located->out.n;
	if (located->is_too_long)
		return NULL;
	/* texts do not wrap around */
	if (at % PX_LOCATED_ROOM + *n > PX_LOCATED_ROOM)
		at += PX_LOCATED_ROOM - at % PX_LOCATED_ROOM;
	memcpy(located->room + at % PX_LOCATED_ROOM, located->out.buffer, *n);
	located->used = at + *n;
	*px_located_slot(located, address, tag) = (struct px_located_text){
		.address = address,
		.tag = tag,
		.at = at,
		.n = (uint32_t)*n,
	};
	return located->room + at % PX_LOCATED_ROOM;
}
