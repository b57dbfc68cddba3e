/*
 * An allocator that fails once, for LD_PRELOAD. remove("failing:N") makes the Nth allocation
 * from then on fail; remove("failing:0") ends that. Both set errno to the number of allocations
 * since the call before, up to 2^30; remove("failing:live") to the number of blocks that are
 * not freed.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

static atomic_long left, n_calls, n_live;

static int fails(void)
{
	atomic_fetch_add(&n_calls, 1);
	return atomic_load(&left) > 0 && atomic_fetch_sub(&left, 1) == 1;
}

static void *counted(void *p)
{
	if (p)
		atomic_fetch_add(&n_live, 1);
	else
		errno = ENOMEM;
	return p;
}

void *malloc(size_t size)
{
	return counted(fails() ? NULL : __libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return counted(fails() ? NULL : __libc_calloc(n, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return counted(fails() ? NULL : __libc_memalign(alignment, size));
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	void *got = aligned_alloc(alignment, size);

	if (!got)
		return ENOMEM;
	*p = got;
	return 0;
}

void free(void *p)
{
	if (p)
		atomic_fetch_sub(&n_live, 1);
	__libc_free(p);
}

void *realloc(void *p, size_t size)
{
	void *moved;

	if (!p)
		return malloc(size);
	if (!size) {
		free(p);
		return NULL;
	}
	moved = fails() ? NULL : __libc_realloc(p, size);
	if (!moved)
		errno = ENOMEM;
	return moved;
}

int remove(const char *path)
{
	static const char prefix[] = "failing:";
	size_t n = sizeof(prefix) - 1;

	if (strncmp(path, prefix, n) != 0)
		return unlink(path) == 0 ? 0 : rmdir(path);
	if (strcmp(path + n, "live") == 0) {
		errno = (int)atomic_load(&n_live);
		return -1;
	}
	errno = (int)(atomic_exchange(&n_calls, 0) & ((1 << 30) - 1));
	atomic_store(&left, atol(path + n));
	return -1;
}
