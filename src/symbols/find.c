#define _GNU_SOURCE
#include "find.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dso.h"
#include "internal.h"
#include "kernel.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/file.h"

/*
 * Fetches files from the servers that DEBUGINFOD_URLS names, through libdebuginfod if this
 * machine has it.
 */

/* Declared as in elfutils/debuginfod.h, which need not exist at build time. */
typedef struct debuginfod_client client;
typedef client *begin_fn(void);
typedef void end_fn(client *client);
typedef int find_fn(client *client, const unsigned char *build_id, int build_id_len,
		    char **path);

static bool fetch_file(void *library, const struct ps_build_id *id, bool debug, char *path,
		       size_t size)
{
	begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
	end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
	find_fn *find = (find_fn *)dlsym(library, debug ? "debuginfod_find_debuginfo" :
							  "debuginfod_find_executable");
	client *session;
	char *found = NULL;
	int fd, n = -1;

	if (!begin || !end || !find)
		return false;
	session = begin();
	if (!session)
		return false;
	fd = find(session, id->bytes, id->size, &found);
	end(session);
	if (fd < 0)
		return false;
	close(fd);
	if (found)
		n = snprintf(path, size, "%s", found);
	free(found);
	return n > 0 && (size_t)n < size;
}

/*
 * Fetches the file with build-id `id`, its debug information if `debug` is true, into the cache
 * of the library, and writes its path to path[size]. Returns false if there is none.
 */
static bool find_debuginfod(const struct ps_build_id *id, bool debug, char *path, size_t size)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	/* never unload the library: those that it loads in turn do not support that */
	return library && fetch_file(library, id, debug, path, size);
}

/* A search: the receiver of paths, and what they are made of. */
struct search {
	const struct ps_dso *dso;
	const char *symfs; /* "": none */
	const char *name;  /* the recorded path; NULL: it does not begin with / */
	struct ps_build_id id;
	const char *where; /* source of the paths that it tries now */
	ps_try_fn *fn;
	void *arg;
};

typedef bool step_fn(const struct search *search);

/* Gives a formatted path to the receiver, unless it is too long. */
__attribute__((format(printf, 3, 4))) static bool try_path(const struct search *search,
							   enum ps_found found,
							   const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return n > 0 && (size_t)n < sizeof(path) &&
	       search->fn(search->arg, &(struct ps_candidate){ path, found, search->where });
}

/*
 * Tries the file that .gnu_debuglink names: see debuglink_paths, tools/perf/util/dso.c. Unlike
 * perf it does not look in the working directory for a name without a directory.
 */
static bool try_debuglink(const struct search *search)
{
	const char *symfs = search->symfs, *name = search->name, *reason;
	char path[PATH_MAX], link[PATH_MAX];
	struct ps_elf elf;
	bool linked;
	int dir;

	if (!name || !ps_store_path(search->dso->store, name, path) ||
	    !ps_elf_open(&elf, symfs, path, &reason))
		return false;
	linked = ps_elf_debuglink(&elf, link, sizeof(link)) && *link;
	ps_elf_close(&elf);
	if (!linked)
		return false;
	dir = (int)(strrchr(name, '/') - name);
	return (*link == '/' && try_path(search, PS_EXTRACT, "%s%s", symfs, link)) ||
	       try_path(search, PS_EXTRACT, "%s%.*s/%s", symfs, dir, name, link) ||
	       try_path(search, PS_EXTRACT, "%s%.*s/.debug/%s", symfs, dir, name, link) ||
	       try_path(search, PS_EXTRACT, "%s/usr/lib/debug%.*s/%s", symfs, dir, name, link);
}

/*
 * Removes zeros at the end: older perfs wrote all build-ids as 20 bytes, but in files they are
 * shorter.
 */
static struct ps_build_id trim_build_id(const struct ps_build_id *id)
{
	struct ps_build_id trim_build_id = *id;

	while (trim_build_id.size > 16 && !trim_build_id.bytes[trim_build_id.size - 1])
		trim_build_id.size--;
	return trim_build_id.size == 16 ? trim_build_id : *id;
}

/*
 * Tries the build-id cache. A link there leads to a directory of files, in that of older perfs
 * to the file itself.
 */
