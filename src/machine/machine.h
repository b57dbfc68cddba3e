/*
 * The public header of machine: records → the recorded system. Who ran, and by what name, is
 * indexed by time, so any record may ask for its own, in any order.
 *
 *	struct pm_machine *machine = pm_machine_create(session);
 *
 *	if (!machine || !pm_machine_read(machine, 1, &err)) …
 *	pm_field(resolver, &rec, &(struct pd_asked){ PD_M_COMM }, &value);
 *
 * Of a stream, which passes once, each record is given to pm_machine_add as it comes.
 *
 * The recordings of a session are of one system if their clocks agree, else each is of a system
 * of its own. So is one without times, where the order of its records is taken for theirs.
 */
#ifndef PERFLUA_MACHINE_MACHINE_H
#define PERFLUA_MACHINE_MACHINE_H

#include "fields.h"
#include "frames.h"
#include "history.h"
#include "incoming.h"
#include "maps.h"
#include "places.h"
#include "sources.h"
#include "threads.h"

struct pm_machine;
struct pm_resolver;

/*
 * NULL: no memory. The session and the options' strings must outlive it. Of the options what
 * the recording says itself (release, host, arch, kcore_dir) is filled in.
 */
struct pm_machine *pm_machine_create(const struct pd_session *session,
				     const struct ps_options *options);
void pm_machine_destroy(struct pm_machine *machine);

/*
 * Forgets all that it took in; nothing that it gave may be used any more. False: no memory; it
 * can but be destroyed.
 */
bool pm_machine_clear(struct pm_machine *machine);

/* Adds to a set of types those of the records that say something of the system. */
void pm_machine_types(struct pd_types *types);

/* The message of the error "INTERRUPTED", behind the path. */
#define PM_INTERRUPTED "interrupted while reading names"

/*
 * Takes in what all records of the session say, which at most so many threads look for. False:
 * see err, also where the session's interrupt ends it: names from a part of the records would
 * be wrong.
 */
bool pm_machine_read(struct pm_machine *machine, unsigned threads, struct pd_error *err);

/* Takes in a record, if it is of those types. False: no memory. */
bool pm_machine_add(struct pm_machine *machine, const struct pd_record *rec);

/*
 * Makes now what is made when it is first asked for: after that any number of threads may ask,
 * each with a resolver of its own, as long as nothing is added. Binaries are opened as they are
 * needed all the same: those and what is kept of their lines have locks of their own. False: no
 * memory.
 */
bool pm_machine_prepare(struct pm_machine *machine);

/* How many records it took in: as long as they do not become more, its answers stay. */
uint64_t pm_machine_taken(const struct pm_machine *machine);

/* Where that number is, for whoever asks for every record. */
const uint64_t *pm_machine_takes(const struct pm_machine *machine);

/* Numbers of the names of fields that are asked for. */
struct pm_ids {
	unsigned pid, tid, ppid, ptid, comm, cgroup, cgroup_id, path, ip, addr, sample_id;
};
const struct pm_ids *pm_machine_ids(const struct pm_machine *machine);

/*
 * These give what fields.h asks of a record's thread (pm_comm is faster), control group and
 * guest. With `forgets` a thread that has exited has no name.
 */
void pm_comm_of(const struct pm_machine *machine, const struct pd_record *rec, bool forgets,
		struct pd_value *out);
/*
 * Returns true if thread `tid` had exited by the time of a record, or was forked by a thread
 * that had, so that perf forgot it.
 */
bool pm_is_forgotten(const struct pm_machine *machine, const struct pd_record *rec,
		     int32_t tid);
void pm_cgroup_path_of(const struct pm_machine *machine, const struct pd_record *rec,
		       struct pd_value *out);
bool pm_guest_of(const struct pm_machine *machine, const struct pd_record *rec,
		 int32_t *machine_pid, int32_t *vcpu);

/*
 * The life of thread tid of a system at a time (PM_NO_TIME: its last); false if it is not
 * known. Times are in ns; PM_NO_TIME: before the recording began, after it ended, or not known.
 */
struct pm_life {
	int32_t tid, pid;
	/* the number of the recording that it is of; 0: the only one, or several */
	uint32_t source;
	struct pd_value comm;
	uint64_t start, exit;
};
bool pm_machine_life(const struct pm_machine *machine, uint32_t system, int32_t tid,
		     uint64_t time, struct pm_life *life);

/* The life of a thread that its moment `at` is of, as that moment left it. */
void pm_machine_life_of(const struct pm_machine *machine, const struct pm_thread *thread,
			ptrdiff_t at, struct pm_life *life);

/* Its binaries, of a system; NULL: it has none yet. */
struct ps_store *pm_machine_store(const struct pm_machine *machine, uint32_t system);

/* The address spaces of all systems. */
struct pm_spaces *pm_machine_spaces(const struct pm_machine *machine);

/* The threads of all systems, as they were met. */
const struct pm_threads *pm_machine_threads(const struct pm_machine *machine);

/*
 * A resolver answers questions about addresses and keeps what it found. It belongs to one
 * thread. NULL: no memory.
 */
struct pm_resolver *pm_resolver_create(struct pm_machine *machine);
void pm_resolver_destroy(struct pm_resolver *resolver);
struct pm_machine *pm_resolver_machine(const struct pm_resolver *resolver);

#endif
