/*
 * Messages of tracepoints: a byte (1: big-endian, 2: longs of four bytes, 4: the text is a
 * print fmt for the fields below, else a format file; 8: as perf 6.1 prints it), the size of
 * the text (u32), the text, then raw data, of which a last line is a printk format.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata/tracepoint/message.h"
#include "common.h"

#define ID 7

static const char fields[] =
	"name: x\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u8 b;\toffset:8;\tsize:1;\tsigned:0;\n"
	"\tfield:short h;\toffset:10;\tsize:2;\tsigned:1;\n"
	"\tfield:int i;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long l;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:const char * p;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:char c[16];\toffset:32;\tsize:16;\tsigned:0;\n"
	"\tfield:u8 m[6];\toffset:48;\tsize:6;\tsigned:0;\n"
	"\tfield:u8 q[4];\toffset:56;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 u[16];\toffset:60;\tsize:16;\tsigned:0;\n"
	"\tfield:u32 a[4];\toffset:76;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] s;\toffset:92;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] r;\toffset:96;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u32[] d;\toffset:100;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t k;\toffset:104;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: ";

static const char *find_function(void *arg, uint64_t address, uint64_t *start)
{
	(void)arg;
	*start = address & ~UINT64_C(15);
	return address & 1 ? "function" : NULL;
}

static void check_message(struct pd_printer *printer, const struct pd_tracepoint *tracepoint,
			  const uint8_t *raw, uint32_t n)
{
	uint8_t *copy = malloc(n ? n : 1); /* so that what is read beyond is seen */
	struct pd_text text;

	FUZZ_CHECK(copy);
	if (n)
		memcpy(copy, raw, n);
	if (n >= 2 && tracepoint->id < 256) { /* most inputs shall be of the tracepoint */
		copy[tracepoint->tracing->big] = (uint8_t)tracepoint->id;
		copy[!tracepoint->tracing->big] = 0;
	}
	if (pd_message(printer, tracepoint, copy, n, &text))
		FUZZ_CHECK(text.p && !text.p[text.n] && text.n <= 1 << 20);
	free(copy);
}

static void print_all(const struct pd_tracing *tracing, struct pd_format *format,
		      struct fuzz_part raw, unsigned as)
{
	struct pd_printer *printer = pd_printer_create(tracing, as, find_function, NULL);
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of(tracing, format);
	uint32_t n = (uint32_t)raw.n;

	FUZZ_CHECK(printer);
	for (uint32_t size = n; tracepoint; size /= 2) {
		check_message(printer, tracepoint, raw.bytes, size);
		if (!size)
			break;
	}
	pd_printer_destroy(printer);
	pd_tracepoint_destroy(format->parsed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pd_format format = { .system = { "test", 4 }, .id = ID };
	struct pd_tracing tracing = { .page_size = 4096 };
	struct fuzz_part parts[2];
	uint8_t flags;
	char *text;
	size_t used = 0;

	if (n < 1)
		return 0;
	flags = bytes[0];
	fuzz_split(bytes + 1, n - 1, parts, 2);
	text = malloc(sizeof(fields) + parts[0].n);
	FUZZ_CHECK(text);
	if (flags & 4) {
		used = sizeof(fields) - 1;
		memcpy(text, fields, used);
	}
	if (parts[0].n)
		memcpy(text + used, parts[0].bytes, parts[0].n);
	format.text = (struct pd_text){ text, used + parts[0].n };
	tracing.big = flags & 1;
	tracing.swap = flags & 1;
	tracing.long_size = flags & 2 ? 4 : 8;
	tracing.printk = (struct pd_text){ (const char *)parts[1].bytes, parts[1].n };
	print_all(&tracing, &format, parts[1], flags & 8 ? 0 : ~0u);
	free(text);
	return 0;
}