static bool try_cached(const struct search *search, enum ps_found found, const char *file)
{
	const struct ps_build_id *recorded = &search->id;
	const struct ps_build_id ids[] = { *recorded, trim_build_id(recorded) };
	const char *dir = search->dso->store->buildid_dir;
	char text[PS_BUILD_ID_TEXT], path[PATH_MAX];

	if (!dir || !recorded->size)
		return false;
	for (size_t i = 0; i < (ids[1].size == ids[0].size ? 1 : 2); i++) {
		int n;

		ps_build_id_text(&ids[i], text);
		n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s", dir, text, text + 2);
		if (n < 0 || (size_t)n >= sizeof(path))
			return false;
		if (ps_file_exists(search->symfs, path) ?
			    try_path(search, found, "%s", path) :
			    try_path(search, found, "%s/%s", path, file))
			return true;
	}
	return false;
}

static bool try_cache(const struct search *search)
{
	return try_cached(search, PS_IMAGE, "elf");
}

static bool try_cache_debug(const struct search *search)
{
	return try_cached(search, PS_EXTRACT, "debug");
}

static bool try_cache_vdso(const struct search *search)
{
	return try_cached(search, PS_IMAGE, "vdso");
}

static bool try_debug_dir(const struct search *search)
{
	const struct ps_build_id id = trim_build_id(&search->id);
	char text[PS_BUILD_ID_TEXT];

	if (search->name &&
	    (try_path(search, PS_EXTRACT, "%s/usr/lib/debug%s.debug", search->symfs,
		      search->name) ||
	     try_path(search, PS_EXTRACT, "%s/usr/lib/debug%s", search->symfs, search->name)))
		return true;
	if (!id.size)
		return false;
	ps_build_id_text(&id, text);
	return try_path(search, PS_EXTRACT, "%s/usr/lib/debug/.build-id/%.2s/%s.debug",
			search->symfs, text, text + 2);
}

static bool try_recorded(const struct search *search)
{
	return search->name && try_path(search, PS_IMAGE, "%s%s", search->symfs, search->name);
}

/*
 * Tries the places of OpenEmbedded, beside the file, and of Ubuntu, which may have files of
 * /usr/lib below /lib.
 */
static bool try_elsewhere(const struct search *search)
{
	const char *name = search->name, *slash;

	if (!name)
		return false;
	slash = strrchr(name, '/');
	return try_path(search, PS_EXTRACT, "%s%.*s/.debug%s", search->symfs,
			(int)(slash - name), name, slash) ||
	       (strncmp(name, "/usr/lib/", 9) == 0 &&
		try_path(search, PS_EXTRACT, "%s/usr/lib/debug%s", search->symfs, name + 4));
}

/*
 * Tries files of the kernel, which must have the recorded build-id unless the caller named the
 * file: see vmlinux_paths, tools/perf/util/symbol.c.
 */
static bool try_vmlinux(const struct search *search)
{
	static const struct {
		const char *before, *after; /* around the release */
	} paths[] = {
		{ "/boot/vmlinux-", "" },
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/usr/lib/debug/boot/vmlinux-", ".debug" },
	};
	const struct ps_options *options = &search->dso->store->options;
	const char *symfs = search->symfs;

	if (!search->id.size)
		return false;
	if ((*symfs && try_path(search, PS_IMAGE, "%s/vmlinux", symfs)) ||
	    (!*symfs && try_path(search, PS_IMAGE, "vmlinux")) ||
	    try_path(search, PS_IMAGE, "%s/boot/vmlinux", symfs))
		return true;
	for (size_t i = 0; options->release && i < sizeof(paths) / sizeof(*paths); i++)
		if (try_path(search, PS_IMAGE, "%s%s%s%s", symfs, paths[i].before,
			     options->release, paths[i].after))
			return true;
	return false;
}

/* Returns the kernel's file that the caller named, the only one to be tried; NULL: none. */
static const char *get_given_kernel(const struct search *search)
{
	const struct ps_dso *dso = search->dso;

	return dso->id.guest ? NULL : dso->store->options.vmlinux;
}

static bool try_given(const struct search *search)
{
	const char *given = get_given_kernel(search);

	return given && try_path(search, PS_IMAGE, "%s", given);
}

