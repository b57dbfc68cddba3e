/*
 * A dso is a binary that was mapped: a file, the kernel, a module, code made at run time.
 *
 * Its addresses depend on its kind: offsets in the file (PS_USER, PS_VDSO) or from the start of
 * the module (PS_MODULE), else the addresses that the processor used. See ps_dso_is_absolute().
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
	PS_KERNEL, /* [kernel.kallsyms], also of a guest */
	PS_MODULE, /* of the kernel: a path, or a name in brackets */
	PS_VDSO,   /* [vdso], [vdso32], [vdsox32] */
	PS_JIT,	   /* /tmp/perf-PID.map: code made at run time */
	PS_BPF,	   /* the code that a KSYMBOL record names, its only symbol */
	/* memory without a file and code: [stack], [heap], //anon; has no symbols */
	PS_DATA,
};

/* The identity of a mapped file in the kernel. */
struct ps_file_id {
	uint32_t major, minor; /* numbers of the device */
	uint64_t inode;	       /* 0: not recorded */
	uint32_t generation;   /* generation of the inode; 0: not known */
	bool is_ambiguous; /* several files had that name, or that inode one after the other */
};

/* Tells one binary from another. Strings are copied. */
struct ps_dso_id {
	enum ps_kind kind;
	bool guest;
	const char *name; /* as recorded; for PS_JIT "/tmp/perf-PID.map" */
	/* perf's name after its build-id table; NULL: the name follows from the kind */
	const char *shown;
	struct ps_build_id build_id;
	struct ps_file_id file; /* for PS_USER without a build-id */
	uint64_t start, len; /* for PS_KERNEL, PS_MODULE and PS_BPF: where it was, in bytes */
	/*
	 * For PS_KERNEL: a symbol ("_text", "_stext") and its recorded address; 0: it was
	 * hidden.
	 */
	const char *reference;
	uint64_t reference_address;
	int32_t pid; /* for PS_JIT: in the pid namespace of the recording */
};

struct ps_store;

/* A file that was tried for the symbols of a binary. The strings are the store's. */
struct ps_tried {
	const char *path;
	const char *where;   /* source of the path: "build-id cache"; NULL: nothing to say */
	const char *verdict; /* "has the symbols", or why it was not taken */
};

enum ps_state {
	PS_UNTRIED, /* no symbol was asked for yet */
	PS_LOADED,  /* has symbols */
	PS_MISSING, /* none were found: see `reason` */
};

struct ps_dso {
	struct ps_store *store;
	struct ps_dso_id id; /* identity; its strings belong to the store */
	/* perf's name: "/usr/bin/ls", "[kernel.kallsyms]", "[ext4]", "[vdso]" */
	const char *name;
	size_t name_length;
	const char *short_name; /* perf report's name: "ls", "[ext4]", "[JIT] tid 12" */
	enum ps_state state;
	struct ps_table table;
	/* Files that the symbols come from; the strings are the store's. */
	/* the file with the symbol table, maybe a debug file; with `packed` as it was there */
	const char *path;
	/* was mapped: its program headers say where; may be `path` */
	const char *runtime;
	/* for PS_MODULE: a list of the kernel's symbols that has the module's; may be NULL */
	const char *list;
	/*
	 * [n_segments]: for PS_USER if only a debug file was found: the segments whose offsets
	 * in the mapped file follow from `mappings`. `runtime` is NULL then.
	 */
	struct ps_segment *segments;
	size_t n_segments;
	uint64_t bias; /* for PS_KERNEL: address in the file + bias = address in the dso */
	/* for PS_KERNEL: bytes from the first to the last symbol of its list; 0: it had none */
	uint64_t listed;
	struct ps_mapping *mappings; /* [n_mappings]: different ones, for PS_USER */
	size_t n_mappings, mappings_room;
	const char *reason;	/* for PS_MISSING: "no file with its build-id was found" … */
	struct ps_tried *tried; /* [n_tried]: in the order of the search, also for PS_LOADED */
	size_t n_tried, tried_room;
	struct ps_lines *lines; /* see lines/; NULL: not asked for yet */
	void (*destroy_lines)(struct ps_lines *lines);
	void (*end_lines)(struct ps_lines *lines);
	/* for PS_KERNEL: has the modules' symbols, too; may be NULL */
	struct ps_kallsyms *kallsyms;
	struct ps_jitdump *jitdump; /* for PS_JIT; may be NULL */
	/* the symbols are those of a bundle, which has no file; NULL: they are not */
	const struct ps_packed *packed;
	bool is_stripped;	/* the symbols are those that a stripped file has */
	struct ps_asked *asked; /* collects what is asked; NULL: nothing does */
};

/* Returns true if addresses of the dso are those that the processor used. */
static inline bool ps_dso_is_absolute(const struct ps_dso *dso)
{
	return dso->id.kind == PS_KERNEL || dso->id.kind == PS_JIT || dso->id.kind == PS_BPF ||
	       dso->id.kind == PS_DATA;
}

/*
 * Notes how a part of a PS_USER dso was mapped. Ignored once its symbols were looked for, and
 * when several different ones were noted before. Returns false without memory.
 */
bool ps_dso_add_mapping(struct ps_dso *dso, const struct ps_mapping *mapping);

/* Returns the path of the mapped file; NULL: not looked for yet, or not found. */
static inline const char *ps_dso_runtime(const struct ps_dso *dso)
{
	/* `state` is written last, by one thread, so what it stands for can be read */
	return __atomic_load_n(&dso->state, __ATOMIC_ACQUIRE) == PS_UNTRIED ? NULL :
									      dso->runtime;
}

/* Returns true if the symbols of `dso` are those of a file that no build-id proves. */
static inline bool ps_dso_is_unproven(const struct ps_dso *dso)
{
	return __atomic_load_n(&dso->state, __ATOMIC_ACQUIRE) == PS_LOADED &&
	       (dso->id.kind == PS_USER || dso->id.kind == PS_MODULE) &&
	       !dso->id.build_id.size && dso->path && !dso->packed;
}

/*
 * Notes the jitdump of a PS_JIT dso, whose symbols were not asked for yet: `path` of a file
 * jit-PID.dump, as recorded. `monotonic` is true if the recording's clock is CLOCK_MONOTONIC,
 * as is that of most dumps; if the clocks differ, the code made last counts at all times.
 * Returns false without memory.
 */
bool ps_dso_set_jitdump(struct ps_dso *dso, const char *path, bool monotonic);

/* Returns the part of `path` after its last slash; all of it if nothing is after it. */
static inline const char *ps_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * Writes the name of the kernel module at `path` to name[size]:
 * "/lib/modules/6.1/kernel/fs/my-fs.ko.xz" is [my_fs], and a name in brackets stays. Returns
 * false if it is not the path of a module. See __kmod_path__parse, tools/perf/util/dso.c.
 */
bool ps_module_name(const char *path, char *name, size_t size);

/*
 * Returns true if process `pid` maps the file at `path` to announce its jitdump:
 * "/any/where/jit-PID.dump".
 */
bool ps_is_jitdump(const char *path, int32_t pid);

#endif
