/* Compressed output. */
#ifndef PERFLUA_EXPORT_GZIP_H
#define PERFLUA_EXPORT_GZIP_H

#include <zlib.h>

#include "perfdata/format/print.h"

/* Compresses text that is printed to `in`: it becomes a gzip file in `out`. Must not move. */
struct pe_gzip {
	struct pd_print in;
	struct pd_print *out;
	z_stream stream;
};

/* Returns false without memory. */
bool pe_gzip_init(struct pe_gzip *gzip, struct pd_print *out);

/* Writes what is left, and frees what pe_gzip_init() took. */
void pe_gzip_finish(struct pe_gzip *gzip);

#endif
