/*
 * Decides whether files of this machine are those of a recorded binary if no build-id says so,
 * and gives the build-ids of binaries, also of those that were recorded without one.
 */
#ifndef PERFLUA_SYMBOLS_PROOF_H
#define PERFLUA_SYMBOLS_PROOF_H

#include <limits.h>

#include "symbols/elf/elf.h"
#include "dso.h"
#include "find.h"

/* The reason why files of this machine are not used for a binary. */
struct ps_doubt {
	const char *reason;  /* for missing(): a constant string */
	char found[160];     /* difference between the file and the recording; "": none */
	char path[PATH_MAX]; /* path of that file */
};

/*
 * Returns true if files of this machine may have the symbols of `dso`. Otherwise it sets
 * *doubt.
 *
 * - With a recorded build-id files prove themselves. With the options symfs and any_binary they
 *   need no proof.
 * - Else the recording must be of this machine, by host name, kernel release and architecture,
 *   and the file must be the one that was mapped, as far as its device and inode were recorded.
 * - If the recording is of another host, or names none, the device and inode must be recorded
 *   and those of the file, and the mappings must lie within the file. For another host the
 *   inode's generation must agree, too.
 */
bool ps_is_proven(const struct ps_dso *dso, struct ps_doubt *doubt);

/*
 * Does what ps_is_proven() does, and if that returns false sets dso->reason and notes the file.
 * The caller has the lock.
 */
bool ps_check_proof(struct ps_dso *dso);

/*
 * Returns the recorded build-id of a binary; else that of the file here which is provably the
 * mapped one, as ps_is_proven() says, or of the kernel that runs here, if it is the recorded
 * one. Its size is 0 if there is none: *reason says why then, NULL if code made at run time,
 * or memory, has none.
 */
struct ps_build_id ps_dso_identify(struct ps_dso *dso, const char **reason);

/*
 * Picks, from files that may have the symbols of a binary, the one with the symbol table and
 * the one that was mapped, which may be the same. See dso__load, tools/perf/util/symbol.c.
 */

struct ps_picked {
	struct ps_elf elf;
	size_t tried; /* number in dso->tried */
	char path[PATH_MAX];
};

struct ps_pick {
	struct ps_dso *dso;
	struct ps_build_id wanted; /* size 0: any */
	struct ps_picked files[2];
	size_t n_files;
	struct ps_picked *syms, *runtime; /* NULL: not found yet */
	bool others;			  /* files of other builds were seen */
	const char *no_file;		  /* why the recorded path is not a file; NULL: it is */
};

void ps_pick_init(struct ps_pick *pick, struct ps_dso *dso);
void ps_pick_deinit(struct ps_pick *pick);

/*
 * Tries a file, and takes it over if it is of use. Returns true if nothing else is needed. It
 * is an `fn` of ps_find(), whose `arg` is the pick.
 */
bool ps_pick_try(void *pick, const struct ps_candidate *candidate);

/*
 * Adds the symbols of the picked files to the table of the dso, with addresses as `addresses`
 * says, and sets its paths. Returns false if there are none, and sets dso->reason.
 */
bool ps_pick_load(struct ps_pick *pick, enum ps_addresses addresses);

#endif
