/*
 * work ROUNDS [FUNCTION PERCENT]…: a fixed amount of work in functions that take 30, 20, 15,
 * 10, 5, 3, 2 and 15 % of the time. FUNCTION, 0 to 7, is made slower by PERCENT.
 */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

#define WORK(name)                                                          \
	__attribute__((noinline)) static void name(unsigned steps)          \
	{                                                                   \
		uint64_t x = steps;                                         \
                                                                            \
		for (unsigned i = 0; i < steps; i++)                        \
			x = x * 6364136223846793005u + 1442695040888963407u; \
		sink = x;                                                   \
	}

WORK(parse)
WORK(solve)
WORK(write)
WORK(hash)
WORK(sort)
WORK(copy)
WORK(scan)
WORK(rest)

static void (*const works[])(unsigned) = { parse, solve, write, hash, sort, copy, scan, rest };
static unsigned steps[] = { 3000, 2000, 1500, 1000, 500, 300, 200, 1500 };
#define N (sizeof(steps) / sizeof(steps[0]))

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0;

	for (int i = 2; i + 1 < argc; i += 2) {
		unsigned long at = strtoul(argv[i], NULL, 10);

		if (at >= N)
			return 1;
		steps[at] += steps[at] * (unsigned)atoi(argv[i + 1]) / 100;
	}
	while (rounds-- > 0)
		for (unsigned i = 0; i < N; i++)
			works[i](steps[i]);
	return 0;
}
