/* SHA-256 (FIPS 180-4), and keyed hashes made of it (HMAC, RFC 2104). */
#ifndef PERFLUA_BASE_SHA256_H
#define PERFLUA_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define PB_SHA256_SIZE 32 /* bytes of a digest */

struct pb_sha256 {
	uint32_t state[8];
	uint64_t n; /* bytes that were added */
	uint8_t block[64];
};

/* Begin a digest, add bytes, write its PB_SHA256_SIZE bytes to `digest`. */
void pb_sha256_init(struct pb_sha256 *s);
void pb_sha256_add(struct pb_sha256 *s, const void *bytes, size_t n);
void pb_sha256_end(struct pb_sha256 *s, uint8_t *digest);

/* A key of HMAC-SHA256, of which one hash after the other is made. */
struct pb_hmac {
	struct pb_sha256 inner, outer; /* after their block of the key */
};

void pb_hmac_init(struct pb_hmac *hmac, const void *key, size_t n);

/* Writes the PB_SHA256_SIZE bytes of the keyed hash of `n` bytes to `digest`. */
void pb_hmac_digest(const struct pb_hmac *hmac, const void *bytes, size_t n, uint8_t *digest);

#endif
