/*
 * Where the parts of a file lie unless its description says otherwise: header, ids, attrs,
 * records, table of features, features, without gaps.
 */
#ifndef PERFLUA_DESCRIBE_PLAN_H
#define PERFLUA_DESCRIBE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "perfdata/container/file.h"

#define PW_HEADER_SIZE 104 /* struct perf_file_header, tools/perf/util/header.h */
#define PW_PIPE_SIZE   16
#define PW_IDS_ENTRY   16   /* bytes of the section of ids that follows each attr */
#define PW_MOST_GAP    4096 /* bytes between features */
#define PW_BITMAP_AT   72
#define PW_BITMAP_SIZE (PD_FEATURES / 8)

/* The header of a file. */
struct pw_header {
	char magic[8];
	uint64_t size, stride;
	struct pd_section attrs, data, event_types;
	uint8_t bitmap[PW_BITMAP_SIZE];
};

/* Returns the magic of a version and byte order: eight bytes. */
static inline const char *pw_magic(unsigned version, bool big)
{
	return version == 1 ? "PERFFILE" : big ? "2ELIFREP" : "PERFILE2";
}

/* Returns the byte of the bitmap that has the bit of a feature, in words of 64 bits. */
static inline unsigned pw_bitmap_byte(unsigned bit, bool big)
{
	return bit / 64 * 8 + (big ? 7 - bit % 64 / 8 : bit % 64 / 8);
}

#endif
