/*
 * Code that processes make while they run: its names are in files of their pids.
 */
#ifndef PERFLUA_MACHINE_JIT_H
#define PERFLUA_MACHINE_JIT_H

#include "perfdata/container/file.h"
#include "symbols/symbols.h"

#define PM_JIT_NAME 40 /* bytes of a name at most */

/* The binary that stands for the code of a process; `name` has room for its name. */
void pm_jit_id(int32_t pid, struct ps_dso_id *id, char name[PM_JIT_NAME]);

/*
 * Takes in that a process of a recording has mapped a file: if that says that it describes the
 * code which the process makes, it is `id`, which becomes data. False: no memory.
 */
bool pm_jit_mapped(struct ps_store *store, const struct pd_file *file, int32_t pid,
		   struct ps_dso_id *id);

#endif
