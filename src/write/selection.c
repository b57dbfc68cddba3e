#include "selection.h"

#include "perfdata/format/format.h"

static bool has_id(const struct pb_id_map *ids, const struct pd_record *rec, uint32_t at)
{
	return rec->size < at + 4 || pb_id_map_find(ids, pd_rec32(rec, at)) != UINT32_MAX;
}

/* Returns whether a record tells of threads that are kept, or of more than a thread. */
static bool is_of_kept(const struct pw_selection *selection, const struct pd_record *rec)
{
	if (!selection->threads || (rec->misc & PD_MISC_CPUMODE) >=
					   PD_CPUMODE_GUEST_KERNEL) /* ids of another system */
		return true;
	switch (rec->type) {
	case PD_RECORD_COMM:
	case PD_RECORD_NAMESPACES:
		return has_id(selection->threads, rec, 12);
	case PD_RECORD_FORK:
	case PD_RECORD_EXIT:
		return has_id(selection->threads, rec, 16);
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2: /* the kernel's have no process: -1, or 0 of other recorders */
		return has_id(selection->processes, rec, 8) || pd_rec32(rec, 8) == UINT32_MAX ||
		       (rec->misc & PD_MISC_CPUMODE) == PD_CPUMODE_KERNEL;
	default:
		return true;
	}
}

bool pw_tells_of_system(const struct pd_record *rec)
{
	enum pd_sideband sideband = pd_record_sideband(rec);

	return (sideband != PD_SB_NONE && sideband != PD_SB_CALLCHAIN) ||
	       rec->type == PD_RECORD_NAMESPACES || rec->type == PD_RECORD_BPF_EVENT ||
	       rec->type == PD_RECORD_TEXT_POKE;
}

bool pw_keeps(const struct pw_selection *selection, const struct pd_timestamp_locator *locator,
	      struct pd_record *rec)
{
	uint64_t time;

	if (!is_of_kept(selection, rec))
		return false;
	if (!pd_timestamp_of(locator, rec, &time))
		return true;
	if (time >= selection->to)
		return false;
	return time >= selection->from || pw_tells_of_system(rec);
}
