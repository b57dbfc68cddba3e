/*
 * The binaries of the recorded system: which one a record maps, told apart and named as perf
 * does.
 */
#ifndef PERFLUA_MACHINE_BINARIES_H
#define PERFLUA_MACHINE_BINARIES_H

#include "buildids.h"
#include "machine/maps/maps.h"

/* The kernel of a host machine. */
struct pm_kernel {
	struct ps_dso *dso; /* NULL: none was mapped */
	uint64_t start;
	/*
	 * First address of the kernel; lower ones are of processes. UINT64_MAX: kernel and
	 * processes each have all addresses.
	 */
	uint64_t border;
};

struct pm_binaries {
	const struct pd_session *session;
	struct pm_string_pool *strings;
	struct ps_options options;
	struct ps_store **stores;  /* [n_files], by machine; NULL: not needed yet */
	struct pm_kernel *kernels; /* [n_files], by machine: of the host, as mapped last */
	struct pm_buildids build_ids;
	struct {
		unsigned addr, len, pgoff, prot, flags, filename, build_id, name, unregister;
		unsigned maj, min, ino, ino_generation;
	} ids; /* numbers of field names */
};

/*
 * Initializes *binaries; `options` may be NULL. Returns false without memory:
 * pm_binaries_deinit() is to be called then, too.
 */
bool pm_binaries_init(struct pm_binaries *binaries, const struct pd_session *session,
		      const struct ps_options *options, struct pm_string_pool *strings);
void pm_binaries_deinit(struct pm_binaries *binaries);

/* Identifies where a record maps something: machine, cpumode and process. */
struct pm_mapped {
	uint32_t machine;
	enum pd_cpumode mode;
	int32_t pid; /* pid of the guest, for a guest's kernel */
};

/*
 * Sets *map to the mapping that a record of type MMAP, MMAP2 or KSYMBOL describes, except for
 * its time. If the record maps nothing that has a binary, map->dso is NULL, and *removed says
 * whether the record removes what is mapped there. Texts are copied to the string pool. Returns
 * false without memory.
 */
bool pm_binaries_map(struct pm_binaries *binaries, const struct pd_record *rec,
		     const struct pm_mapped *mapped, struct pm_map *map, bool *removed);

#endif
