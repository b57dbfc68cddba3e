/*
 * Samples of one event: a byte for byte order and architecture, the event's attr, then samples,
 * each a u16 (misc and size, little-endian) and its bytes. Around them a recording is made.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"

#define ATTR	 144
#define ROOM	 (1u << 16)
#define MAX_BODY 4095

static const char *const archs[] = { "x86_64",	"aarch64", "armv7l",	  "s390x",
				     "ppc64le", "riscv64", "loongarch64", "none" };

static void put_sample(struct image *image, struct pb_cursor *c)
{
	uint16_t how = pb_take16(c);
	size_t left = pb_cursor_left(c), n = how & MAX_BODY;

	if (n > left)
		n = left;
	put32(image, PD_RECORD_SAMPLE);
	put16(image, (uint16_t)(how >> 12));
	put16(image, (uint16_t)(8 + n));
	if (n)
		put(image, pb_take(c, n), n);
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
	struct image image = { .room = ROOM };
	char path[FUZZ_PATH];
	const char *paths[] = { path };
	struct pb_cursor c;
	size_t end;
	int fd;

	if (n < 1 + ATTR || n > ROOM / 8)
		return 0;
	image.bytes = malloc(ROOM);
	image.swap = bytes[0] & 1;
	put_header(&image, ATTR, 0, PD_FEATURE_ARCH);
	put(&image, bytes + 1, ATTR);
	put64(&image, 0);
	put64(&image, 0);
	pb_cursor_init(&c, bytes + 1 + ATTR, n - 1 - ATTR,
		       __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	while (pb_cursor_left(&c) >= 2)
		put_sample(&image, &c);
	end = image.n;
	put_arch(&image, archs[bytes[0] >> 1 & 7]);
	fd = fuzz_file(image.bytes, image.n, path);
	image.n = 0;
	put_header(&image, ATTR, end - IMAGE_DATA(ATTR), PD_FEATURE_ARCH);
	FUZZ_CHECK(pwrite(fd, image.bytes, IMAGE_HEADER, 0) == IMAGE_HEADER);
	fuzz_read(paths, 1);
	close(fd);
	free(image.bytes);
	return 0;
}
