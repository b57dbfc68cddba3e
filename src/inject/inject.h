/*
 * Adds to a recording what files of this machine tell of it, as perf inject does: the build-ids
 * of binaries, in the table of the header or in the records of their mappings; code that was
 * made at run time, as files that are mapped. Merges what the scheduler's tracepoints tell.
 *
 *	struct pj_injector *injector = pj_create(file, system, &asked);
 *
 *	how.description = &injector->description;
 *	while (… reads a record …)
 *		if (!pj_write(injector, &writer, &rec, &err)) …
 *	if (!pj_finish(injector, &writer, &err) || !pw_writer_finish(&writer, &err)) …
 *	pj_destroy(injector);
 *
 * `system` knows of what the records before one tell, or of the whole recording. For code and
 * tracepoints, records come in the order of time.
 */
#ifndef PERFLUA_INJECT_INJECT_H
#define PERFLUA_INJECT_INJECT_H

#include "base/map.h"
#include "base/string_builder.h"
#include "machine/machine.h"
#include "symbols/symbols.h"
#include "write/writer.h"

/* The binaries whose build-ids are added to the table. */
enum pj_which {
	PJ_NONE,
	PJ_HIT, /* those of the frames of samples */
	PJ_ALL, /* those of all mappings */
};

/* The ways to put build-ids into records of mappings. */
enum pj_mappings {
	PJ_AS_RECORDED,
	PJ_IDENTIFIED,
	PJ_USED, /* identified; those of binaries of which no symbol was asked are left out */
};

/* A build-id that the caller knows. */
struct pj_known {
	const char *name; /* of the binary, as it was mapped; borrowed */
	struct ps_build_id id;
};

struct pj_asked {
	enum pj_which ids;
	enum pj_mappings mappings;
	const struct pj_known *known; /* [n_known], instead of those that are found */
	size_t n_known;
	bool pipe;	 /* the recording is written in pipe mode */
	bool jit;	 /* functions of jitdumps become mappings of files beside them */
	bool replaces;	 /* files of these that exist */
	bool sched_stat; /* samples of sched_stat_* become those of the switch before */
};

/* A binary that was met. */
struct pj_binary {
	const struct ps_dso *dso;
	struct ps_build_id id; /* size 0: none */
	const char *reason;    /* why it has none; NULL: it has one, or lies in memory only */
	bool is_known;	       /* the build-id is the one that the caller knows */
	bool is_added;	       /* its build-id is in the table */
};

/* A file that could not be used, or not whole. The strings are the system's. */
struct pj_failure {
	const char *path, *reason;
};

struct pj_injector {
	struct pw_description description;
	struct pj_binary *binaries; /* [n_binaries], as they were met */
	size_t n_binaries;
	uint64_t n_added;	     /* build-ids that the table did not have */
	uint64_t n_mapped;	     /* records of mappings that got a build-id */
	uint64_t n_dropped;	     /* those that were left out */
	uint64_t n_dumps;	     /* jitdumps whose functions became mappings */
	uint64_t n_functions;	     /* those */
	uint64_t n_merged;	     /* samples */
	struct pj_failure *failures; /* [n_failures]: jitdumps */
	size_t n_failures;
	/* private: */
	struct pd_file *file;
	struct pm_system *system;
	struct pm_resolver *resolver; /* NULL: no frames are looked up */
	struct pj_asked asked;
	struct pb_id_map by_dso; /* numbers of `binaries`, by their address */
	size_t binaries_room;
	size_t failures_room;
	struct pj_jit *jit;	/* NULL: not asked for */
	struct pj_sched *sched; /* NULL: not asked for */
	struct pb_string table; /* the rows that are added */
	/* the bytes of a record in the making, and of a build-id's that comes before it */
	struct pb_string made, row;
};

/* Creates an injector for the records of `file`. Returns NULL without memory. */
struct pj_injector *pj_create(struct pd_file *file, struct pm_system *system,
			      const struct pj_asked *asked);
void pj_destroy(struct pj_injector *injector);

/* Writes a record, and those that it brings about. Returns false as pw_write() does. */
bool pj_write(struct pj_injector *injector, struct pw_writer *writer, struct pd_record *rec,
	      struct pd_error *err);

/* Describes what was written, after the last record. Returns false with *err. */
bool pj_finish(struct pj_injector *injector, struct pw_writer *writer, struct pd_error *err);

#endif
