#include "hash.h"

#include <sys/random.h>

void pb_secret_make(struct pb_secret *secret)
{
	if (getrandom(secret, sizeof(*secret), GRND_NONBLOCK) == (ssize_t)sizeof(*secret))
		return;
	/* early at boot there are no random bytes; addresses are random, too */
	secret->a = (uintptr_t)secret * UINT64_C(0x9e3779b97f4a7c15);
	secret->b = (uintptr_t)&getrandom * UINT64_C(0xff51afd7ed558ccd);
}

uint32_t pb_hash_bytes(const struct pb_secret *secret, const void *bytes, size_t n)
{
	uint64_t h = secret->b ^ n, first, last;
	const char *p = bytes;

	for (; n > 16; p += 16, n -= 16)
		h = pb_mix(pb_load_word(p) ^ secret->a, pb_load_word(p + 8) ^ h);
	pb_load_ends(p, n, &first, &last);
	return (uint32_t)pb_mix(first ^ secret->a, last ^ h);
}
