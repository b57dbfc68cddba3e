/* Trees of calls of a report as a Lua value. */
#ifndef PERFLUA_BINDING_QUERY_REPORT_H
#define PERFLUA_BINDING_QUERY_REPORT_H

#include <lua.h>

#include "result/report_trees.h"

#define PL_REPORT_TREES "perflua.report_trees"

/* Returns the trees at `index`. Raises for other values, or if their recording is closed. */
struct pr_report_trees *pl_check_report_trees(lua_State *L, int index);

#endif
