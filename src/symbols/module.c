#define _GNU_SOURCE
#include "module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/elf/file.h"
#include "load_internal.h"
#include "kallsyms.h"
#include "pick.h"
#include "proof.h"
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
