/*
 * A format and raw data of samples: a byte for byte order and long, then the format, a NUL, and
 * samples, each a byte that says how many bytes its raw data has, and they. Around them a
 * recording is made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "image.h"

#define ATTR 64
#define ROOM (1u << 17)
#define ID   7 /* of the event, whatever the format says */

static void put_attr(struct image *image)
{
	put32(image, 2); /* PERF_TYPE_TRACEPOINT */
	put32(image, ATTR);
	put64(image, ID);
	put64(image, 1);
	put64(image, PD_SAMPLE_RAW);
	for (int i = 0; i < 4; i++)
		put64(image, 0);
	put64(image, 0);
	put64(image, 0);
}

static void put_sample(struct image *image, struct pb_cursor *c)
{
	size_t n = pb_take8(c), left = pb_cursor_left(c);
	static const uint8_t zeros[8];
	uint32_t fill;

	if (n > left)
		n = left;
	fill = (uint32_t)(-(4 + n) & 7);
	put32(image, PD_RECORD_SAMPLE);
	put16(image, 1);
	put16(image, (uint16_t)(8 + 4 + n + fill));
	put32(image, (uint32_t)n);
	if (n)
		put(image, pb_take(c, n), n);
	put(image, zeros, fill);
}

static void put_tracing(struct image *image, unsigned long_size, struct pd_text format)
{
	static const char magic[] = "\x17\x08\x44tracing0.6";
	char id[32];
	uint8_t big = image->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint8_t size = (uint8_t)long_size;
	size_t at_size = image->n + 8, start = image->n + 16, end;
	int n_id = snprintf(id, sizeof(id), "\nID:%d\n", ID);

	put64(image, start);
	put64(image, 0);
	put(image, magic, sizeof(magic));
	put(image, &big, 1);
	put(image, &size, 1);
	put32(image, 4096);
	put(image, "header_page", 12);
	put64(image, 0);
	put(image, "header_event", 13);
	put64(image, 0);
	put32(image, 0);
	put32(image, 1);
	put(image, "s", 2);
	put32(image, 1);
	put64(image, (uint64_t)n_id + format.n);
	put(image, id, (size_t)n_id);
	put(image, format.p, format.n);
	put32(image, 0);
	put32(image, 0);
	put64(image, 0);
	end = image->n;
	image->n = at_size;
	put64(image, end - start);
	image->n = end;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct image image = { .room = ROOM };
	struct pd_text format;
	char path[FUZZ_PATH];
	struct pb_cursor c;
	size_t data_end, end;
	int fd;

	if (n < 2 || n > ROOM / 16)
		return 0;
	format = pd_text_in(bytes + 1, n - 1);
	if (format.n == n - 1)
		return 0;
	image.bytes = calloc(1, ROOM);
	FUZZ_CHECK(image.bytes);
	image.swap = bytes[0] & 1;
	put_header(&image, ATTR, 0, PD_FEATURE_TRACING_DATA);
	put_attr(&image);
	pb_cursor_init(&c, bytes + 2 + format.n, n - 2 - format.n, false);
	while (pb_cursor_left(&c))
		put_sample(&image, &c);
	data_end = image.n;
	put_tracing(&image, bytes[0] & 2 ? 4 : 8, format);
	end = image.n;
	image.n = 0;
	put_header(&image, ATTR, data_end - IMAGE_DATA(ATTR), PD_FEATURE_TRACING_DATA);
	fd = fuzz_file(image.bytes, end, path);
	fuzz_read_stream(path, PD_ORDER_FILE, false);
	close(fd);
	free(image.bytes);
	return 0;
}
