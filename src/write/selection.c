#include "selection.h"

#include "perfdata/format/format.h"

enum pw_tie pw_find_tie(const struct pd_record *rec, uint32_t *id)
{
	enum pw_tie tie = PW_TIED_TO_THREAD;
	uint32_t at;

	if ((rec->misc & PD_MISC_CPUMODE) >= PD_CPUMODE_GUEST_KERNEL)
		return PW_FREE; /* ids of another system */
	switch (rec->type) {
	case PD_RECORD_COMM:
	case PD_RECORD_NAMESPACES:
		at = 12;
		break;
	case PD_RECORD_FORK:
	case PD_RECORD_EXIT:
		at = 16;
		break;
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2:
		at = 8;
		tie = PW_TIED_TO_PROCESS;
		break;
	default:
		return PW_FREE;
	}
	if (rec->size < at + 4)
		return PW_FREE;
	*id = pd_rec32(rec, at);
	/* mappings of the kernel have no process: -1, or 0 of other recorders */
	if (tie == PW_TIED_TO_PROCESS &&
	    (*id == UINT32_MAX || (rec->misc & PD_MISC_CPUMODE) == PD_CPUMODE_KERNEL))
		return PW_FREE;
	return tie;
}

bool pw_keeps_tied(const struct pw_selection *selection, enum pw_tie tie, uint32_t id)
{
	const struct pb_id_map *ids = tie == PW_TIED_TO_THREAD ? selection->threads :
								 selection->processes;

	return tie == PW_FREE || !ids || pb_id_map_find(ids, id) != UINT32_MAX;
}

bool pw_tells_of_system(const struct pd_record *rec)
{
	enum pd_sideband sideband = pd_record_sideband(rec);

	return (sideband != PD_SB_NONE && sideband != PD_SB_CALLCHAIN) ||
	       rec->type == PD_RECORD_NAMESPACES || rec->type == PD_RECORD_BPF_EVENT ||
	       rec->type == PD_RECORD_TEXT_POKE;
}

bool pw_keeps_time(const struct pw_selection *selection,
		   const struct pd_timestamp_locator *locator, struct pd_record *rec)
{
	uint64_t time;

	if (!pd_timestamp_of(locator, rec, &time))
		return true;
	if (time >= selection->to)
		return false;
	return time >= selection->from || pw_tells_of_system(rec);
}

bool pw_keeps(const struct pw_selection *selection, const struct pd_timestamp_locator *locator,
	      struct pd_record *rec)
{
	uint32_t id = 0;
	enum pw_tie tie = pw_find_tie(rec, &id);

	return pw_keeps_tied(selection, tie, id) && pw_keeps_time(selection, locator, rec);
}
