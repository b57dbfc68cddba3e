/*
 * The build-ids that a recording has in a table, by the names of files: those of maps that do
 * not say their own.
 */
#ifndef PERFLUA_MACHINE_BUILDIDS_H
#define PERFLUA_MACHINE_BUILDIDS_H

#include "symbols/symbols.h"
#include "names.h"
#include "sources.h"

/* What is known of the binaries of a name. */
struct pm_named {
	struct ps_build_id build_id; /* of the table; size 0: it has none for it */
	const char *path;	     /* as the table has it; NULL: likewise */
	struct ps_dso *dso; /* first that was mapped without a build-id of its own; or NULL */
	uint64_t inode;	    /* of the first file that was mapped by it; 0: not known */
	bool is_ambiguous;  /* several files have it: the table does not say which it means */
};

struct pm_buildids {
	struct pm_names *names;
	struct pb_id_map by_name; /* system, kind and name → its place in list */
	struct pm_named *list;	  /* [n] */
	size_t n, capacity;
	unsigned filename, build_id; /* numbers of names of fields */
};

void pm_buildids_init(struct pm_buildids *ids, const struct pd_session *session,
		      struct pm_names *names);
void pm_buildids_deinit(struct pm_buildids *ids);

/*
 * What is known of a binary by the name that a record maps it by, made if it is new; valid
 * until the next one is made. NULL: no memory.
 */
struct pm_named *pm_buildids_of(struct pm_buildids *ids, uint32_t system, enum pd_cpumode mode,
				const char *path);

/*
 * Takes in which file of that name was mapped; 0: not recorded. The build-id is that of one
 * file.
 */
void pm_named_note_inode(struct pm_named *named, uint64_t inode);

/*
 * Takes in the table of a recording, and a record that stands for a row of it. False: no
 * memory.
 */
bool pm_buildids_read(struct pm_buildids *ids, struct pd_file *file, uint32_t system);
bool pm_buildids_add(struct pm_buildids *ids, const struct pd_record *rec, uint32_t system);

void pm_build_id_set(struct ps_build_id *id, const void *bytes, size_t n);

/* How names of binaries begin, and whether it is that of the kernel. */
static inline bool pm_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

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
