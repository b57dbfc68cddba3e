#define _GNU_SOURCE
#include "module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "load_internal.h"
#include "pick.h"
#include "proof.h"
#include "symbols/elf/file.h"
#include "symbols/elf/text.h"

/* Returns true if a loaded module is still where it was, as it may have been loaded again. */
static bool is_module_unmoved(const char *name, uint64_t start)
{
	const char *reason, *at;
	struct ps_line_text line;
	bool there = false;
	size_t size, length = strlen(name) - 2;
	char *text = ps_text_read("/proc/modules", &size, &reason);

	/* "ext4 983040 1 - Live 0xffffffffc0300000" */
	at = text;
	while (text && !there && ps_text_line(&at, text + size, &line)) {
		const char *hex = memmem(line.at, (size_t)(line.end - line.at), " 0x", 3);
		uint64_t address;

		if (!hex || (size_t)(line.end - line.at) <= length ||
		    memcmp(line.at, name + 1, length) != 0 || line.at[length] != ' ')
			continue;
		line.at = hex + 1;
		there = ps_text_hex(&line, &address) && address == start;
	}
	free(text);
	return there;
}

/* Adds the symbols of a module from the text that has the kernel's. */
static bool add_kallsyms(struct ps_dso *dso, struct ps_dso *kernel,
			 ps_load_other_fn *load_other)
{
	const struct ps_kallsyms *kallsyms;

	if (kernel->id.kind != PS_KERNEL || kernel->id.guest != dso->id.guest)
		return true;
	load_other(kernel);
	kallsyms = kernel->kallsyms;
	if (!kallsyms || kallsyms->delta)
		return true;
	if (kallsyms->running && !is_module_unmoved(dso->short_name, dso->id.start)) {
		ps_dso_tried(dso, "/proc/modules", NULL, "not loaded there");
		return true;
	}
	if (!ps_kallsyms_module(kallsyms, dso->short_name, dso->id.start, dso->id.len,
				&dso->table))
		return false;
	if (dso->table.n)
		dso->list = kernel->path;
	ps_dso_tried(dso, kernel->path, "symbols of the kernel",
		     dso->table.n ? PS_HAS_SYMBOLS : "looked for its symbols");
	return true;
}

static bool load_file(struct ps_dso *dso, ps_find_fn *find)
{
	struct ps_pick pick;
	bool loaded;

	ps_pick_init(&pick, dso);
	find(dso, ps_pick_try, &pick);
	loaded = ps_pick_load(&pick, PS_MODULE_OFFSETS) &&
		 ps_table_finish(&dso->table, PS_SYSTEM);
	ps_pick_deinit(&pick);
	return loaded;
}

bool ps_load_module(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	struct ps_store *store = dso->store;

	if (ps_check_proof(dso) && load_file(dso, ps_find_here))
		return true;
	for (size_t i = 0; i < store->n && !dso->table.n; i++)
		if (!add_kallsyms(dso, store->dsos[i], load_other))
			return false;
	if (!dso->table.n && (!dso->id.build_id.size || !load_file(dso, ps_find_servers)))
		return false;
	dso->reason = NULL;
	return true;
}

static bool same_name(char a, char b)
{
	return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

/* Returns true if `path` is that of module `name`: "kernel/fs/my-fs.ko.xz" is of "[my_fs]". */
static bool is_module(const char *path, size_t length, const char *name)
{
	const char *slash = memrchr(path, '/', length), *at = slash ? slash + 1 : path;

	for (name++; *name && *name != ']'; name++, at++)
		if (at == path + length || !same_name(*at, *name))
			return false;
	return path + length - at >= 3 && memcmp(at, ".ko", 3) == 0;
}

/*
 * A line of modules.dep is the path of a module, a colon, and the paths of modules that it
 * needs.
 */
bool ps_module_path(const char *symfs, const char *release, const char *name, char *path,
		    size_t size)
{
	struct ps_line_text line;
	const char *reason, *at;
	struct stat status;
	bool found = false;
	size_t length;
	char *text;
	int n;

	n = snprintf(path, size, "%s/lib/modules/%s/modules.dep", symfs, release);
	if (n < 0 || (size_t)n >= size || *name != '[')
		return false;
	text = ps_text_take(ps_file_open(symfs, path, &status, &reason), &status, &length,
			    &reason);
	at = text;
	while (text && !found && ps_text_line(&at, text + length, &line)) {
		const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));

		if (!colon || !is_module(line.at, (size_t)(colon - line.at), name))
			continue;
		n = snprintf(path, size, "%s%s%s%s%.*s", symfs,
			     *line.at == '/' ? "" : "/lib/modules/",
			     *line.at == '/' ? "" : release, *line.at == '/' ? "" : "/",
			     (int)(colon - line.at), line.at);
		found = n > 0 && (size_t)n < size;
	}
	free(text);
	return found;
}
