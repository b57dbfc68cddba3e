/*
 * A binary that was mapped: a file, the kernel, a module, code made at run time.
 *
 * Its addresses are those of its kind: an offset in the file (PS_USER, PS_VDSO), in the module
 * (PS_MODULE), or what the processor saw (the others). See ps_dso_is_absolute.
 */
#ifndef PERFLUA_SYMBOLS_DSO_H
#define PERFLUA_SYMBOLS_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "symbols/elf/build_id.h"
#include "symbols/elf/elf_placing.h"
#include "symbols/elf/table.h"

enum ps_kind {
	PS_USER,   /* a file */
	PS_KERNEL, /* [kernel.kallsyms], and that of a guest */
	PS_MODULE, /* of the kernel: a path, or a name in brackets */
	PS_VDSO,   /* [vdso], [vdso32], [vdsox32] */
	PS_JIT,	   /* /tmp/perf-PID.map: code made at run time */
	PS_BPF,	   /* what a KSYMBOL record names: it is its only symbol */
	/* memory that is no file, without code: [stack], [heap], //anon. Has no symbols */
	PS_DATA,
};

/* A file that was mapped, as the kernel knows it. */
struct ps_file_id {
	uint32_t major, minor; /* of its device */
	uint64_t inode;	       /* 0: not recorded */
	uint32_t generation;   /* of the inode; 0: not known */
	bool is_ambiguous;     /* several files are known by that name, or were by this inode */
};

/* What tells one binary from another. Strings are copied. */
struct ps_dso_id {
	enum ps_kind kind;
	bool guest;
	const char *name; /* as it was recorded; of PS_JIT "/tmp/perf-PID.map" */
	const char *
		/*
		 * NULL: by the kind's rule; else what perf calls it, after its build-id table
		 */
		shown;
	struct ps_build_id build_id;
	struct ps_file_id file; /* of PS_USER without a build-id */
	uint64_t start, len;	/* of PS_KERNEL, PS_MODULE and PS_BPF: where it was */
	/*
	 * of PS_KERNEL: a symbol and where it was then, 0 if that was hidden ("_text",
	 * "_stext")
	 */
	const char *reference;
	uint64_t reference_address;
	int32_t pid; /* of PS_JIT: in the namespace that the recording was made in */
};

struct ps_store;

/* A file that was looked at for the symbols of a binary. The strings are the store's. */
struct ps_tried {
	const char *path;
	const char *where;   /* that path comes from: "build-id cache"; NULL: nothing to say */
	const char *verdict; /* "has the symbols", or why it was not taken */
};

enum ps_state {
	PS_UNTRIED, /* nothing was asked yet */
	PS_LOADED,  /* has symbols */
	PS_MISSING, /* none were found: see reason */
};

struct ps_dso {
	struct ps_store *store;
	struct ps_dso_id id; /* its strings are the store's */
	const char *
		/* as perf names it: "/usr/bin/ls", "[kernel.kallsyms]", "[ext4]", "[vdso]" */
		name;
	const char *short_name; /* as perf report does: "ls", "[ext4]", "[JIT] tid 12" */
	enum ps_state state;
	struct ps_table table;
	/* what the symbols are of, when they are of a file; the store's */
	const char *path; /* has the table; of debug files too */
	const char *
		/* what was mapped: its program headers say where it lay; may be path */
		runtime;
	const char
		*list; /* of PS_MODULE: the kernel's symbols, which have its own; may be NULL */
	/*
	 * [n_segments]: of PS_USER where only a debug file was found, the segments whose
	 * offsets in the mapped file follow from `mappings`; `runtime` is NULL then
	 */
	struct ps_segment *segments;
	size_t n_segments;
	uint64_t bias; /* added to an address of the file gives that of the dso, of PS_KERNEL */
	struct ps_mapping *mappings; /* [n_mappings]: the different ones, of PS_USER */
	size_t n_mappings;
	const char *reason;	/* of PS_MISSING: "no file has its build-id" … */
	struct ps_tried *tried; /* [n_tried]: in the order of the search, also of PS_LOADED */
	size_t n_tried;
	struct ps_lines *lines; /* the module lines'; NULL: not asked for yet */
	void (*destroy_lines)(struct ps_lines *lines);
	struct ps_kallsyms
		*kallsyms; /* of PS_KERNEL: also has the modules' symbols; may be NULL */
	struct ps_jitdump *jitdump; /* of PS_JIT; may be NULL */
};

/* Is an address of it what the processor saw? */
static inline bool ps_dso_is_absolute(const struct ps_dso *dso)
{
	return dso->id.kind == PS_KERNEL || dso->id.kind == PS_JIT || dso->id.kind == PS_BPF ||
	       dso->id.kind == PS_DATA;
}

/*
 * Notes how a part of `dso`, of kind PS_USER, was mapped. Mappings that are noted after its
 * symbols were looked for are ignored, and so are more than a few different ones. False: no
 * memory.
 */
bool ps_dso_add_mapping(struct ps_dso *dso, const struct ps_mapping *mapping);

/* What was mapped, if it was looked for by now and found; else NULL. */
static inline const char *ps_dso_runtime(const struct ps_dso *dso)
{
	/* the state is written last, by one thread: what it says is there can be read */
	return __atomic_load_n(&dso->state, __ATOMIC_ACQUIRE) == PS_UNTRIED ? NULL :
									      dso->runtime;
}

/*
 * Returns whether symbols of `dso` were asked for, and are those of a file that no build-id
 * proves.
 */
static inline bool ps_dso_is_unproven(const struct ps_dso *dso)
{
	return __atomic_load_n(&dso->state, __ATOMIC_ACQUIRE) == PS_LOADED &&
	       (dso->id.kind == PS_USER || dso->id.kind == PS_MODULE) &&
	       !dso->id.build_id.size && dso->path;
}

/*
 * A process that mapped the file jit-PID.dump has the code it makes described there: `path` as
 * it was recorded, for a dso of kind PS_JIT of which no symbol was asked for yet. `monotonic`:
 * the recording's clock is CLOCK_MONOTONIC, which is that of most dumps; where times cannot be
 * compared what was made last holds all the time. False: no memory.
 */
bool ps_dso_set_jitdump(struct ps_dso *dso, const char *path, bool monotonic);

/* What follows the last slash of a path, unless nothing does. */
static inline const char *ps_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * The name of a module by its path: "/lib/modules/6.1/kernel/fs/my-fs.ko.xz" is [my_fs], what
 * is in brackets stays. False: the path is that of something else. See __kmod_path__parse,
 * tools/perf/util/dso.c.
 */
bool ps_module_name(const char *path, char *name, size_t size);

/*
 * Is a mapped file the mark that a process leaves for its jitdump: "/any/where/jit-PID.dump"?
 */
bool ps_is_jitdump(const char *path, int32_t pid);

#endif
