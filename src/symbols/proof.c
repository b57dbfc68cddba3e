#define _GNU_SOURCE

#include "proof.h"

#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbols/elf/elf.h"
#include "symbols/elf/elf_placing.h"
#include "symbols/elf/file.h"
#include "symbols/elf/text.h"
#include "find.h"
#include "internal.h"
#include "kallsyms.h"
#include "kernel.h"
#include "load.h"

#define OTHER_SYSTEM                                                                    \
	"its build-id was not recorded, and nothing proves that the recording is from " \
	"this system (use the option any_binary)"
#define OTHER_PROCESS                                                                     \
	"names of generated code may belong to another process: nothing proves that the " \
	"recording is from this system (use the option any_binary)"
#define OTHER_FILE                                                                \
	"its build-id was not recorded, and the file here is not the mapped one " \
	"(use the option any_binary)"

/*
 * Reads device and inode of a mapping of this process as the kernel shows them. stat() may give
 * others, of btrfs and overlayfs, but records of mappings have these: see show_map_vma(),
 * fs/proc/task_mmu.c.
 */
static void read_mapping(const void *at, struct ps_file_id *id)
{
	const char *reason, *next;
	struct ps_line_text line;
	size_t size;
	char *text = ps_text_read("/proc/self/maps", &size, &reason);

	next = text;
	while (text && ps_text_line(&next, text + size, &line)) {
		uint64_t start, inode;
		uint32_t major, minor;
		char fields[128];

		if (!ps_text_hex(&line, &start) || start != (uintptr_t)at)
			continue;
		/* "-7f21f0a01000 r--p 00000000 fe:00 247134" and a path */
		snprintf(fields, sizeof(fields), "%.*s", (int)(line.end - line.at), line.at);
		if (sscanf(fields, "-%*x %*s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64, &major,
			   &minor, &inode) == 3) {
			id->major = major;
			id->minor = minor;
			id->inode = inode;
		}
		break;
	}
	free(text);
}

/* The identity of a file here, in mappings and by stat(). */
struct here {
	struct ps_file_id mapped, status;
	uint64_t size;
};

static bool read_here(const char *path, struct here *here)
{
	long generation = 0; /* filesystems write only 4 bytes of it */
	const char *reason;
	struct stat status;
	int fd = ps_file_open(NULL, path, &status, &reason);
	void *at;

	if (fd < 0)
		return false;
	here->size = (uint64_t)status.st_size;
	here->status = (struct ps_file_id){
		.major = major(status.st_dev),
		.minor = minor(status.st_dev),
		.inode = status.st_ino,
	};
	if (ioctl(fd, FS_IOC_GETVERSION, &generation) == 0)
		memcpy(&here->status.generation, &generation, sizeof(uint32_t));
	here->mapped = here->status;
	at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at != MAP_FAILED) {
		read_mapping(at, &here->mapped);
		munmap(at, 1);
	}
	close(fd);
	return true;
}

/* Returns true if two files are one, as far as their generations are known. */
static bool is_same_file(const struct ps_file_id *a, const struct ps_file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode &&
	       (a->generation == b->generation || !a->generation || !b->generation);
}

/* Returns true if all mappings of a binary lie in the file of `size` bytes at `path`. */
static bool has_mappings(const struct ps_dso *dso, const char *path, uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end;
	struct ps_parts parts = { 0 };
	struct ps_elf elf;
	const char *reason;
	bool has = true, opened = ps_elf_open(&elf, NULL, path, &reason);

	if (opened)
		has = ps_parts_init(&parts, elf.elf);
	for (size_t i = 0; has && i < dso->n_mappings; i++) {
		const struct ps_mapping *mapping = &dso->mappings[i];

		/*
		 * the first segment may be mapped with the length of all of them, the rest
		 * after the end
		 */
		has = (!__builtin_add_overflow(mapping->pgoff, mapping->len, &end) &&
		       end <= ((size + page - 1) & ~(page - 1))) ||
		      ps_mapping_fits(&parts, mapping, dso->store->options.arch);
	}
	ps_parts_deinit(&parts);
	if (opened)
		ps_elf_close(&elf);
	return has;
}

