/* Loads symbols of the kernel: see dso__load_kernel_sym, tools/perf/util/symbol.c. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/elf/file.h"
#include "load_internal.h"
#include "kallsyms.h"
#include "notes.h"
#include "pick.h"
#include "symbols/elf/text.h"

#define RUNNING	  "/proc/kallsyms"
#define HERE	  "the kernel that runs here"
#define ELSEWHERE "is at another address than the recorded kernel"

static struct ps_reference get_reference(const struct ps_dso *dso)
{
	return (struct ps_reference){ dso->id.reference, dso->id.reference_address };
}

/* Loads the symbols of a kallsyms text, at their recorded addresses. */
static bool load_kallsyms(struct ps_dso *dso, const char *path, const char *where)
{
	const struct ps_options *options = &dso->store->options;
	bool running = strcmp(path, RUNNING) == 0;
	struct ps_kallsyms *kallsyms;
	const char *reason;
	struct stat status;
	int fd = running || path == options->kallsyms ?
			 ps_file_open_chosen(path, &status, &reason) :
			 ps_file_open(options->symfs, path, &status, &reason);

	kallsyms = ps_kallsyms_read(fd, &status, get_reference(dso), options->interrupt,
				    &reason);
	if (!kallsyms) {
		ps_dso_tried(dso, path, where, reason);
		return false;
	}
	ps_dso_tried(dso, path, where, PS_HAS_SYMBOLS);
	kallsyms->running = running;
	dso->kallsyms = kallsyms;
	dso->table = kallsyms->kernel;
	kallsyms->kernel = (struct ps_table){ 0 };
	if (dso->table.n)
		dso->listed = dso->table.symbols[dso->table.n - 1].end -
			      dso->table.symbols[0].start;
	dso->path = ps_store_text(dso->store, path);
	return true;
}

/*
 * Loads the symbols of the kernel's file. The kernel lay elsewhere than its file says: the
 * reference symbol tells by how much.
 */
static bool load_vmlinux(struct ps_dso *dso, ps_find_fn *find)
{
	const struct ps_reference reference = get_reference(dso);
	struct ps_pick pick;
	uint64_t address;
	bool loaded;

	ps_pick_init(&pick, dso);
	find(dso, ps_pick_try, &pick);
	if (pick.syms && reference.name && reference.address &&
	    ps_elf_symbol_address(&pick.syms->elf, reference.name, &address))
		dso->bias = reference.address - address;
	loaded = ps_pick_load(&pick, PS_VIRTUAL);
	ps_pick_deinit(&pick);
	if (!loaded)
		return false;
	ps_table_move(&dso->table, dso->bias);
	return ps_table_finish(&dso->table, PS_FILE);
}

/*
 * Loads the running kernel's symbols for a recording without build-ids, such as a piped or a
 * compressed one. They are used if machine and release have the recorded names, and the code
 * begins and ends where the recorded one did, which differs between builds, and between boots
 * with random addresses. The first lines tell of another begin, so that the rest need not be
 * read: the kernel takes tens of milliseconds to write it.
 */
static bool load_running_as_placed(struct ps_dso *dso)
{
	const struct ps_options *options = &dso->store->options;
	uint64_t end = dso->id.start + dso->id.len;

	dso->reason = "its build-id was not recorded, so no kernel can be matched "
		      "(use the option kallsyms)";
	if (dso->id.guest || options->symfs || !dso->id.reference_address ||
	    !ps_store_is_here(dso->store))
		return false;
	if (ps_kallsyms_is_elsewhere(RUNNING, get_reference(dso))) {
		ps_dso_tried(dso, RUNNING, HERE, ELSEWHERE);
		return false;
	}
	if (!load_kallsyms(dso, RUNNING, HERE))
		return false;
	if (!dso->kallsyms->delta &&
	    (dso->kallsyms->ends[0] == end || dso->kallsyms->ends[1] == end)) {
		dso->reason = NULL;
		return true;
	}
	ps_dso_judge(dso, dso->n_tried - 1, ELSEWHERE);
	ps_table_deinit(&dso->table);
	ps_kallsyms_destroy(dso->kallsyms);
	dso->kallsyms = NULL;
	dso->listed = 0;
	dso->path = NULL;
	return false;
}

