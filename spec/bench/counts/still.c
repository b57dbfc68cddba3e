/*
 * Preloaded into what `make counts` counts: the secret of hash tables and the seed of Lua's
 * strings are the same in every run. They come from getrandom() and time().
 */
#include <string.h>
#include <sys/types.h>
#include <time.h>

ssize_t getrandom(void *buffer, size_t size, unsigned flags);

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
	(void)flags;
	memset(buffer, 0x5a, size);
	return (ssize_t)size;
}

time_t time(time_t *ret)
{
	if (ret)
		*ret = 1700000000;
	return 1700000000;
}