/* Refuses the files of this machine as those of another one. Returns false. */
static bool doubt_system(const struct ps_dso *dso, struct ps_doubt *doubt)
{
	doubt->reason = dso->id.kind == PS_JIT ? OTHER_PROCESS : OTHER_SYSTEM;
	return false;
}

static bool doubt_file(struct ps_doubt *doubt, const struct ps_file_id *found,
		       const struct ps_file_id *recorded)
{
	doubt->reason = OTHER_FILE;
	if (recorded->is_ambiguous)
		snprintf(doubt->found, sizeof(doubt->found),
			 "several files of that name were mapped");
	else
		snprintf(doubt->found, sizeof(doubt->found),
			 "found device %" PRIx32 ":%" PRIx32 ", inode %" PRIu64
			 ", recorded was %" PRIx32 ":%" PRIx32 ", inode %" PRIu64,
			 found->major, found->minor, found->inode, recorded->major,
			 recorded->minor, recorded->inode);
	return false;
}

static bool is_proven_file(const struct ps_dso *dso, struct ps_doubt *doubt)
{
	const struct ps_file_id *recorded = &dso->id.file;
	bool is_here = ps_store_is_here(dso->store), same;
	struct here here;

	if (!recorded->inode || !ps_store_path(dso->store, dso->id.name, doubt->path) ||
	    !read_here(doubt->path, &here))
		return (is_here && !recorded->is_ambiguous) || doubt_system(dso, doubt);
	/* perf inject writes the values of stat() */
	same = !recorded->is_ambiguous &&
	       (is_same_file(recorded, &here.mapped) || is_same_file(recorded, &here.status));
	if (is_here)
		return same || doubt_file(doubt, &here.mapped, recorded);
	if (!same ||
	    (dso->store->options.host && !(here.mapped.generation && recorded->generation)) ||
	    !has_mappings(dso, doubt->path, here.size))
		return doubt_system(dso, doubt);
	return true;
}

bool ps_is_proven(const struct ps_dso *dso, struct ps_doubt *doubt)
{
	const struct ps_options *options = &dso->store->options;

	*doubt = (struct ps_doubt){ .reason = NULL };
	if (dso->id.build_id.size || options->any_binary || options->symfs)
		return true;
	if (dso->id.guest)
		return doubt_system(dso, doubt);
	if (dso->id.kind == PS_USER)
		return is_proven_file(dso, doubt);
	/* load_vdso() asks for a proof that the running kernel is the recorded one */
	if (dso->id.kind == PS_VDSO)
		return true;
	return ps_store_is_here(dso->store) || doubt_system(dso, doubt);
}

bool ps_check_proof(struct ps_dso *dso)
{
	struct ps_doubt doubt;

	if (ps_is_proven(dso, &doubt))
		return true;
	dso->reason = doubt.reason;
	if (*doubt.found)
		ps_dso_tried(dso, doubt.path, "recorded path", doubt.found);
	return false;
}

static const struct ps_build_id none;

static struct ps_build_id identify_file(const struct ps_dso *dso, const char **reason)
{
	struct ps_doubt doubt;

	if (!ps_is_proven(dso, &doubt)) {
		*reason = doubt.reason;
		return none;
	}
	*reason = "no file with a build-id is at its path";
	return ps_wanted_build_id(dso);
}

/* Reads the build-id of "[module]", which the running kernel has loaded. */
static struct ps_build_id identify_loaded(const char *module)
{
	struct ps_build_id id = none;
	char path[NAME_MAX + 64];

	snprintf(path, sizeof(path), "/sys/module/%.*s/notes/.note.gnu.build-id",
		 (int)strcspn(module + 1, "]/"), module + 1);
	return ps_read_notes(path, &id) ? id : none;
}

