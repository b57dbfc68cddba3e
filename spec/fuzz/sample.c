/*
 * Samples of one event: a byte for byte order and architecture, the event's attr, then samples, each a u16
 * (misc and size, little-endian) and its bytes. Around them a recording is made.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

#define HEADER	 104
#define ATTR	 144
#define AT_ATTR	 HEADER
#define AT_DATA	 (AT_ATTR + ATTR + 16)
#define ROOM	 (1u << 16)
#define MAX_BODY 4095

static const char *const archs[] = { "x86_64",	"aarch64", "armv7l",	  "s390x",
				     "ppc64le", "riscv64", "loongarch64", "none" };

struct image {
	uint8_t *bytes;
	size_t n;
	bool swap;
};

static void put(struct image *image, const void *bytes, size_t n)
{
	memcpy(image->bytes + image->n, bytes, n);
	image->n += n;
}

static void put16(struct image *image, uint16_t v)
{
	v = pd_load16((const uint8_t *)&v, image->swap);
	put(image, &v, sizeof(v));
}

static void put32(struct image *image, uint32_t v)
{
	v = pd_load32((const uint8_t *)&v, image->swap);
	put(image, &v, sizeof(v));
}

static void put64(struct image *image, uint64_t v)
{
	v = pd_load64((const uint8_t *)&v, image->swap);
	put(image, &v, sizeof(v));
}

static void put_header(struct image *image, uint64_t data_size)
{
	put64(image, UINT64_C(0x32454c4946524550)); /* PERFILE2 */
	put64(image, HEADER);
	put64(image, ATTR + 16);
	put64(image, AT_ATTR);
	put64(image, ATTR + 16);
	put64(image, AT_DATA);
	put64(image, data_size);
	put64(image, 0);
	put64(image, 0);
	put64(image, 1 << 6); /* HEADER_ARCH */
	for (int i = 0; i < 3; i++)
		put64(image, 0);
}

static void put_sample(struct image *image, struct pd_cursor *c)
{
	uint16_t how = pd_take16(c);
	size_t left = pd_cursor_left(c), n = how & MAX_BODY;

	if (n > left)
		n = left;
	put32(image, PD_RECORD_SAMPLE);
	put16(image, (uint16_t)(how >> 12));
	put16(image, (uint16_t)(8 + n));
	if (n)
		put(image, pd_take(c, n), n);
}

static void put_arch(struct image *image, const char *arch)
{
	put64(image, image->n + 16);
	put64(image, 4 + strlen(arch) + 1);
	put32(image, (uint32_t)strlen(arch) + 1);
	put(image, arch, strlen(arch) + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct image image = { 0 };
	char path[FUZZ_PATH];
	const char *paths[] = { path };
	struct pd_cursor c;
	size_t end;
	int fd;

	if (n < 1 + ATTR || n > ROOM / 8)
		return 0;
	image.bytes = malloc(ROOM);
	image.swap = bytes[0] & 1;
	put_header(&image, 0);
	put(&image, bytes + 1, ATTR);
	put64(&image, 0);
	put64(&image, 0);
	pd_cursor_init(&c, bytes + 1 + ATTR, n - 1 - ATTR,
		       __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	while (pd_cursor_left(&c) >= 2)
		put_sample(&image, &c);
	end = image.n;
	put_arch(&image, archs[bytes[0] >> 1 & 7]);
	fd = fuzz_file(image.bytes, image.n, path);
	image.n = 0;
	put_header(&image, end - AT_DATA);
	FUZZ_CHECK(pwrite(fd, image.bytes, HEADER, 0) == HEADER);
	fuzz_read(paths, 1);
	close(fd);
	free(image.bytes);
	return 0;
}
