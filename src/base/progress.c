#include "progress.h"

static bool is_unset(void *flag, uint64_t done, uint64_t size)
{
	(void)done;
	(void)size;
	return !*(const volatile sig_atomic_t *)flag;
}

struct pb_progress pb_until_set(const volatile sig_atomic_t *flag)
{
	return (struct pb_progress){ .goes_on = flag ? is_unset : NULL, .arg = (void *)flag };
}
