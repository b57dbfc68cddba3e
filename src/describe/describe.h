/*
 * Describes a recording as statements (statement.h): from its header to its last record, in
 * the order of the file. pw_build() makes the same bytes of them.
 *
 *	pw_describer_init(&d, file, &print);
 *	if (!pw_describe_head(&d, &err)) …
 *	while (… reads a record, in the order of the file, those of the container too …)
 *		if (!pw_describe_record(&d, &rec, &err)) …
 *	if (!pw_describe_end(&d, &err)) …
 *	pw_describer_deinit(&d);
 */
#ifndef PERFLUA_DESCRIBE_DESCRIBE_H
#define PERFLUA_DESCRIBE_DESCRIBE_H

#include "perfdata/container/file.h"
#include "plan.h"
#include "scribe.h"
#include "statement.h"

struct pw_describer {
	struct pd_file *file;
	struct pd_print *out;
	struct pw_scribe scribe;
	struct pd_coder coder;
	struct pb_arena arena;	    /* of the current statement */
	struct pw_header header;    /* of a file, as it is there */
	struct pd_section *covered; /* parts of a file that are described */
	size_t n_covered, covered_room;
	uint64_t at; /* offset of the records that are not described yet */
};

void pw_describer_init(struct pw_describer *d, struct pd_file *file, struct pd_print *out);
void pw_describer_deinit(struct pw_describer *d);

/*
 * All return false with *err if the recording cannot be read again, or without memory. A
 * recording of several files has no description.
 */
bool pw_describe_head(struct pw_describer *d, struct pd_error *err);
bool pw_describe_record(struct pw_describer *d, const struct pd_record *rec,
			struct pd_error *err);
bool pw_describe_end(struct pw_describer *d, struct pd_error *err);

#endif
