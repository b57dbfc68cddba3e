/*
 * A bundle: what perflua pack adds to a recording, so that its addresses have on any machine
 * the names that they had where it was packed. It has, of each binary, the symbols, lines, call
 * frame information and code that were asked for there, and how that binary was proven.
 *
 * It is the section of a header feature, which other programs ignore: 8 bytes PS_BUNDLE_MAGIC;
 * PS_BUNDLE_VERSION as a little-endian u32; a zstd frame, with its size and a checksum, of
 * parts. A part is a number (enum ps_bundle_part, enum ps_packed_part), the number of its
 * bytes, and the bytes; parts with unknown numbers are ignored.
 *
 * All numbers are LEB128, and strings are named by their numbers. Addresses and lines ascend:
 * each is written as the distance from the one before, which readers demand, since a repeated
 * key would cost a memo a search through all of its copies. src/pack writes bundles; each part
 * is described where it is read.
 */
#ifndef PERFLUA_SYMBOLS_BUNDLE_H
#define PERFLUA_SYMBOLS_BUNDLE_H

#include "base/cursor.h"
#include "dso.h"

#define PS_BUNDLE_MAGIC	  "PERFLUAB"
#define PS_BUNDLE_VERSION 1
#define PS_BUNDLE_HEADER  12 /* bytes before the frame */

enum ps_bundle_part {
	PS_BUNDLE_STRINGS, /* each ends with a NUL; string 0 is none */
	PS_BUNDLE_DSO,	   /* parts of one binary: enum ps_packed_part, the identity first */
	PS_BUNDLE_SOURCE,  /* lines of a source file */
};

enum ps_packed_part {
	PS_PACKED_ID,
	PS_PACKED_SEGMENTS,
	PS_PACKED_SYMBOLS,
	PS_PACKED_JIT,
	PS_PACKED_LINES,
	PS_PACKED_CFI,
	PS_PACKED_CODE,
	PS_PACKED_PARTS,
};

/* Flags of a packed symbol, above its binding. */
#define PS_PACKED_FUNCTION 4u
#define PS_PACKED_LABEL	   8u

struct ps_bundle;

/* A binary in a bundle. Strings are the bundle's; NULL: not known. */
struct ps_packed {
	const struct ps_bundle *bundle;
	struct ps_dso_id id;
	uint64_t bias, listed; /* see struct ps_dso */
	const char *proof;     /* what proved the binary where the recording was packed */
	/* file that its symbols came from there, and the source of that path */
	const char *path, *where;
	const char *runtime; /* file that was mapped there */
	const char *debug;   /* file with its debug information there */
	struct {
		const uint8_t *bytes; /* NULL: not there */
		size_t n;
	} parts[PS_PACKED_PARTS];
};

/* Unpacks a section. Returns NULL and sets *reason, a constant, if it is not a bundle. */
struct ps_bundle *ps_bundle_open(const uint8_t *bytes, size_t n, const char **reason);
void ps_bundle_destroy(struct ps_bundle *bundle);

/* Returns the binary that *id identifies; NULL: the bundle does not have it. */
const struct ps_packed *ps_bundle_find(const struct ps_bundle *bundle,
				       const struct ps_dso_id *id);

/* Returns the binary with number `i`, from 0 on; NULL: there are no more. */
const struct ps_packed *ps_bundle_at(const struct ps_bundle *bundle, size_t i);

/* Returns whether a bundle has code or source text. */
bool ps_bundle_has_source(const struct ps_bundle *bundle);

/*
 * Begins to read the source file with number `i`: its path, and what ps_bundle_source() says.
 * Returns false if there are no more.
 */
bool ps_bundle_source_at(const struct ps_bundle *bundle, size_t i, struct pb_cursor *c);

/*
 * Finds the lines of a source file, and begins to read them: when the file was last written, in
 * s, their number, then of each the distance of its number, and its text. Returns false if
 * there are none.
 */
bool ps_bundle_source(const struct ps_bundle *bundle, const char *path, struct pb_cursor *c);

/* Begins to read a part. Returns false if it is not there. */
bool ps_packed_read(const struct ps_packed *packed, enum ps_packed_part part,
		    struct pb_cursor *c);

/* Takes a LEB128 number; fails if it has more than 64 bits. */
uint64_t ps_take_number(struct pb_cursor *c);

/* Takes the number of items that take at least a byte each, so that it can be trusted. */
size_t ps_take_count(struct pb_cursor *c);

/*
 * Takes the distance to the next address, or line, and adds it to *at. Fails, and returns
 * false, if it is less than `least`, or leads beyond 64 bits.
 */
bool ps_take_distance(struct pb_cursor *c, uint64_t least, uint64_t *at);

/* Takes the number of a string of the bundle. Returns NULL for none; fails on other numbers. */
const char *ps_take_string(struct pb_cursor *c, const struct ps_bundle *bundle);

/* Returns what the bundle of the store of `dso` has of it; NULL: nothing. */
const struct ps_packed *ps_dso_packed(const struct ps_dso *dso);

/*
 * Replaces the symbols of `dso`, if there are any, by those of a bundle. Returns false, and
 * notes why, if there are none, or without memory. The caller has the lock of the store.
 */
bool ps_load_packed(struct ps_dso *dso);

#endif
