#include "text.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns true if eight bytes are printable ASCII. */
static bool are_plain8(const char *p)
{
	uint64_t v, low;

	memcpy(&v, p, 8);
	low = v & EACH(0x7f);
	/* + 0x60 sets the top bit of a byte from 0x20 on, + 1 that of 0x7f */
	return !((v | ~(low + EACH(0x60)) | (low + EACH(1))) & EACH(0x80));
}

static bool all_plain(const char *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8)
		if (!are_plain8(p))
			return false;
	for (; n; p++, n--)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			return false;
	return true;
}

void px_print_text(struct pd_print *out, const char *p, size_t n, size_t width)
{
	if (n < width)
		px_print_spaces(out, width - n);
	if (all_plain(p, n))
		px_print_bytes(out, p, n);
	else
		pd_print_line(out, p, n);
}

/* See get_page_size_name, tools/perf/util/event.c. */
void px_print_page_size(struct pd_print *out, uint64_t size)
{
	static const char units[] = "BKMG";
	size_t unit = 0;

	if (!size) {
		pd_print_const(out, "N/A");
		return;
	}
	for (; size / 1024 > 1 && units[unit + 1]; size /= 1024)
		unit++;
	px_print_uint(out, size, 0);
	pd_print_char(out, units[unit]);
}
