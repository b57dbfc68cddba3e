/*
 * Reading all there is of one record or feature, and checking what comes out.
 */
#ifndef PERFLUA_FUZZ_CONSUME_H
#define PERFLUA_FUZZ_CONSUME_H

#include "common.h"
#include "perfdata/format/print.h"

/*
 * A few bytes can stand for very many values (a range of processors), so values and text are
 * read until as many bytes came out of one input; then only what is in a record itself.
 */
#define FUZZ_BUDGET ((size_t)2 << 20)

struct fuzz_output {
	size_t left;	/* of FUZZ_BUDGET */
	char *line;	/* the last record's, as it was printed */
	size_t n, room; /* of the line */
	struct pd_print print;
};

void fuzz_output_init(struct fuzz_output *out);
void fuzz_output_deinit(struct fuzz_output *out);

/* All of a record: it is copied to memory of just its size, where reading beyond it shows. */
void fuzz_record(struct fuzz_output *out, const struct pd_record *rec);

/* Aborts unless it is one line of text without what drives a terminal, or one JSON value. */
void fuzz_check_text(const char *line, size_t n);
void fuzz_check_json(const char *line, size_t n);

#endif