/* Returns the build-id of the file that the symbols of a part of the kernel come from. */
static struct ps_build_id identify_system(struct ps_dso *dso, const char **reason)
{
	struct ps_build_id id = none;
	struct ps_elf elf;

	if (!ps_dso_load(dso)) {
		*reason = dso->reason;
		return none;
	}
	*reason = "nothing with a build-id was found for it";
	if (dso->packed)
		return none;
	if (dso->kallsyms)
		return dso->kallsyms->running && ps_read_notes(PS_KERNEL_NOTES, &id) ? id :
										       none;
	if (dso->id.kind == PS_MODULE && dso->list)
		return identify_loaded(dso->short_name);
	if (ps_elf_open(&elf, dso->store->options.symfs, dso->path, reason)) {
		id = elf.build_id;
		ps_elf_close(&elf);
	}
	return id;
}

struct ps_build_id ps_dso_identify(struct ps_dso *dso, const char **reason)
{
	*reason = NULL;
	if (dso->id.build_id.size)
		return dso->id.build_id;
	switch (dso->id.kind) {
	case PS_USER:
		return identify_file(dso, reason);
	case PS_KERNEL:
	case PS_MODULE:
	case PS_VDSO:
		return identify_system(dso, reason);
	default:
		return none;
	}
}

void ps_pick_init(struct ps_pick *pick, struct ps_dso *dso)
{
	pick->dso = dso;
	pick->wanted = ps_wanted_build_id(dso);
	pick->n_files = 0;
	pick->syms = pick->runtime = NULL;
	pick->others = false;
	pick->no_file = NULL;
}

void ps_pick_deinit(struct ps_pick *pick)
{
	while (pick->n_files)
		ps_elf_close(&pick->files[--pick->n_files].elf);
}

/* Returns true if a file was built together with the recorded one. */
static bool has_wanted_build(struct ps_pick *pick, const struct ps_elf *elf,
			     const struct ps_candidate *candidate)
{
	char found[PS_BUILD_ID_TEXT], wanted[PS_BUILD_ID_TEXT], why[160];

	if (!pick->wanted.size || ps_build_id_equal(&elf->build_id, &pick->wanted))
		return true;
	ps_build_id_text(&pick->wanted, wanted);
	if (elf->build_id.size)
		snprintf(why, sizeof(why), "build-id differs: found %s, recorded %s",
			 ps_build_id_text(&elf->build_id, found), wanted);
	else
		snprintf(why, sizeof(why), "has no build-id, recorded was %s", wanted);
	ps_dso_tried(pick->dso, candidate->path, candidate->where, why);
	pick->others = true;
	return false;
}

/* Returns what a file is good for; a file picked before is not taken again. */
static const char *choose_verdict(const struct ps_pick *pick, bool syms, bool runtime)
{
	if (syms)
		return runtime ? PS_HAS_SYMBOLS ", and is what was mapped" : PS_HAS_SYMBOLS;
	if (runtime)
		return "is what was mapped: its program headers are used";
	return pick->syms ? "not needed: another file has the symbols" : "has no symbol table";
}

/*
 * The mapped file is recognized by its dynamic symbols, as in perf, or by its source: a
 * statically linked, stripped program has no dynamic symbols.
 */
bool ps_pick_try(void *arg, const struct ps_candidate *candidate)
{
	struct ps_pick *pick = arg;
	struct ps_picked *file = &pick->files[pick->n_files];
	const char *path = candidate->path, *reason;
	enum ps_found found = candidate->found;
	bool syms, runtime;

	if (!ps_elf_open(&file->elf, pick->dso->store->options.symfs, path, &reason)) {
		ps_dso_tried(pick->dso, path, candidate->where, reason);
		if (found == PS_IMAGE && ps_file_is_other(reason))
			pick->no_file = reason;
		return false;
	}
	syms = !pick->syms && file->elf.symtab;
	runtime = !pick->runtime && !file->elf.is_debug &&
		  (file->elf.dynsym || file->elf.opd || found == PS_IMAGE);
	if (!has_wanted_build(pick, &file->elf, candidate)) {
		ps_elf_close(&file->elf);
		return false;
	}
	file->tried = pick->dso->n_tried;
	ps_dso_tried(pick->dso, path, candidate->where, choose_verdict(pick, syms, runtime));
	if (!(syms || runtime)) {
		ps_elf_close(&file->elf);
		return false;
	}
	snprintf(file->path, sizeof(file->path), "%s", path);
	pick->n_files++;
	if (syms)
		pick->syms = file;
	if (runtime)
		pick->runtime = file;
	return pick->syms && pick->runtime;
}

