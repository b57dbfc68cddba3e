/*
 * The door of perfdata: bytes → records. Nothing here knows Lua, threads of the recorded system or
 * symbols.
 *
 *	struct pd_file *file;
 *	struct pd_reader reader;
 *	struct pd_record rec;
 *
 *	if (!pd_file_open(&file, path, &err)) …
 *	pd_reader_init(&reader, file, &err);
 *	while (pd_reader_next(&reader, &rec, &err) > 0)
 *		pd_record_get(&rec, rec.layout->slot[pd_name_id(&file->names, "ip", 2)], &value);
 */
#ifndef PERFLUA_PERFDATA_PERFDATA_H
#define PERFLUA_PERFDATA_PERFDATA_H

#include "error.h"
#include "event.h"
#include "feature.h"
#include "fields.h"
#include "file.h"
#include "format.h"
#include "names.h"
#include "print.h"
#include "reader.h"
#include "record.h"
#include "stat.h"
#include "value.h"
#include "views.h"

#endif
