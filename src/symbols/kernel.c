#define _GNU_SOURCE
#include "kernel.h"

#include <dirent.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/file.h"
#include "symbols/elf/text.h"
#include "kallsyms.h"
#include "proof.h"

/* The note has type 3 (NT_GNU_BUILD_ID) and the owner "GNU", as in ELF files. */
bool ps_read_notes(const char *path, struct ps_build_id *id)
{
	const char *reason;
	size_t size, at = 0;
	char *notes = ps_text_read(path, &size, &reason);
	bool found = false;
	Elf64_Nhdr note;

	while (notes && !found && size - at >= sizeof(note)) {
		size_t name, desc;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (size - at < name || size - at - name < note.n_descsz)
			break;
		found = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			memcmp(notes + at, "GNU", 4) == 0 && note.n_descsz <= PS_MAX_BUILD_ID;
		if (found) {
			id->size = (uint8_t)note.n_descsz;
			memcpy(id->bytes, notes + at + name, note.n_descsz);
		}
		at = size - at - name < desc ? size : at + name + desc;
	}
	free(notes);
	return found;
}

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
