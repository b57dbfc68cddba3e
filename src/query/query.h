/*
 * The public header of query: records → filtered, grouped, counted. Nothing here knows Lua.
 *
 * A query is described by trees (node.h) whose fields have names; it is run over a session
 * (run.h: groups; rows.h: values row by row), or asked of one record after another (expr.h).
 */
#ifndef PERFLUA_QUERY_QUERY_H
#define PERFLUA_QUERY_QUERY_H

#include "query/group/report.h"
#include "count.h"
#include "query/expr/stacks.h"
#include "query/rows/rows.h"
#include "run.h"
#include "run_pairs.h"

#endif
