#define _GNU_SOURCE
#include "load.h"

#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/timing.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/file.h"
#include "symbols/elf/text.h"
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perfmap.h"
#include "bundle.h"
#include "kernel.h"
#include "proof.h"

static bool load_found(struct ps_pick *pick)
{
	bool loaded = ps_pick_load(pick, PS_FILE_OFFSETS) &&
		      ps_table_finish(&pick->dso->table, PS_FILE);

	ps_pick_deinit(pick);
	return loaded;
}

static bool load_user(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	struct ps_pick pick;

	(void)load_other;
	if (!ps_check_proof(dso))
		return false;
	ps_pick_init(&pick, dso);
	ps_find(dso, ps_pick_try, &pick);
	return load_found(&pick);
}

/* Writes the vdso that the kernel gave this process to `fd`. Its section headers come last. */
static bool write_own_vdso(int fd)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)image;
	size_t size;

	if (!image || memcmp(image, ELFMAG, SELFMAG) != 0)
		return false;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	return write(fd, image, size) == (ssize_t)size;
}

/*
 * Finds this process's vdso as an unlinked file, which lives as long as the store. `path` is
 * how to open it.
 */
static bool find_own_vdso(struct ps_store *store, char *path, size_t size)
{
	if (store->vdso_fd < 0) {
		store->vdso_fd = memfd_create("vdso", MFD_CLOEXEC);
		if (store->vdso_fd < 0)
			return false;
		if (!write_own_vdso(store->vdso_fd)) {
			close(store->vdso_fd);
			store->vdso_fd = -1;
			return false;
		}
	}
	snprintf(path, size, "/proc/self/fd/%d", store->vdso_fd);
	return true;
}

/*
 * The running kernel has the recorded vdso if the build-ids are equal, or if it is the recorded
 * kernel. It does not show its vdsos for 32-bit programs.
 */
static bool load_vdso(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	struct ps_pick pick;
	char path[64];

	if (!dso->id.build_id.size && !ps_kernel_runs(dso->store, load_other)) {
		dso->reason = "its build-id was not recorded, so no kernel can be matched";
		return false;
	}
	ps_pick_init(&pick, dso);
	if (!ps_find(dso, ps_pick_try, &pick) && strcmp(dso->id.name, "[vdso]") == 0 &&
	    !dso->id.guest && find_own_vdso(dso->store, path, sizeof(path)))
		ps_pick_try(&pick, &(struct ps_candidate){ path, PS_IMAGE,
							   "the kernel that runs here" });
	return load_found(&pick);
}

