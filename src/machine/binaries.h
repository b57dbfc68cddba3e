/*
 * The binaries of the recorded systems: which one a record maps, as perf tells them apart and
 * names them.
 */
#ifndef PERFLUA_MACHINE_BINARIES_H
#define PERFLUA_MACHINE_BINARIES_H

#include "buildids.h"
#include "maps.h"

struct pm_kernel {
	struct ps_dso *dso; /* NULL: none was mapped */
	uint64_t start;
	/*
	 * addresses from here on are the kernel's, the others of processes; UINT64_MAX: both
	 * have their own
	 */
	uint64_t border;
};

struct pm_binaries {
	const struct pd_session *session;
	struct pm_names *names;
	struct ps_options options;
	struct ps_store **stores; /* [n_files], by system; NULL: not needed yet */
	struct pm_kernel
		*kernels; /* [n_files], by system: of the host, the last that was mapped */
	struct pm_buildids build_ids;
	struct {
		unsigned addr, len, pgoff, prot, flags, filename, build_id, name, unregister;
		unsigned maj, min, ino, ino_generation;
	} ids; /* numbers of names of fields */
};

bool pm_binaries_init(struct pm_binaries *binaries, const struct pd_session *session,
		      const struct ps_options *options, struct pm_names *names);
void pm_binaries_deinit(struct pm_binaries *binaries);

/* Of which system, and in which mode, what a record maps is; of a guest its pid. */
struct pm_mapped {
	uint32_t system;
	enum pd_cpumode mode;
	int32_t pid; /* of the process; of a guest's kernel the guest's */
};

/*
 * Makes the map of a record of type MMAP, MMAP2 or KSYMBOL, but for its time. Where the record
 * makes none its dso is NULL, and *removed says whether it ends what is mapped there. Returns
 * false when there is no memory.
 */
bool pm_binaries_map(struct pm_binaries *binaries, const struct pd_record *rec,
		     const struct pm_mapped *mapped, struct pm_map *map, bool *removed);

#endif
