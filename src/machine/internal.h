/* Internal to the module: the recorded system, and what it is made of. */
#ifndef PERFLUA_MACHINE_INTERNAL_H
#define PERFLUA_MACHINE_INTERNAL_H

#include "base/hash.h"
#include "base/map.h"
#include "machine/maps/maps.h"
#include "symbols/symbols.h"
#include "machine.h"
#include "sources.h"
#include "string_pool.h"

/*
 * The table of build-ids that perf writes at the end of a recording. Maps that do not state
 * their own build-id get it from there, by the name of the file.
 */

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

/*
 * The binaries of the recorded system: which one a record maps, told apart and named as perf
 * does.
 */

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

/*
 * The guests in a recording, as far as events were opened for them. Each guest is a machine of
 * its own; their numbers follow those of the recordings.
 */

#define PM_NO_MACHINE UINT32_MAX

struct pm_guest_cpu {
	int32_t machine_pid, vcpu;
};

struct pm_guests {
	uint32_t n_files, n;
	struct pb_id_map by_pid;   /* host machine and pid of a guest → its number */
	struct pb_id_map *by_id;   /* [n_files]: id of an event → number in `cpus` */
	struct pm_guest_cpu *cpus; /* [n_cpus] */
	size_t n_cpus, capacity;
	unsigned id, entries; /* numbers of field names */
};

bool pm_guests_init(struct pm_guests *guests, const struct pd_session *session);
void pm_guests_deinit(struct pm_guests *guests);

/* Adds the guests that an ID_INDEX record names. Returns false without memory. */
bool pm_guests_add(struct pm_guests *guests, const struct pd_record *rec);

/* Returns the guest and virtual processor that a record's event is of; NULL: of none. */
const struct pm_guest_cpu *pm_guests_of(const struct pm_guests *guests,
					const struct pd_record *rec);

/*
 * Returns the machine of the guest with process `pid` on host `machine`. A guest that is not
 * known is the one without a pid. PM_NO_MACHINE: that is not known either. See
 * machines__find_guest, tools/perf/util/machine.c.
 */
uint32_t pm_guests_machine(const struct pm_guests *guests, uint32_t machine, int32_t pid);
/*
 * Does what pm_guests_machine() does, but adds a guest that is not known. PM_NO_MACHINE: no
 * memory.
 */
uint32_t pm_guests_make(struct pm_guests *guests, uint32_t machine, int32_t pid);

/*
 * The user parts of call chains that the kernel records later than their samples, found by
 * thread and by the cookie that both have. See PERF_RECORD_CALLCHAIN_DEFERRED,
 * include/uapi/linux/perf_event.h.
 *
 * Many samples have the same chain: each distinct one is stored once, as differences between
 * successive addresses.
 */

struct pm_deferred_chain {
	uint64_t cookie;
	uint32_t machine;
	int32_t tid;
	uint64_t at; /* offset in `bytes`: the size of the chain (32 bits), then the chain */
};

struct pm_deferred {
	uint8_t *bytes; /* [n_bytes] */
	size_t n_bytes, room;
	uint64_t *kept; /* [n_kept]: offsets of the distinct chains in `bytes` */
	size_t n_kept, kept_room;
	struct pb_map by_bytes;		  /* numbers of `kept` */
	struct pm_deferred_chain *chains; /* [n] */
	size_t n, chain_room;
	struct pb_map by_key;	 /* numbers of `chains`, by machine, thread and cookie */
	struct pb_secret secret; /* secret of the hashes */
};

void pm_deferred_deinit(struct pm_deferred *deferred);

/*
 * Adds a CALLCHAIN_DEFERRED record; one that is damaged is ignored. Returns false without
 * memory.
 */
bool pm_deferred_add(struct pm_deferred *deferred, uint32_t machine, unsigned tid_id,
		     const struct pd_record *rec);

/*
 * Writes the addresses of a chain to `ips`, from the callee on, at most `n`, and sets *got to
 * their number. Returns false if the chain is not known (yet).
 */
bool pm_deferred_find(const struct pm_deferred *deferred, uint32_t machine, int32_t tid,
		      uint64_t cookie, uint64_t *ips, size_t n, size_t *got);

struct pm_system {
	const struct pd_session *session;
	struct pm_sources sources;
	struct pm_field_ids ids;
	struct pm_string_pool strings;
	struct pm_threads threads;
	struct pm_spaces *spaces;
	struct pm_binaries binaries;
	struct pm_guests guests;
	struct pm_deferred deferred;
	/*
	 * [2 * n_files]: id → number in `strings`, by recording, then by machine for those
	 * without an own record (perf record --switch-output writes them to the first file)
	 */
	struct pb_id_map *cgroups;
	uint64_t revision; /* records added: answers may change with each */
};

static inline uint32_t pm_machine_of(const struct pm_system *sys, const struct pd_record *rec)
{
	return pm_source_of(&sys->sources, rec)->machine;
}

/*
 * Sets *out to the name of thread `tid`, whose number is `name`. A thread without a name is
 * called ":tid", as in perf, and tid 0 is the idle thread.
 */
void pm_set_name(const struct pm_system *sys, int32_t tid, uint32_t name, struct pd_value *out);

#endif