static FILE *open_stream(const struct ps_dso *dso, const char *path, const char **reason)
{
	struct stat status;
	int fd = ps_file_open_left(dso->store->options.symfs, path, &status, reason);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static bool load_dump(struct ps_jitdump *dump, struct ps_dso *dso)
{
	const char *reason = "no memory";
	char path[PATH_MAX];
	FILE *file;
	bool parsed;

	if (!ps_store_path(dso->store, dump->path, path))
		return false;
	file = open_stream(dso, path, &reason);
	parsed = file && ps_jitdump_parse(dump, file, &reason);
	if (file)
		fclose(file);
	ps_dso_tried(dso, path, "jitdump", parsed ? PS_HAS_SYMBOLS : reason);
	if (parsed)
		dso->path = ps_store_text(dso->store, path);
	return parsed;
}

static bool load_map_file(struct ps_dso *dso, const char *root, const char *path)
{
	const char *reason;
	struct stat status;
	size_t size;
	bool parsed;
	char *text;

	text = ps_text_take(ps_file_open_left(root, path, &status, &reason), &status, &size,
			    &reason);
	if (!text) {
		ps_dso_tried(dso, path, "perf map", reason);
		return false;
	}
	parsed = ps_perfmap_parse(&dso->table, text, size);
	free(text);
	if (!parsed || !dso->table.n) {
		ps_dso_tried(dso, path, "perf map",
			     parsed ? "no functions in it" : "no memory");
		return false;
	}
	ps_dso_tried(dso, path, "perf map", PS_HAS_SYMBOLS);
	dso->path = ps_store_text(dso->store, path);
	return true;
}

static bool load_map(struct ps_dso *dso)
{
	char path[PATH_MAX];

	return ps_store_path(dso->store, dso->id.name, path) &&
	       load_map_file(dso, dso->store->options.symfs, path);
}

/* Returns the id of a process in its innermost pid namespace; 0: there is no such process. */
static long find_inner_pid(int32_t pid)
{
	char path[64], line[256], *last = NULL;
	long inner = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/status", pid);
	status = fopen(path, "re");
	while (status && !last && fgets(line, sizeof(line), status))
		if (strncmp(line, "NSpid:", 6) == 0)
			last = strrchr(line, '\t');
	if (last)
		inner = strtol(last, NULL, 10);
	if (status)
		fclose(status);
	return inner;
}

/*
 * Loads the perf map of a process in a container, which writes it there, under its id there.
 * While the process runs, both can be found out: see nsinfo__init,
 * tools/perf/util/namespaces.c.
 */
static bool load_inner_map(struct ps_dso *dso)
{
	char root[32], path[96];
	long inner;

	if (dso->store->options.symfs || dso->id.guest || !ps_store_is_here(dso->store))
		return false;
	inner = find_inner_pid(dso->id.pid);
	if (inner <= 0)
		return false;
	snprintf(root, sizeof(root), "/proc/%" PRId32 "/root", dso->id.pid);
	snprintf(path, sizeof(path), "%s/tmp/perf-%ld.map", root, inner);
	return load_map_file(dso, root, path);
}

static bool load_jit(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	bool dumped;

	(void)load_other;
	if (!ps_check_proof(dso))
		return false;
	dumped = dso->jitdump && load_dump(dso->jitdump, dso);
	if (load_map(dso) || load_inner_map(dso) || dumped)
		return true;
	dso->reason = "the program left no perf map and no jitdump for its code";
	return false;
}

/* Adds the only symbol of a BPF program, the program itself. */
static bool load_bpf(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	const struct ps_symbol symbol = {
		.start = dso->id.start,
		.end = dso->id.start + dso->id.len,
		.name = dso->id.name,
		.length = (uint32_t)strlen(dso->id.name),
		.binding = PS_GLOBAL,
		.function = true,
	};

	(void)load_other;
	if (!dso->id.len || symbol.end < symbol.start) {
		dso->reason = "it has no address";
		return false;
	}
	return ps_table_add(&dso->table, &symbol, dso->id.len) &&
	       ps_table_finish(&dso->table, PS_FILE);
}

/* NULL: the kind has no symbols */
static ps_load_fn *const loaders[] = {
	[PS_USER] = load_user, [PS_KERNEL] = ps_load_kernel, [PS_MODULE] = ps_load_module,
	[PS_VDSO] = load_vdso, [PS_JIT] = load_jit,	     [PS_BPF] = load_bpf,
	[PS_DATA] = NULL,
};

static bool load_locked(struct ps_dso *dso)
{
	struct ps_interrupt *interrupt = dso->store->options.interrupt;
	ps_load_fn *load = loaders[dso->id.kind];
	bool loaded = false;

	if (dso->state != PS_UNTRIED)
		return dso->state == PS_LOADED;
	if (ps_interrupted(interrupt))
		return false;
	if (load)
		loaded = load(dso, load_locked);
	else
		dso->reason = "memory that is not mapped from a file";
	if (!loaded && interrupt && atomic_load(&interrupt->cut)) {
		/* forget what was read, which would be taken for all of it */
		ps_table_deinit(&dso->table);
		dso->reason = NULL;
		dso->n_tried = 0;
		return false;
	}
	if ((!loaded || dso->is_stripped) && ps_load_packed(dso))
		loaded = true;
	if (!loaded && !dso->reason)
		dso->reason = "no memory";
	/*
	 * write the state last: a reader without the lock then sees all that was written before
	 */
	__atomic_store_n(&dso->state, loaded ? PS_LOADED : PS_MISSING, __ATOMIC_RELEASE);
	return loaded;
}

bool ps_dso_load(struct ps_dso *dso)
{
	struct pb_lap lap;
	bool loaded;

	pthread_mutex_lock(&dso->store->lock);
	lap = pb_stage_enter(dso->state == PS_UNTRIED ? dso->store->options.timing : NULL, NULL,
			     PB_STAGE_SYMBOLS);
	loaded = load_locked(dso);
	pb_stage_leave_part(&lap, dso->name);
	pthread_mutex_unlock(&dso->store->lock);
	return loaded;
}

bool ps_dso_elf_address(struct ps_dso *dso, uint64_t address, uint64_t *elf_address)
{
	struct ps_elf elf;
	const char *reason;
	bool found;

	if (dso->id.kind == PS_KERNEL && dso->path && !dso->listed) {
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

const char *ps_elfutils_version(void)
{
	return dwfl_version(NULL);
}

bool ps_can_demangle(void)
{
#ifdef PERFLUA_LIBIBERTY
	return true;
#else
	return false;
#endif
}
