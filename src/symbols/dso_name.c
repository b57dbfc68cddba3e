/* Makes the names of binaries that perf script and perf report show. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

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
