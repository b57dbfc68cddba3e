/*
 * A recording that is written around what a target is given: the header of a PERFILE2 file, one
 * attr after it, then the records.
 */
#ifndef PERFLUA_FUZZ_IMAGE_H
#define PERFLUA_FUZZ_IMAGE_H

#include <string.h>

#include "common.h"

#define IMAGE_HEADER 104
#define IMAGE_DATA(attr) \
	(IMAGE_HEADER + (attr) + 16) /* where records begin, after an attr of so many bytes */

struct image {
	uint8_t *bytes; /* [room] */
	size_t n, room;
	bool swap;
};

static inline void put(struct image *image, const void *bytes, size_t n)
{
	FUZZ_CHECK(n <= image->room - image->n);
	if (n)
		memcpy(image->bytes + image->n, bytes, n);
	image->n += n;
}

static inline void put16(struct image *image, uint16_t v)
{
	v = pb_load16((const uint8_t *)&v, image->swap);
	put(image, &v, sizeof(v));
}

static inline void put32(struct image *image, uint32_t v)
{
	v = pb_load32((const uint8_t *)&v, image->swap);
	put(image, &v, sizeof(v));
}

static inline void put64(struct image *image, uint64_t v)
{
	v = pb_load64((const uint8_t *)&v, image->swap);
	put(image, &v, sizeof(v));
}

/* The header, of a recording with one feature. */
static inline void put_header(struct image *image, size_t attr, uint64_t data_size,
			      unsigned feature)
{
	put64(image, UINT64_C(0x32454c4946524550)); /* PERFILE2 */
	put64(image, IMAGE_HEADER);
	put64(image, attr + 16);
	put64(image, IMAGE_HEADER);
	put64(image, attr + 16);
	put64(image, IMAGE_DATA(attr));
	put64(image, data_size);
	put64(image, 0);
	put64(image, 0);
	put64(image, UINT64_C(1) << feature);
	for (int i = 0; i < 3; i++)
		put64(image, 0);
}

#endif
