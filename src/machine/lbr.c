#include "lbr.h"

#include "perfdata/format/sample.h"
#include "perfdata/format/views.h"

/* The frames before the user's part; false: it has none. */
static bool kernel_part(const struct pd_view *chain, struct pd_frame *frames, size_t n,
			size_t *got)
{
	struct pd_frames walk;
	uint64_t ip;

	pd_frames_init(&walk, chain);
	walk.mode = PD_CPUMODE_UNKNOWN; /* no marker yet */
	while (pd_frames_next(&walk, &ip) && walk.mode != PD_CPUMODE_USER)
		if (*got < n)
			frames[(*got)++] = (struct pd_frame){ ip,
							      walk.mode == PD_CPUMODE_UNKNOWN ?
								      PD_CPUMODE_USER :
								      walk.mode };
	return walk.mode == PD_CPUMODE_USER;
}

bool pm_lbr_frames(const struct pd_view *chain, struct pd_frame *frames, size_t n, size_t *got)
{
	const struct pd_record *rec = chain->rec;
	struct pd_branches branches;
	uint32_t at, size;

	*got = 0;
	if (!pd_part_find(rec, PD_PART_BRANCH_STACK, &at, &size) ||
	    !pd_branches_read(rec, at, &branches) || !branches.count ||
	    !kernel_part(chain, frames, n, got))
		return false;
	at = branches.entries;
	if (*got < n)
		frames[(*got)++] = (struct pd_frame){ pd_rec64(rec, at + 8), PD_CPUMODE_USER };
	for (uint32_t i = 0; i < branches.count && *got < n; i++, at += 24)
		frames[(*got)++] = (struct pd_frame){ pd_rec64(rec, at), PD_CPUMODE_USER };
	return true;
}
