/*
 * The public header of query: filters, groups and counts records. Nothing here knows Lua.
 *
 * A query is described by trees (expr.h), whose fields have names. It is run over a session,
 * for groups (run.h) or for values row by row (rows.h), or applied to one record after another
 * (expr.h).
 */
#ifndef PERFLUA_QUERY_QUERY_H
#define PERFLUA_QUERY_QUERY_H

#include "query/group/report.h"
#include "printer.h"
#include "query/chains/stacks.h"
#include "query/rows/rows.h"
#include "query/rows/rows_made.h"
#include "run.h"

#endif
