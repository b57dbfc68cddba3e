/*
 * The table of build-ids that perf writes at the end of a recording. Maps that do not state
 * their own build-id get it from there, by the name of the file.
 */
#ifndef PERFLUA_MACHINE_BUILDIDS_H
#define PERFLUA_MACHINE_BUILDIDS_H

#include "symbols/symbols.h"
#include "string_pool.h"
#include "sources.h"

/* A file, by its device and inode. */
struct pm_inode {
	uint32_t major, minor;
	uint64_t number; /* 0: not known */
};

/* Facts about all binaries of one name. */
struct pm_named_binary {
	struct ps_build_id build_id; /* build-id in the table; size 0: none */
	uint32_t n_rows;	     /* rows of the table with it */
	const char *path;	     /* spelling in the table; NULL: not there */
	/* first that was mapped without a build-id of its own; NULL: none */
	struct ps_dso *dso;
	struct pm_inode file;  /* first that was mapped by this name */
	struct pm_inode *more; /* [n_more]: others of the name, on a device each */
	size_t n_more, room;
	/* several files have the name, so the table does not say which one it means */
	bool is_ambiguous;
};

struct pm_buildids {
	struct pm_string_pool *strings;
	struct pb_id_map by_name;     /* machine, kind and name → number in `list` */
	struct pm_named_binary *list; /* [n] */
	size_t n, capacity;
	unsigned filename, build_id; /* numbers of field names */
};

void pm_buildids_init(struct pm_buildids *ids, const struct pd_session *session,
		      struct pm_string_pool *strings);
void pm_buildids_deinit(struct pm_buildids *ids);

/*
 * Returns the facts about the binary that a record in `mode` maps by name `path`; adds them if
 * they are new. They are valid until the next addition. Returns NULL without memory.
 */
struct pm_named_binary *pm_buildids_get(struct pm_buildids *ids, uint32_t machine,
					enum pd_cpumode mode, const char *path);

/*
 * Notes that a file was mapped by the name. A second one makes the name ambiguous, as a row of
 * the table is of one file; but files on as many devices as the table has rows with one
 * build-id are copies, as containers of one image have them: perf reads the build-id of each in
 * the mount namespace of its process (see __dsos__read_build_ids, tools/perf/util/dsos.c).
 */
void pm_named_binary_note_file(struct pm_named_binary *named, const struct ps_file_id *file);

/*
 * Add the table in the header of a recording, and a BUILD_ID record, which stands for a row of
 * it. Return false without memory.
 */
bool pm_buildids_read(struct pm_buildids *ids, struct pd_file *file, uint32_t machine);
bool pm_buildids_add(struct pm_buildids *ids, const struct pd_record *rec, uint32_t machine);

/* Copies `n` bytes to *id, at most PS_MAX_BUILD_ID. */
void pm_build_id_set(struct ps_build_id *id, const void *bytes, size_t n);

/* Returns true if `text` begins with `with`. */
static inline bool pm_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Returns true if perf calls the kernel of a host or a guest so. */
static inline bool pm_is_kernel_name(const char *name)
{
	return pm_begins(name, "[kernel.kallsyms") || pm_begins(name, "[guest.kernel.kallsyms");
}

static inline bool pm_is_kernel(enum pd_cpumode mode)
{
	return mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_GUEST_KERNEL;
}

static inline bool pm_is_guest(enum pd_cpumode mode)
{
	return mode == PD_CPUMODE_GUEST_KERNEL || mode == PD_CPUMODE_GUEST_USER;
}

#endif
