/*
 * Builds a recording from a description: see describe.h and statement.h.
 */
#ifndef PERFLUA_DESCRIBE_BUILD_H
#define PERFLUA_DESCRIBE_BUILD_H

#include "plan.h"
#include "scribe.h"
#include "statement.h"
#include "write/output.h"

struct pw_built_feature {
	unsigned bit;
	bool has_at, has_size;
	uint64_t at, gap, size; /* as the description says them */
	uint8_t *bytes;
	size_t n;
};

struct pw_builder {
	struct pw_parser parser;
	struct pw_scribe scribe;
	struct pw_output out;
	bool begun;    /* perf_data was read */
	bool has_data; /* what comes before the records was written */
	bool ended;    /* all but bytes_at was written */
	bool pipe, big, swap;
	unsigned version;
	bool can_seek;
	struct pw_header header;
	/* which of these the description says */
	bool has_attrs_at, has_attrs_size, has_data_at, has_data_size, has_bitmap;
	struct pb_string entries; /* attrs, each with the section of its ids */
	struct pb_string ids;	  /* those that lie after the header */
	struct pw_built_feature *features;
	size_t n_features, features_room;
	uint64_t data_at;
	uint64_t records, samples;
};

/*
 * Prepares to read the description by `read` (statement.h), whose name for messages is `path`,
 * and to write to `fd`, which stays the caller's: at its offset 0, if it can seek. Returns
 * false without memory.
 */
bool pw_builder_init(struct pw_builder *b, int64_t (*read)(void *arg, char *buffer, size_t n),
		     void *arg, const char *path, int fd);
void pw_builder_deinit(struct pw_builder *b);

/*
 * Builds all. Returns false with *err, of the code "WRITE" if the output fails
 * (out.error); the message of a fault in the description names its line and field.
 */
bool pw_build(struct pw_builder *b, struct pd_error *err);

#endif
