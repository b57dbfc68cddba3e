/*
 * The public header of machine: the recorded system, built from the records of a session.
 *
 * The system knows at any time which threads ran and how they were called, what they had mapped
 * where, and which functions lie there. It is indexed by time, so records may ask in any order.
 *
 *	struct pm_system *system = pm_system_create(session, &options);
 *	struct pm_resolver *resolver = pm_resolver_create(system);
 *
 *	if (!resolver || !pm_system_read(system, NULL, 1, false, NULL, &err)) …
 *	pm_field(resolver, &rec, &(struct pd_asked){ PD_SYS_COMM }, &value);
 *
 * A stream can be read only once: give each of its records to pm_system_add() as it comes,
 * instead of calling pm_system_read().
 *
 * The system consists of machines, as perf has them: a kernel, with the threads and address
 * spaces that it runs, of the host or of a guest. A host machine has the number of its first
 * recording, counted from 0. Recordings whose clocks agree, and that were packed with the same
 * names, are of one machine; any other recording is of a machine of its own. Guests are
 * numbered after all recordings (sources.c).
 *
 * Times are ns. In a recording without timestamps the position of a record stands for its time
 * (sources.h).
 */
#ifndef PERFLUA_MACHINE_MACHINE_H
#define PERFLUA_MACHINE_MACHINE_H

#include "machine/maps/maps.h"
#include "perfdata/container/session.h"
#include "fields.h"
#include "frames.h"
#include "locations.h"
#include "sideband.h"
#include "sources.h"
#include "threads.h"

struct pm_system;
struct pm_resolver;

/*
 * Creates a system that knows no more than the features of the recordings. Returns NULL without
 * memory.
 *
 * `session` must outlive the system, and so must the strings of `options`, which may be NULL.
 * The fields of `options` that the recording itself states (release, host, arch, kcore_dir) are
 * ignored.
 */
struct pm_system *pm_system_create(const struct pd_session *session,
				   const struct ps_options *options);
void pm_system_destroy(struct pm_system *system);

/*
 * Forgets all records. Threads, maps, binaries and texts that the system returned become
 * invalid. Returns false without memory: then the system can only be destroyed.
 */
bool pm_system_clear(struct pm_system *system);

/* Adds to `types` the record types that pm_system_add() learns something from. */
void pm_system_types(struct pd_types *types);

/* Message of the error INTERRUPTED, which follows the path of the recording. */
#define PM_INTERRUPTED "interrupted while reading names"

/*
 * Adds the records of the whole session, which must be readable again: those that `found`
 * gathered, or if it is NULL those that up to `threads` workers look for. If `is_ordered`, the
 * session is to be read in the order of time afterwards: the pass that makes the index for this
 * finds them. Returns false and sets *err if reading fails, memory is short, or `progress` says
 * no: a part of the records would give wrong names. Progress is asked in the calling thread.
 */
bool pm_system_read(struct pm_system *system, const struct pm_sideband *found, unsigned threads,
		    bool is_ordered, const struct pb_progress *progress, struct pd_error *err);

/*
 * Adds a record; one of a type that says nothing of the system is ignored. Records may come in
 * any order, but are added fastest in the order of time. Returns false without memory.
 */
bool pm_system_add(struct pm_system *system, const struct pd_record *rec);

/*
 * Sets *map to what a record of a mapping that was added maps, except for its time. Returns
 * false if that has no binary, or without memory.
 */
bool pm_system_mapped(struct pm_system *system, const struct pd_record *rec,
		      struct pm_map *map);

/*
 * Builds now what lookups would build on first use. Until the next pm_system_add() any number
 * of workers may then ask, each with its own resolver. Binaries are still opened on first use;
 * they and their line tables have locks of their own. Returns false without memory.
 */
bool pm_system_prepare(struct pm_system *system);

/*
 * Returns the number of records that pm_system_add() was given. Answers stay right as long as
 * the number does not change.
 */
uint64_t pm_system_revision(const struct pm_system *system);

/* Returns the address of that number, for callers that compare it for every record. */
const uint64_t *pm_system_revision_counter(const struct pm_system *system);

/* Numbers of field names (perfdata's names.h) that are looked up in records. */
struct pm_field_ids {
	unsigned pid, tid, ppid, ptid, comm, cgroup, cgroup_id, path, ip, addr, sample_id;
};
const struct pm_field_ids *pm_system_field_ids(const struct pm_system *system);

/*
 * These set *out to what fields.h says of a record's thread (pm_comm() is faster), control
 * group and guest. pm_comm_of() and pm_cgroup_path_of() leave *out untouched if the record does
 * not say it. With `forgets` a thread that has exited has lost its name, as in some versions of
 * perf. pm_guest_of() returns false if the record's event is not of a guest.
 */
