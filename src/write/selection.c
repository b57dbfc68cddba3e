#include "selection.h"

#include "perfdata/format/format.h"

bool pw_keeps(const struct pw_selection *selection, const struct pd_timestamp_locator *locator,
	      struct pd_record *rec)
{
	enum pd_sideband sideband = pd_record_sideband(rec);
	uint64_t time;

	if (!pd_timestamp_of(locator, rec, &time))
		return true;
	if (time >= selection->to)
		return false;
	return time >= selection->from ||
	       (sideband != PD_SB_NONE && sideband != PD_SB_CALLCHAIN);
}
