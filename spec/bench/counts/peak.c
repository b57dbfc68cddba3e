/*
 * Preloaded into what `make counts` measures: counts the bytes that are allocated, and writes
 * at exit how many they were at most to the file that COUNTS_PEAK names. The kernel's figure of
 * resident memory varies from run to run and from machine to machine: it has pages of libraries
 * in it, and each processor's count of pages is added in batches.
 */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

static _Atomic int64_t live, peak;

static void add(int64_t bytes)
{
	int64_t now = atomic_fetch_add(&live, bytes) + bytes, most = atomic_load(&peak);

	while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
		;
}

static void *added(void *block)
{
	add((int64_t)malloc_usable_size(block));
	return block;
}

void *malloc(size_t size)
{
	return added(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return added(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	int64_t before = (int64_t)malloc_usable_size(old);
	void *block = __libc_realloc(old, size);

	if (block || !size)
		add((int64_t)malloc_usable_size(block) - before);
	return block;
}

void *memalign(size_t align, size_t size)
{
	return added(__libc_memalign(align, size));
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **block, size_t align, size_t size)
{
	*block = memalign(align, size);
	return *block ? 0 : ENOMEM;
}

void free(void *block)
{
	add(-(int64_t)malloc_usable_size(block));
	__libc_free(block);
}

__attribute__((destructor)) static void write_peak(void)
{
	const char *path = getenv("COUNTS_PEAK");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	fprintf(out, "%lld\n", (long long)atomic_load(&peak));
	fclose(out);
}
