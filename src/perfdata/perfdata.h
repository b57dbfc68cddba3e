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

#include "ahead.h"
#include "batches.h"
#include "error.h"
#include "event.h"
#include "feature.h"
#include "fields.h"
#include "file.h"
#include "format.h"
#include "health.h"
#include "names.h"
#include "perf_text.h"
#include "pieces.h"
#include "print.h"
#include "print_scalar.h"
#include "reader.h"
#include "record.h"
#include "sample.h"
#include "session.h"
#include "stat.h"
#include "syscalls.h"
#include "value.h"
#include "views.h"
#include "walk.h"

#endif
