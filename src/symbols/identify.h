/* The build-ids of binaries, also of those that were recorded without one. */
#ifndef PERFLUA_SYMBOLS_IDENTIFY_H
#define PERFLUA_SYMBOLS_IDENTIFY_H

#include "dso.h"

/*
 * Returns the recorded build-id of a binary; else that of the file here which is provably the
 * mapped one, as ps_is_proven() says, or of the kernel that runs here, if it is the recorded
 * one. Its size is 0 if there is none: *reason says why then, NULL if code made at run time,
 * or memory, has none.
 */
struct ps_build_id ps_dso_identify(struct ps_dso *dso, const char **reason);

#endif
