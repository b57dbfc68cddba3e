#include "lines_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "symbols/elf/elf_parts.h"
#include "symbols/find.h"
#include "symbols/internal.h"
#include "symbols/load.h"
#include "lines.h"

struct search {
	struct ps_debug *debug;
	const struct ps_dso *dso;
	struct ps_build_id wanted; /* size 0: not known */
	uint64_t bias;
};

/* Makes the path of a file that the one at `path` names, relative to that or below symfs. */
static bool make_linked_path(const char *symfs, const char *path, const char *name,
			     char full[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	int n = name[0] == '/' || !slash ?
			snprintf(full, PATH_MAX, "%s%s", symfs, name) :
			snprintf(full, PATH_MAX, "%.*s/%s", (int)(slash - path), path, name);

	return n > 0 && n < PATH_MAX;
}

static bool find_by_build_id(const char *symfs, const struct ps_build_id *id,
			     char full[PATH_MAX])
{
	char text[PS_BUILD_ID_TEXT];
	int n;

	ps_build_id_text(id, text);
	n = snprintf(full, PATH_MAX, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", symfs, text,
		     text + 2);
	return n > 0 && n < PATH_MAX;
}

/* Opens the file that dwz made of shared parts. Without it some names are not known. */
static void open_shared(struct ps_debug *debug, const char *symfs)
{
	const struct ps_image *image = &debug->image;
	const char *root = symfs ? symfs : "";
	char path[PATH_MAX];

	if (!image->shared)
		return;
	if (!(make_linked_path(root, image->path, image->shared, path) &&
	      ps_image_open(&debug->shared, symfs, path, &image->shared_id)) &&
	    !(find_by_build_id(root, &image->shared_id, path) &&
	      ps_image_open(&debug->shared, symfs, path, &image->shared_id)))
		return;
	debug->size += debug->shared.size;
	dwarf_setalt(image->dwarf, debug->shared.dwarf);
}

/*
 * Finds where the kernel lay, relative to its file. A list of symbols (kallsyms) tells only
 * where it lay; the symbol that the recording names gives the difference.
 */
static bool find_bias(struct search *search, const char *path)
{
	const struct ps_dso *dso = search->dso;
	struct ps_elf file;
	const char *reason;
	uint64_t address;
	bool found;

	if (dso->id.kind == PS_MODULE) {
		search->bias = -PS_MODULE_BASE;
		return true;
	}
	if (dso->path && strcmp(path, dso->path) == 0) {
		search->bias = dso->bias;
		return true;
	}
	if (!dso->id.reference || !dso->id.reference_address ||
	    !ps_elf_open(&file, dso->store->options.symfs, path, &reason))
		return false;
	found = ps_elf_symbol_address(&file, dso->id.reference, &address);
	ps_elf_close(&file);
	search->bias = dso->id.reference_address - address;
	return found;
}

static bool open_image(void *arg, const struct ps_candidate *candidate)
{
	struct search *search = arg;
	struct ps_debug *debug = search->debug;
	const char *symfs = search->dso->store->options.symfs, *path = candidate->path;

	if (!ps_image_open(&debug->image, symfs, path, &search->wanted))
		return false;
	debug->size = debug->image.size;
	if (!debug->offsets && !find_bias(search, path)) {
		ps_image_close(&debug->image);
		return false;
	}
	debug->bias = search->bias;
	open_shared(debug, symfs);
	return true;
}

/* Notes a file that open_image() would take, which costs little. */
static bool note_image(void *arg, const struct ps_candidate *candidate)
{
	struct search *search = arg;
	struct ps_debug *debug = search->debug;
	const char *symfs = search->dso->store->options.symfs, *path = candidate->path;

	if (!ps_image_fits(symfs, path, &search->wanted) ||
	    (!debug->offsets && !find_bias(search, path)))
		return false;
	debug->image.path = strdup(path);
	return debug->image.path;
}

/* Looks for the file with the debug information of `dso`, which `fn` takes. */
static bool find_debug(struct ps_debug *debug, struct ps_dso *dso, ps_try_fn *fn)
{
	struct search search = { debug, dso, dso->id.build_id, 0 };
	const char *reason;

	*debug = (struct ps_debug){ .dso = dso, .runtime.fd = -1 };
	debug->offsets = dso->id.kind == PS_USER || dso->id.kind == PS_VDSO;
	if ((!debug->offsets && dso->id.kind != PS_KERNEL && dso->id.kind != PS_MODULE) ||
	    !ps_dso_load(dso))
		return false;
	/* a debug file has program headers, too, but with other offsets */
	if (debug->offsets && dso->runtime) {
		if (!ps_elf_open(&debug->runtime, dso->store->options.symfs, dso->runtime,
				 &reason))
			return false;
		if (!search.wanted.size)
			search.wanted = debug->runtime.build_id;
	}
	if (dso->path && !dso->packed &&
	    fn(&search, &(struct ps_candidate){ dso->path, PS_EXTRACT, NULL }))
		return true;
	/* any kernel's file may be at that path; names of a bundle prove no file */
	if (((debug->offsets && !dso->packed) || search.wanted.size) &&
	    ps_find(dso, fn, &search))
		return true;
	ps_debug_close(debug);
	return false;
}

bool ps_debug_open(struct ps_debug *debug, struct ps_dso *dso)
{
	return find_debug(debug, dso, open_image);
}

bool ps_dso_debug_file(struct ps_dso *dso, char *path, size_t size)
{
	struct ps_debug debug;
	bool found = find_debug(&debug, dso, note_image);

	if (!found)
		return false;
	found = (size_t)snprintf(path, size, "%s", debug.image.path) < size;
	ps_debug_close(&debug);
	return found;
}

void ps_debug_close(struct ps_debug *debug)
{
	ps_image_close(&debug->image);
	ps_image_close(&debug->shared);
	if (debug->runtime.elf)
		ps_elf_close(&debug->runtime);
}

bool ps_debug_address(struct ps_debug *debug, uint64_t address, uint64_t *file_address)
{
	if (debug->runtime.elf)
		return ps_elf_address(&debug->runtime, address, file_address);
	if (debug->offsets)
		return ps_segments_address(debug->dso->segments, debug->dso->n_segments,
					   address, file_address);
	*file_address = address - debug->bias;
	return true;
}