static bool add_symbols(struct ps_dso *dso, struct ps_elf *syms, struct ps_elf *runtime,
			enum ps_addresses addresses)
{
	const struct ps_target target = {
		.table = &dso->table,
		.addresses = addresses,
		.mangled = dso->store->options.mangled,
		.segments = dso->segments,
		.n_segments = dso->n_segments,
	};

	return ps_elf_add_symbols(&target, syms, runtime);
}

/*
 * Adds the compressed table of symbols in a stripped file, which has those that its dynamic
 * symbols lack.
 */
static bool add_debugdata(struct ps_pick *pick, enum ps_addresses addresses)
{
	struct ps_elf inner;
	bool added;

	if (!ps_elf_open_debugdata(&inner, &pick->runtime->elf))
		return true;
	added = !inner.symtab || add_symbols(pick->dso, &inner, &pick->runtime->elf, addresses);
	ps_elf_close(&inner);
	return added;
}

static const char *explain_failure(struct ps_pick *pick)
{
	if (pick->dso->id.kind == PS_USER && pick->runtime && pick->runtime->elf.is_debug &&
	    !pick->dso->n_segments) {
		ps_dso_judge(pick->dso, pick->runtime->tried,
			     "a debug file, and no recorded mapping matches exactly one of its "
			     "segments");
		return "only a debug file was found, which does not say where its code "
		       "was mapped from: the binary itself is needed";
	}
	for (size_t i = 0; i < pick->n_files; i++)
		ps_dso_judge(pick->dso, pick->files[i].tried, "no symbols in it");
	if (pick->n_files)
		return "no symbols in it";
	if (pick->others)
		return "no file with its build-id was found";
	return pick->no_file ? pick->no_file : "no file was found";
}

/* Adds the symbols of the picked files. Returns false without memory. */
static bool add_picked(struct ps_pick *pick, enum ps_addresses addresses)
{
	struct ps_dso *dso = pick->dso;
	struct ps_elf *runtime;

	if (!pick->runtime)
		pick->runtime = pick->syms;
	if (!pick->runtime)
		return true;
	runtime = &pick->runtime->elf;
	if (!runtime->is_debug)
		dso->runtime = ps_store_text(dso->store, pick->runtime->path);
	else if (addresses == PS_FILE_OFFSETS &&
		 !ps_place_segments(runtime->elf, dso->mappings, dso->n_mappings,
				    dso->store->options.arch, &dso->segments, &dso->n_segments))
		return false;
	if (!pick->syms && !add_debugdata(pick, addresses))
		return false;
	if (!pick->syms)
		pick->syms = pick->runtime;
	return add_symbols(dso, &pick->syms->elf, runtime, addresses);
}

bool ps_pick_load(struct ps_pick *pick, enum ps_addresses addresses)
{
	struct ps_dso *dso = pick->dso;
	bool has_table = pick->syms, added = add_picked(pick, addresses);

	if (!dso->table.n) {
		dso->reason = added ? explain_failure(pick) : "no memory";
		return false;
	}
	dso->path = ps_store_text(dso->store, pick->syms->path);
	dso->is_stripped = !has_table;
	if (!has_table)
		ps_dso_judge(dso, pick->syms->tried,
			     "is what was mapped: has only the symbols of a stripped file");
	return true;
}
