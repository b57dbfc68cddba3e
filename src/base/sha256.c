#include "sha256.h"

#include <string.h>

#define BLOCK sizeof(((struct pb_sha256 *)NULL)->block)

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t load_big32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_big32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Mixes a block of 64 bytes into the state. */
static void mix_block(uint32_t *state, const uint8_t *block)
{
	uint32_t w[64], v[8];

	for (unsigned i = 0; i < 16; i++)
		w[i] = load_big32(block + 4 * (size_t)i);
	for (unsigned i = 16; i < 64; i++) {
		uint32_t x = w[i - 15], y = w[i - 2];

		w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
		       (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
	}
	memcpy(v, state, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t e = v[4], a = v[0];
		uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += v[i];
}

void pb_sha256_init(struct pb_sha256 *s)
{
	static const uint32_t initial[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->state, initial, sizeof(initial));
	s->n = 0;
}

void pb_sha256_add(struct pb_sha256 *s, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n) {
		size_t used = s->n % BLOCK, part = BLOCK - used < n ? BLOCK - used : n;

		memcpy(s->block + used, p, part);
		s->n += part;
		p += part;
		n -= part;
		if (s->n % BLOCK == 0)
			mix_block(s->state, s->block);
	}
}

void pb_sha256_end(struct pb_sha256 *s, uint8_t *digest)
{
	static const uint8_t padding[BLOCK] = { 0x80 };
	uint64_t bits = 8 * s->n;
	uint8_t size[8];

	store_big32(size, (uint32_t)(bits >> 32));
	store_big32(size + 4, (uint32_t)bits);
	/* at least one byte, up to eight before the end of a block */
	pb_sha256_add(s, padding, BLOCK - (s->n + sizeof(size)) % BLOCK);
	pb_sha256_add(s, size, sizeof(size));
	for (size_t i = 0; i < 8; i++)
		store_big32(digest + 4 * i, s->state[i]);
}

void pb_hmac_init(struct pb_hmac *hmac, const void *key, size_t n)
{
	uint8_t block[BLOCK] = { 0 };

	pb_sha256_init(&hmac->inner);
	if (n > BLOCK) {
		pb_sha256_add(&hmac->inner, key, n);
		pb_sha256_end(&hmac->inner, block);
		pb_sha256_init(&hmac->inner);
	} else if (n) {
		memcpy(block, key, n);
	}
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= 0x36;
	pb_sha256_add(&hmac->inner, block, BLOCK);
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= 0x36 ^ 0x5c;
	pb_sha256_init(&hmac->outer);
	pb_sha256_add(&hmac->outer, block, BLOCK);
}

void pb_hmac_digest(const struct pb_hmac *hmac, const void *bytes, size_t n, uint8_t *digest)
{
	struct pb_sha256 s = hmac->inner;

	pb_sha256_add(&s, bytes, n);
	pb_sha256_end(&s, digest);
	s = hmac->outer;
	pb_sha256_add(&s, digest, PB_SHA256_SIZE);
	pb_sha256_end(&s, digest);
}