void pm_comm_of(const struct pm_system *system, const struct pd_record *rec, bool forgets,
		struct pd_value *out);
/*
 * Returns times around that of `rec` at which pm_comm_of() says the same of its thread, in the
 * same recording, as far as that is known.
 */
struct pd_time_range pm_comm_times(const struct pm_system *system, const struct pd_record *rec,
				   bool forgets);
/*
 * Returns true if thread `tid` had exited before `rec` was written, or was forked by a thread
 * that had: perf has forgotten it then.
 */
bool pm_is_forgotten(const struct pm_system *system, const struct pd_record *rec, int32_t tid);
/*
 * Looks up now which threads were forgotten by their forks. Until the next pm_system_add() any
 * number of workers may then ask about forgotten threads.
 */
void pm_prepare_forgotten(const struct pm_system *system);
void pm_cgroup_path_of(const struct pm_system *system, const struct pd_record *rec,
		       struct pd_value *out);
bool pm_guest_of(const struct pm_system *system, const struct pd_record *rec,
		 int32_t *machine_pid, int32_t *vcpu);

/*
 * An incarnation of a thread: a tid is used again after its thread has exited. `start` and
 * `exit` are PM_NO_TIME if they lie outside the recording or are not known. `comm` is the
 * system's.
 */
struct pm_incarnation {
	int32_t tid, pid;
	/* number of the recording, from 1; 0: the only one, or several */
	uint32_t source;
	struct pd_value comm;
	uint64_t start, exit;
};
/*
 * Sets *incarnation to the one of thread `tid` of `machine` at `time`; PM_NO_TIME: the last
 * one. Returns false, and leaves it untouched, if the thread is not known at that time.
 */
bool pm_system_incarnation(const struct pm_system *system, uint32_t machine, int32_t tid,
			   uint64_t time, struct pm_incarnation *incarnation);

/*
 * Sets *incarnation to the one that event number `at` of `thread` belongs to, with the name and
 * process that it had after that event.
 */
void pm_system_incarnation_of(const struct pm_system *system, const struct pm_thread *thread,
			      ptrdiff_t at, struct pm_incarnation *incarnation);

/* Returns the binaries of a host machine; NULL: none was mapped yet. They are the system's. */
struct ps_store *pm_system_store(const struct pm_system *system, uint32_t machine);

/* Returns the address spaces of all machines. They are the system's. */
struct pm_spaces *pm_system_spaces(const struct pm_system *system);

/* Returns the threads of all machines, in the order in which they were met. */
const struct pm_threads *pm_system_threads(const struct pm_system *system);

/*
 * Creates a resolver, which answers questions about addresses and remembers the answers. One
 * worker at a time may use it; `system` must outlive it. Returns NULL without memory.
 */
struct pm_resolver *pm_resolver_create(struct pm_system *system);
void pm_resolver_destroy(struct pm_resolver *resolver);
struct pm_system *pm_resolver_system(const struct pm_resolver *resolver);

/*
 * Makes pm_comm() and pm_comm_at() return, for a thread without a name, the first one that it
 * gets before it is forked again or exits, as perf report does.
 */
void pm_resolver_use_later_names(struct pm_resolver *resolver);

/*
 * Reads the recorded system while it is asked. Records come as they lie in a recording and
 * wait. They are added in the order of time, up to a time after which later records are not
 * expected to go. An answer given on the way is what the system would say after reading
 * everything. When that cannot be guaranteed, functions return false: all answers so far are
 * void, and the system has to be cleared and read first.
 */
struct pm_incremental;

/*
 * Returns true if the recordings of `session` can be read so, provided that only samples ask.
 */
bool pm_can_read_incrementally(const struct pd_session *session);

/*
 * Starts reading for `system`, to which nothing was added, and whose session can be read so.
 * With `later_names`, resolvers use these (pm_resolver_use_later_names). Returns NULL without
 * memory.
 */
struct pm_incremental *pm_incremental_create(struct pm_system *system, bool later_names);
void pm_incremental_destroy(struct pm_incremental *incremental);

/*
 * Takes a copy of `rec`, which is bound to its event. `last` is the time of the last record
 * before it that has one, 0 if none has. Returns false if the answers are void.
 */
bool pm_incremental_add(struct pm_incremental *incremental, const struct pd_record *rec,
			uint64_t last);

/*
 * Adds the records up to `time`, as samples up to that time are going to ask. Call it with
 * UINT64_MAX at the end: then the system is complete. Returns false if the answers are void.
 */
bool pm_incremental_advance(struct pm_incremental *incremental, uint64_t time);

#endif
