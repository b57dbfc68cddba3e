#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned table[4096];
static inline unsigned fold(unsigned x) { return (x >> 16) ^ (x & 0xffff); }

__attribute__((noinline)) unsigned mix(unsigned x, int n)
{
	unsigned s = 0;
	for (int i = 0; i < n; i++) {
		s += table[(x + i) & 4095];
		if (s & 1) s ^= x >> 3; else s = s * 33 + fold(i);
	}
	return s;
}

__attribute__((noinline)) double series(double x, int n)
{
	double sum = 0, term = 1;
	for (int i = 1; i < n; i++) {
		term *= x / i;
		sum += term;
	}
	return sum;
}

__attribute__((noinline)) static void sieve(char *flags, int n)
{
	memset(flags, 1, (size_t)n);
	for (int i = 2; i * i < n; i++)
		for (int k = i * i; flags[i] && k < n; k += i)
			flags[k] = 0;
}

__attribute__((noinline)) static int choose(int kind, int x)
{
	switch (kind) {
	case 0: return x + 1;
	case 1: return x * 3;
	case 2: return x ^ 0x55;
	case 3: return x >> 2;
	case 4: return x - 7;
	case 5: return -x;
	case 6: return x % 11;
	default: return 0;
	}
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void order(int *list, int n)
{
	for (int i = 0; i < n; i++) list[i] = (i * 7919) % 10007;
	qsort(list, (size_t)n, sizeof(*list), by_value);
}

int main(void)
{
	static char flags[1 << 16];
	static int list[5000];
	struct timespec now;
	unsigned s = 0;
	double x = 0;

	for (int i = 0; i < 6000; i++) {
		s += mix((unsigned)i, 20000);
		x += series(i % 7, 2000);
		if (i % 4 == 0) sieve(flags, sizeof(flags));
		for (int k = 0; k < 5000; k++) s += (unsigned)choose((k * 7 + i) % 8, k);
		if (i % 8 == 0) order(list, 5000);
		for (int k = 0; k < 300; k++) clock_gettime(CLOCK_MONOTONIC, &now);
	}
	printf("%u %g\n", s, x);
	return 0;
}
