#define _GNU_SOURCE
#include "dso.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "internal.h"
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

static const char *get_recorded_name(const struct ps_dso *dso, char *text, size_t size)
{
	(void)text, (void)size;
	return dso->id.name;
}

/* Returns where ".ko" begins in the name of a file, compressed or not; NULL: nowhere. */
static const char *find_module_suffix(const char *base)
{
	static const char *const packed[] = { ".gz", ".xz", ".zst" };
	const char *dot = strrchr(base, '.');

	for (size_t i = 0; dot && i < sizeof(packed) / sizeof(*packed); i++)
		if (strcmp(dot, packed[i]) == 0)
			dot = memrchr(base, '.', (size_t)(dot - base));
	return dot && strncmp(dot, ".ko", 3) == 0 ? dot : NULL;
}

bool ps_module_name(const char *path, char *name, size_t size)
{
	const char *base = ps_base_name(path), *end = find_module_suffix(base);

	if (*base == '[') {
		snprintf(name, size, "%s", base);
		return true;
	}
	snprintf(name, size, "[%.*s]", end ? (int)(end - base) : (int)strlen(base), base);
	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return end && end > base;
}

static const char *make_module_name(const struct ps_dso *dso, char *text, size_t size)
{
	ps_module_name(dso->id.name, text, size);
	return text;
}

/*
 * Returns the name as recorded, or as a table of build-ids has it: see
 * machine__process_kernel_mmap_event.
 */
static const char *get_kernel_name(const struct ps_dso *dso, char *text, size_t size)
{
	(void)text, (void)size;
	if (!dso->id.shown)
		return dso->id.name;
	return strstr(dso->id.shown, "vmlinux") ? "[kernel.vmlinux]" :
						  ps_base_name(dso->id.shown);
}

/* See dso__set_basename, tools/perf/util/dso.c. */
static const char *make_jit_name(const struct ps_dso *dso, char *text, size_t size)
{
	snprintf(text, size, "[JIT] tid %d", dso->id.pid);
	return text;
}

static const char *get_file_name(const struct ps_dso *dso, char *text, size_t size)
{
	(void)text, (void)size;
	return ps_base_name(dso->id.name);
}

typedef const char *name_fn(const struct ps_dso *dso, char *text, size_t size);

static const struct {
	name_fn *name, *short_name;
} names[] = {
	[PS_USER] = { get_recorded_name, get_file_name },
	[PS_KERNEL] = { get_recorded_name, get_kernel_name },
	[PS_MODULE] = { make_module_name, make_module_name },
	[PS_VDSO] = { get_recorded_name, get_recorded_name },
	[PS_JIT] = { get_recorded_name, make_jit_name },
	[PS_BPF] = { get_recorded_name, get_recorded_name },
	[PS_DATA] = { get_recorded_name, get_file_name },
};

bool ps_dso_name(struct ps_dso *dso)
{
	name_fn *name = names[dso->id.kind].name, *short_name = names[dso->id.kind].short_name;
	char text[PATH_MAX];

	dso->name = dso->id.shown ? dso->id.shown :
				    ps_store_text(dso->store, name(dso, text, sizeof(text)));
	dso->name_length = dso->name ? strlen(dso->name) : 0;
	dso->short_name = ps_store_text(dso->store, short_name(dso, text, sizeof(text)));
	return dso->name && dso->short_name;
}