static bool try_kernel_cache(const struct search *search)
{
	return !get_given_kernel(search) && try_cache(search);
}

static bool try_kernels(const struct search *search)
{
	return !get_given_kernel(search) && try_vmlinux(search);
}

/* Tries the file of "[ext4]" among the modules of the release. */
static bool try_modules(const struct search *search)
{
	const struct ps_dso *dso = search->dso;
	char path[PATH_MAX];

	return !search->name && search->id.size && dso->store->options.release &&
	       ps_module_path(search->symfs, dso->store->options.release, dso->short_name, path,
			      sizeof(path)) &&
	       try_path(search, PS_IMAGE, "%s", path);
}

#define STEPS 7

#define CACHE "build-id cache"

static const struct step {
	step_fn *fn;
	const char *where;
} steps[][STEPS] = {
	[PS_USER] = { { try_debuglink, "debug link" },
		      { try_cache, CACHE },
		      { try_cache_debug, CACHE },
		      { try_debug_dir, "/usr/lib/debug" },
		      { try_recorded, "recorded path" },
		      { try_elsewhere, "beside the recorded path" } },
	[PS_KERNEL] = { { try_given, "option vmlinux" },
			{ try_kernel_cache, CACHE },
			{ try_kernels, "places of kernels" } },
	[PS_MODULE] = { { try_cache, CACHE },
			{ try_cache_debug, CACHE },
			{ try_recorded, "recorded path" },
			{ try_modules, "modules of the release" } },
	[PS_VDSO] = { { try_cache_vdso, CACHE } },
	[PS_JIT] = { { NULL, NULL } },
	[PS_BPF] = { { NULL, NULL } },
	[PS_DATA] = { { NULL, NULL } },
};

struct ps_build_id ps_wanted_build_id(const struct ps_dso *dso)
{
	const char *reason;
	struct ps_build_id id = dso->id.build_id;
	char path[PATH_MAX];
	struct ps_elf elf;

	if (id.size || dso->id.kind != PS_USER || *dso->id.name != '/')
		return id;
	if (!ps_store_path(dso->store, dso->id.name, path) ||
	    !ps_elf_open(&elf, dso->store->options.symfs, path, &reason))
		return id;
	id = elf.build_id;
	ps_elf_close(&elf);
	return id;
}

/* Returns the recorded path, of a map or of the table of build-ids. */
static const char *get_recorded_path(const struct ps_dso *dso)
{
	if (*dso->id.name == '/')
		return dso->id.name;
	return dso->id.kind == PS_MODULE && dso->id.shown && *dso->id.shown == '/' ?
		       dso->id.shown :
		       NULL;
}

static struct search search_for(const struct ps_dso *dso, ps_try_fn *fn, void *arg)
{
	const char *symfs = dso->store->options.symfs;

	return (struct search){
		.dso = dso,
		.symfs = symfs ? symfs : "",
		.name = get_recorded_path(dso),
		.id = ps_wanted_build_id(dso),
		.fn = fn,
		.arg = arg,
	};
}

bool ps_find_here(struct ps_dso *dso, ps_try_fn *fn, void *arg)
{
	struct search search = search_for(dso, fn, arg);
	const struct step *step = steps[dso->id.kind];

	for (size_t i = 0; i < STEPS && step[i].fn; i++) {
		search.where = step[i].where;
		if (step[i].fn(&search))
			return true;
	}
	return false;
}

bool ps_find_servers(struct ps_dso *dso, ps_try_fn *fn, void *arg)
{
	struct search search = search_for(dso, fn, arg);
	char path[PATH_MAX];

	search.where = "debuginfod";
	if (!dso->store->options.debuginfod || !search.id.size)
		return false;
	for (int debug = 1; debug >= 0; debug--)
		if (find_debuginfod(&search.id, debug, path, sizeof(path)) &&
		    try_path(&search, debug ? PS_EXTRACT : PS_IMAGE, "%s", path))
			return true;
	return false;
}

bool ps_find(struct ps_dso *dso, ps_try_fn *fn, void *arg)
{
	return ps_find_here(dso, fn, arg) || ps_find_servers(dso, fn, arg);
}
