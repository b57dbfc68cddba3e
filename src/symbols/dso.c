#define _GNU_SOURCE
#include "dso.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "internal.h"
#include "symbols/elf/elf.h"
#include "symbols/jit/jitdump.h"

void ps_dso_tried(struct ps_dso *dso, const char *path, const char *where, const char *verdict)
{
	struct ps_tried *tried;

	if (!pb_reserve(dso->tried, dso->n_tried, dso->tried_room))
		return;
	tried = &dso->tried[dso->n_tried];
	tried->path = ps_store_text(dso->store, path);
	tried->where = where;
	tried->verdict = ps_store_text(dso->store, verdict);
	if (tried->path && tried->verdict)
		dso->n_tried++;
}

void ps_dso_judge(struct ps_dso *dso, size_t i, const char *verdict)
{
	const char *kept = i < dso->n_tried ? ps_store_text(dso->store, verdict) : NULL;

	if (kept)
		dso->tried[i].verdict = kept;
}

#define MAX_MAPPINGS 64 /* distinct ones of a file; a loader makes one for each segment */

static bool is_noted(const struct ps_dso *dso, const struct ps_mapping *mapping)
{
	for (size_t i = 0; i < dso->n_mappings; i++) {
		const struct ps_mapping *noted = &dso->mappings[i];

		if (noted->pgoff == mapping->pgoff && noted->len == mapping->len &&
		    noted->prot == mapping->prot && noted->executable == mapping->executable)
			return true;
	}
	return dso->n_mappings == MAX_MAPPINGS;
}

static bool note_mapping(struct ps_dso *dso, const struct ps_mapping *mapping)
{
	if (dso->state != PS_UNTRIED || is_noted(dso, mapping))
		return true;
	if (!pb_reserve(dso->mappings, dso->n_mappings, dso->mappings_room))
		return false;
	dso->mappings[dso->n_mappings++] = *mapping;
	return true;
}

bool ps_dso_add_mapping(struct ps_dso *dso, const struct ps_mapping *mapping)
{
	bool noted;

	pthread_mutex_lock(&dso->store->lock);
	noted = note_mapping(dso, mapping);
	pthread_mutex_unlock(&dso->store->lock);
	return noted;
}

static struct ps_jitdump *make_jitdump(struct ps_store *store, const char *path, bool monotonic)
{
	struct ps_jitdump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return NULL;
	dump->monotonic = monotonic;
	dump->table.interrupt = store->options.interrupt;
	dump->path = ps_store_text(store, path);
	if (dump->path)
		return dump;
	free(dump);
	return NULL;
}

bool ps_dso_set_jitdump(struct ps_dso *dso, const char *path, bool monotonic)
{
	bool set;

	pthread_mutex_lock(&dso->store->lock);
	if (!dso->jitdump && dso->state == PS_UNTRIED && dso->id.kind == PS_JIT)
		dso->jitdump = make_jitdump(dso->store, path, monotonic);
	set = dso->jitdump || dso->state != PS_UNTRIED;
	pthread_mutex_unlock(&dso->store->lock);
	return set;
}

/* See jit_detect, tools/perf/util/jitdump.c. */
bool ps_is_jitdump(const char *path, int32_t pid)
{
	const char *base = ps_base_name(path);
	char *end;
	long number;

	if (strncmp(base, "jit-", 4) != 0 || base[4] < '0' || base[4] > '9')
		return false;
	number = strtol(base + 4, &end, 10);
	return strcmp(end, ".dump") == 0 && number == pid;
}