/* Loads the symbols of the running kernel, if it is provably the recorded one. */
static bool load_running(struct ps_dso *dso)
{
	char found[PS_BUILD_ID_TEXT], wanted[PS_BUILD_ID_TEXT], why[160];
	struct ps_build_id id;

	if (dso->id.guest || dso->store->options.symfs)
		return false;
	if (!ps_read_notes(PS_KERNEL_NOTES, &id)) {
		ps_dso_tried(dso, RUNNING, HERE,
			     "the build-id of the kernel that runs is not known");
		return false;
	}
	if (ps_build_id_equal(&id, &dso->id.build_id))
		return load_kallsyms(dso, RUNNING, HERE);
	snprintf(why, sizeof(why), "build-id differs: found %s, recorded %s",
		 ps_build_id_text(&id, found), ps_build_id_text(&dso->id.build_id, wanted));
	ps_dso_tried(dso, RUNNING, HERE, why);
	return false;
}

/*
 * Loads the copy of kallsyms in perf's cache: a file in a directory, in older ones the file
 * itself.
 */
static bool load_cached(struct ps_dso *dso)
{
	static const char *const names[] = { "/kallsyms", "" };
	const char *dir = dso->store->buildid_dir;
	char path[PATH_MAX], text[PS_BUILD_ID_TEXT];
	int n;

	ps_build_id_text(&dso->id.build_id, text);
	for (size_t i = 0; dir && i < sizeof(names) / sizeof(*names); i++) {
		n = snprintf(path, sizeof(path), "%s/[kernel.kallsyms]/%s%s", dir, text,
			     names[i]);
		if (n > 0 && (size_t)n < sizeof(path) &&
		    load_kallsyms(dso, path, "build-id cache"))
			return true;
	}
	return false;
}

/*
 * Loads the file that the caller or the recording names. It is the only one used, whatever its
 * build-id.
 */
static bool load_given(struct ps_dso *dso, bool *given)
{
	const struct ps_options *options = &dso->store->options;
	char path[PATH_MAX];
	int n;

	*given = !dso->id.guest;
	if (dso->id.guest)
		return false;
	if (options->kallsyms)
		return load_kallsyms(dso, options->kallsyms, "option kallsyms");
	if (options->vmlinux)
		return load_vmlinux(dso, ps_find_here);
	if (options->kcore_dir) {
		n = snprintf(path, sizeof(path), "%s/kallsyms", options->kcore_dir);
		if (n > 0 && (size_t)n < sizeof(path) &&
		    load_kallsyms(dso, path, "the recording itself"))
			return true;
	}
	*given = false;
	return false;
}

bool ps_load_kernel(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	bool given;

	(void)load_other;
	if (load_given(dso, &given))
		return true;
	if (given) {
		dso->reason = "the given file cannot be used";
		return false;
	}
	if (!dso->id.build_id.size)
		return load_running_as_placed(dso);
	/* servers come last, as a kernel is large */
	if (load_vmlinux(dso, ps_find_here) || load_running(dso) || load_cached(dso) ||
	    load_vmlinux(dso, ps_find_servers)) {
		dso->reason = NULL;
		return true;
	}
	dso->reason = "no kernel with its build-id was found";
	return false;
}

bool ps_kernel_runs(struct ps_store *store, ps_load_other_fn *load_other)
{
	for (size_t i = 0; i < store->n; i++) {
		struct ps_dso *dso = store->dsos[i];

		if (dso->id.kind == PS_KERNEL && !dso->id.guest && load_other(dso))
			return dso->kallsyms && dso->kallsyms->running && !dso->kallsyms->delta;
	}
	return false;
}
