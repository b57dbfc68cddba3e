#include "gzip.h"

#include "perfdata/format/print_scalar.h"

#define GZIP_BITS (MAX_WBITS + 16) /* zlib then writes the header and the trailer of gzip */
#define LEVEL	  3		   /* a third of the time of zlib's own, at 15 % more bytes */
#define MEMORY	  8		   /* zlib's default */

static void deflate_bytes(struct pe_gzip *gzip, const char *p, size_t n, int flush)
{
	z_stream *stream = &gzip->stream;
	char bytes[16384];

	stream->next_in = (Bytef *)(uintptr_t)p;
	stream->avail_in = (uInt)n;
	do {
		stream->next_out = (Bytef *)bytes;
		stream->avail_out = sizeof(bytes);
		deflate(stream, flush);
		pd_print_bytes(gzip->out, bytes, sizeof(bytes) - stream->avail_out);
	} while (!stream->avail_out);
}

static void flush_plain(void *arg, const char *p, size_t n)
{
	deflate_bytes(arg, p, n, Z_NO_FLUSH);
}

bool pe_gzip_init(struct pe_gzip *gzip, struct pd_print *out)
{
	gzip->stream = (z_stream){ 0 };
	gzip->out = out;
	pd_print_init(&gzip->in, flush_plain, gzip);
	return deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP_BITS, MEMORY,
			    Z_DEFAULT_STRATEGY) == Z_OK;
}

void pe_gzip_finish(struct pe_gzip *gzip)
{
	pd_print_flush(&gzip->in);
	deflate_bytes(gzip, NULL, 0, Z_FINISH);
	deflateEnd(&gzip->stream);
}
