#include "shared.h"

#define FEW_ROWS 1024 /* fewer are not worth a thread */

struct part {
	struct pc_share share;
	bool (*work)(const struct pc_share *share, unsigned worker);
	bool failed;
};

static void work_on_part(void *item, unsigned worker)
{
	struct part *part = item;

	part->failed = !part->work(&part->share, worker);
}

bool pc_share_rows(size_t n, unsigned workers,
		   bool (*work)(const struct pc_share *share, unsigned worker), void *arg)
{
	size_t each = n < FEW_ROWS ? n : n / PB_ITEMS_MAX + 1, at = 0;
	struct pb_helpers *helpers = pb_helpers_start(n < FEW_ROWS ? 0 : workers - 1,
						      work_on_part);
	struct part parts[PB_ITEMS_MAX], *done;
	bool ok = helpers != NULL;

	for (size_t i = 0; ok && at < n; i++, at += each) {
		parts[i] = (struct part){ .share = { arg, i, at, each }, .work = work };
		if (n - at < each)
			parts[i].share.n = n - at;
		pb_helpers_give(helpers, &parts[i]);
	}
	while (helpers && (done = pb_helpers_take(helpers)))
		ok = ok && !done->failed;
	pb_helpers_stop(helpers);
	return ok;
}
