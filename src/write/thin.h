/*
 * Thins out samples: of those of each event one of `every` is kept, which stands for all of
 * them. Its period is multiplied by that, or where samples carry none, that of the event's
 * attr. Counter values in samples need no change: they count up, so the difference to the last
 * kept sample has what lies between.
 */
#ifndef PERFLUA_WRITE_THIN_H
#define PERFLUA_WRITE_THIN_H

#include "description.h"
#include "perfdata/format/record.h"

struct pw_thinning {
	struct pd_file *file;
	uint64_t every;
	/* with the attrs and the command line that say so */
	struct pw_description description;
	uint64_t *met; /* [n_events + 1]: samples so far, by event; last those without one */
	size_t n_events;
	uint8_t *bytes; /* of the sample that was kept last */
};

/*
 * Prepares to thin out the samples of `file`, which must outlive it. Returns false with *err if
 * the samples of an event have no periods that could be scaled; the caller calls
 * pw_thinning_deinit() also then.
 */
bool pw_thinning_init(struct pw_thinning *t, struct pd_file *file, uint64_t every,
		      struct pd_error *err);
void pw_thinning_deinit(struct pw_thinning *t);

/*
 * Returns whether a sample is kept; then *rec has its bytes with the new period, until the next
 * call.
 */
bool pw_thin(struct pw_thinning *t, struct pd_record *rec);

/* Returns false with *err if an event came so late that its attr could not be scaled. */
bool pw_thinning_finish(const struct pw_thinning *t, struct pd_error *err);

#endif
