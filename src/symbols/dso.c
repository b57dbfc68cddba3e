#define _GNU_SOURCE
#include "dso.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "symbols/elf/elf.h"
#include "symbols/jit/jitdump.h"

static const char *recorded_name(const struct ps_dso *dso, char *text, size_t size)
{
	(void)text, (void)size;
	return dso->id.name;
}

/* Where ".ko" begins in the name of a file, compressed or not; NULL: it has none. */
static const char *module_suffix(const char *base)
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
	const char *base = ps_base_name(path), *end = module_suffix(base);

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

static const char *module_name(const struct ps_dso *dso, char *text, size_t size)
{
	ps_module_name(dso->id.name, text, size);
	return text;
}

/* As it was recorded, or as a table of build-ids has it: see machine__process_kernel_mmap_event. */
static const char *kernel_name(const struct ps_dso *dso, char *text, size_t size)
{
	(void)text, (void)size;
	if (!dso->id.shown)
		return dso->id.name;
	return strstr(dso->id.shown, "vmlinux") ? "[kernel.vmlinux]" :
						  ps_base_name(dso->id.shown);
}

/* See dso__set_basename, tools/perf/util/dso.c. */
static const char *jit_name(const struct ps_dso *dso, char *text, size_t size)
{
	snprintf(text, size, "[JIT] tid %d", dso->id.pid);
	return text;
}

static const char *file_name(const struct ps_dso *dso, char *text, size_t size)
{
	(void)text, (void)size;
	return ps_base_name(dso->id.name);
}

/* A program that the kernel was given is its only symbol. */
static bool load_bpf(struct ps_dso *dso)
{
	const struct ps_symbol symbol = {
		.start = dso->id.start,
		.end = dso->id.start + dso->id.len,
		.name = dso->id.name,
		.length = (uint32_t)strlen(dso->id.name),
		.binding = PS_GLOBAL,
		.function = true,
	};

	if (!dso->id.len || symbol.end < symbol.start) {
		dso->reason = "it has no address";
		return false;
	}
	return ps_table_add(&dso->table, &symbol, dso->id.len) &&
	       ps_table_finish(&dso->table, PS_FILE);
}

typedef const char *name_fn(const struct ps_dso *dso, char *text, size_t size);

/* What is said of each kind, and how its symbols are looked for. */
static const struct kind {
	name_fn *name, *short_name;
	ps_load_fn *load; /* NULL: it has none */
} kinds[] = {
	[PS_USER] = { recorded_name, file_name, ps_load_user },
	[PS_KERNEL] = { recorded_name, kernel_name, ps_load_kernel },
	[PS_MODULE] = { module_name, module_name, ps_load_module },
	[PS_VDSO] = { recorded_name, recorded_name, ps_load_vdso },
	[PS_JIT] = { recorded_name, jit_name, ps_load_jit },
	[PS_BPF] = { recorded_name, recorded_name, load_bpf },
	[PS_DATA] = { recorded_name, file_name, NULL },
};

bool ps_dso_name(struct ps_dso *dso)
{
	const struct kind *kind = &kinds[dso->id.kind];
	char text[PATH_MAX];

	dso->name = dso->id.shown ?
			    dso->id.shown :
			    ps_store_text(dso->store, kind->name(dso, text, sizeof(text)));
	dso->short_name = ps_store_text(dso->store, kind->short_name(dso, text, sizeof(text)));
	return dso->name && dso->short_name;
}

void ps_dso_tried(struct ps_dso *dso, const char *path, const char *where, const char *verdict)
{
	struct ps_tried *tried;

	if (dso->n_tried % 8 == 0) {
		tried = reallocarray(dso->tried, dso->n_tried + 8, sizeof(*tried));
		if (!tried)
			return;
		dso->tried = tried;
	}
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

bool ps_dso_load_locked(struct ps_dso *dso)
{
	struct ps_interrupt *interrupt = dso->store->options.interrupt;
	ps_load_fn *load = kinds[dso->id.kind].load;
	bool loaded = false;

	if (dso->state != PS_UNTRIED)
		return dso->state == PS_LOADED;
	if (ps_interrupted(interrupt))
		return false;
	if (load)
		loaded = load(dso);
	else
		dso->reason = "memory that is no file";
	if (!loaded && interrupt && atomic_load(&interrupt->cut)) {
		/* as if nobody had asked: what was read of it would be taken for all */
		ps_table_deinit(&dso->table);
		dso->reason = NULL;
		dso->n_tried = 0;
		return false;
	}
	if (!loaded && !dso->reason)
		dso->reason = "no memory";
	/* last: who reads it without the lock then reads all that was written before */
	__atomic_store_n(&dso->state, loaded ? PS_LOADED : PS_MISSING, __ATOMIC_RELEASE);
	return loaded;
}

#define MAX_MAPPINGS 64 /* different ones of a file; a loader makes one for each segment */

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
	struct ps_mapping *mappings;

	if (dso->state != PS_UNTRIED || is_noted(dso, mapping))
		return true;
	mappings = reallocarray(dso->mappings, dso->n_mappings + 1, sizeof(*mappings));
	if (!mappings)
		return false;
	dso->mappings = mappings;
	mappings[dso->n_mappings++] = *mapping;
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

bool ps_dso_load(struct ps_dso *dso)
{
	bool loaded;

	pthread_mutex_lock(&dso->store->lock);
	loaded = ps_dso_load_locked(dso);
	pthread_mutex_unlock(&dso->store->lock);
	return loaded;
}

bool ps_dso_elf_address(struct ps_dso *dso, uint64_t address, uint64_t *elf_address)
{
	struct ps_elf elf;
	const char *reason;
	bool found;

	if (dso->id.kind == PS_KERNEL && dso->path && !dso->kallsyms) {
		*elf_address = address - dso->bias;
		return true;
	}
	if (dso->id.kind != PS_USER && dso->id.kind != PS_VDSO)
		return false;
	if (!dso->runtime)
		return ps_segments_address(dso->segments, dso->n_segments, address,
					   elf_address);
	if (!ps_elf_open(&elf, dso->store->options.symfs, dso->runtime, &reason))
		return false;
	found = ps_elf_address(&elf, address, elf_address);
	ps_elf_close(&elf);
	return found;
}

const struct ps_symbol *ps_dso_symbol_at(struct ps_dso *dso, uint64_t address, uint64_t time)
{
	const struct ps_symbol *symbol = ps_dso_symbol(dso, address), *made = NULL;

	if (dso->jitdump)
		made = ps_jitdump_find(dso->jitdump, address, time);
	return made ? made : symbol;
}

uint64_t ps_dso_symbol_last(struct ps_dso *dso, uint64_t address, uint64_t time)
{
	return dso->jitdump && ps_dso_load(dso) ? ps_jitdump_last(dso->jitdump, address, time) :
						  UINT64_MAX;
}

size_t ps_dso_symbols(const struct ps_dso *dso)
{
	if (__atomic_load_n(&dso->state, __ATOMIC_ACQUIRE) != PS_LOADED)
		return 0;
	return dso->table.n + (dso->jitdump ? dso->jitdump->n : 0);
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
