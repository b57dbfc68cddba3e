/*
 * Integers of 128 bits in two's complement, as two words, as compilers for 32-bit machines have
 * no such type. Sums of integers and hashes made of products need them.
 */
#ifndef PERFLUA_BASE_WIDE_H
#define PERFLUA_BASE_WIDE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct pb_wide {
	uint64_t low, high;
};

/* Returns `i` as a wide integer; `is_unsigned`: its bits are those of a uint64_t. */
static inline struct pb_wide pb_wide_from(int64_t i, bool is_unsigned)
{
	return (struct pb_wide){ (uint64_t)i, i < 0 && !is_unsigned ? UINT64_MAX : 0 };
}

/* Adds `x` to *sum, modulo 2^128. */
static inline void pb_wide_add(struct pb_wide *sum, struct pb_wide x)
{
	uint64_t carry = __builtin_add_overflow(sum->low, x.low, &sum->low);

	sum->high += x.high + carry;
}

/*
 * Adds signed integers like pb_wide_add(). Returns false, with *sum modulo 2^128, if the sum
 * does not fit.
 */
static inline bool pb_wide_add_checked(struct pb_wide *sum, struct pb_wide x)
{
	uint64_t before = sum->high;

	pb_wide_add(sum, x);
	return !(((before ^ sum->high) & (x.high ^ sum->high)) >> 63);
}

/* Returns -x, modulo 2^128. */
static inline struct pb_wide pb_wide_negate(struct pb_wide x)
{
	return (struct pb_wide){ -x.low, ~x.high + !x.low };
}

/* Returns the product of two unsigned integers. */
static inline struct pb_wide pb_wide_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (struct pb_wide){ (uint64_t)product, (uint64_t)(product >> 64) };
#else
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32); /* at most 2^64 - 2^32 */
	uint64_t carried = a0 * b1 + (uint32_t)middle;

	return (struct pb_wide){ a * b, a1 * b1 + (middle >> 32) + (carried >> 32) };
#endif
}

/* Returns the signed integer x divided by 2^n, rounded down; 0 < n < 64. */
static inline struct pb_wide pb_wide_shift_right(struct pb_wide x, unsigned n)
{
	uint64_t sign = x.high >> 63 ? UINT64_MAX << (64 - n) : 0;

	return (struct pb_wide){ x.low >> n | x.high << (64 - n), x.high >> n | sign };
}

/* Returns true if the signed integer x is at least -2^63 and at most 2^63 - 1. */
static inline bool pb_wide_fits(struct pb_wide x)
{
	return x.high == (x.low >> 63 ? UINT64_MAX : 0);
}

/* Returns the closest float to the signed integer x. */
static inline double pb_wide_to_double(struct pb_wide x)
{
	struct pb_wide m = x.high >> 63 ? pb_wide_negate(x) : x;
	double d = (double)m.low;

	if (m.high) {
		int zeros = __builtin_clzll(m.high);
		uint64_t top = zeros ? m.high << zeros | m.low >> (64 - zeros) : m.high;

		/*
		 * one bit stands for those that are cut off, so that the float is rounded once
		 */
		d = ldexp((double)(top | (m.low << zeros != 0)), 64 - zeros);
	}
	return x.high >> 63 ? -d : d;
}

#endif
