/* Shared by the files that build a recording. */
#ifndef PERFLUA_DESCRIBE_BUILD_INTERNAL_H
#define PERFLUA_DESCRIBE_BUILD_INTERNAL_H

#include "build.h"

/* Fails because of a statement; `what` says what was found and expected. Returns false. */
bool pw_refuse(struct pw_builder *b, const struct pd_node *node, const char *what,
	       struct pd_error *err);

/* Writes what comes before the records, once. */
bool pw_begin_data(struct pw_builder *b, struct pd_error *err);

/* Writes what comes after the records, once, and the header. */
bool pw_end_parts(struct pw_builder *b, struct pd_error *err);

/* Returns false with *err if a write failed. */
bool pw_check_output(struct pw_builder *b, struct pd_error *err);

#endif
