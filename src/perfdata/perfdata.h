/*
 * The door of perfdata: bytes → records. Nothing here knows Lua, threads of the recorded system or
 * symbols.
 *
 *	struct pd_session *session;
 *	struct pd_walk walk;
 *	struct pd_record rec;
 *
 *	if (!pd_session_open(&session, &path, 1, false, PD_PERF_NEWEST, NULL, &err)) …
 *	pd_walk_init(&walk, session, PD_ORDER_TIME, &err);
 *	while (pd_walk_next(&walk, &rec, &err) > 0)
 *		pd_record_get(&rec, rec.layout->slot[ip_id], &value);
 */
#ifndef PERFLUA_PERFDATA_PERFDATA_H
#define PERFLUA_PERFDATA_PERFDATA_H

#include "perfdata/input/ahead.h"
#include "perfdata/stream/batches.h"
#include "perfdata/format/error.h"
#include "perfdata/format/event.h"
#include "perfdata/format/feature.h"
#include "perfdata/format/fields.h"
#include "perfdata/container/file.h"
#include "perfdata/format/format.h"
#include "analysis/health.h"
#include "perfdata/format/names.h"
#include "perfdata/format/perf_text.h"
#include "perfdata/order/pieces.h"
#include "perfdata/format/print.h"
#include "perfdata/format/print_scalar.h"
#include "perfdata/stream/reader.h"
#include "perfdata/format/record.h"
#include "perfdata/format/sample.h"
#include "perfdata/container/session.h"
#include "analysis/stat.h"
#include "perfdata/tracepoint/syscalls.h"
#include "perfdata/format/value.h"
#include "perfdata/format/views.h"
#include "perfdata/order/walk.h"

#endif
