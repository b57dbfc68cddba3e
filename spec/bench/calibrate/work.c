/*
 * work ROUNDS [FUNCTION PERCENT]…: a fixed amount of work in functions that take 28, 20, 15,
 * 10, 7, 6, 3, 2 and 9 % of the program's time, and calls of the kernel: reads, pipes, faults.
 * FUNCTION, 0 to 8, is made slower by PERCENT; by -100 it vanishes.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t sink;

#define WORK(name)                                                           \
	__attribute__((noinline)) static void name(unsigned steps)           \
	{                                                                    \
		uint64_t x = steps;                                          \
                                                                             \
		for (unsigned i = 0; i < steps; i++)                         \
			x = x * 6364136223846793005u + 1442695040888963407u; \
		sink = x;                                                    \
	}

WORK(parse)
WORK(solve)
WORK(write_out)
WORK(hash)
WORK(sort)
WORK(copy)
WORK(scan)
WORK(trim)
WORK(rest)

static void (*const works[])(unsigned) = { parse, solve, write_out, hash, sort,
					   copy,  scan,	 trim,	    rest };
static unsigned steps[] = { 2800, 2000, 1500, 1000, 700, 600, 300, 200, 900 };
#define N     (sizeof(steps) / sizeof(steps[0]))
#define PAGE  4096
#define PAGES 16

static bool read_and_pipe(int zero, const int ends[2])
{
	static char bytes[2 * PAGE];

	return read(zero, bytes, sizeof(bytes)) > 0 && write(ends[1], bytes, 2048) > 0 &&
	       read(ends[0], bytes, 2048) > 0;
}

static bool touch_pages(void)
{
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return false;
	for (size_t i = 0; i < PAGES; i++)
		pages[i * PAGE] = 1;
	return munmap(pages, PAGES * PAGE) == 0;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0;
	int zero = open("/dev/zero", O_RDONLY), ends[2];

	for (int i = 2; i + 1 < argc; i += 2) {
		unsigned long at = strtoul(argv[i], NULL, 10);

		if (at >= N)
			return 1;
		steps[at] = (unsigned)((int)steps[at] * (100 + atoi(argv[i + 1])) / 100);
	}
	if (zero < 0 || pipe(ends))
		return 1;
	for (long r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < N; i++)
			works[i](steps[i]);
		if ((r % 4 == 0 && !read_and_pipe(zero, ends)) ||
		    (r % 16 == 0 && !touch_pages()))
			return 1;
	}
	return 0;
}
