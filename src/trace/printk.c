#include "printk.h"

#ifdef PERFLUA_TRACEEVENT

#include "text.h"

static uint64_t read_hex(const char *p, const char *end)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t v = 0;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (; p < end && *p && strchr(digits, *p); p++)
		v = v << 4 | (uint64_t)(strchr(digits, *p) - digits);
	return v;
}

/* It takes off the quotes and a \n, and looks for that before the start of a text that is too short for it. */
static void register_text(struct tep_handle *tep, struct pt_text *text,
			  const struct pd_tracing *tracing, uint64_t address, const char *p,
			  size_t n)
{
	bool is_big_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	if (n && *p == '"') {
		p++;
		n--;
	}
	if (n && p[n - 1] == '"')
		n--;
	if (n >= 2 && p[n - 2] == '\\' && p[n - 1] == 'n')
		n -= 2;
	pt_text_clear(text);
	pt_text_put(text, "\"");
	pt_text_add(text, p, n);
	pt_text_put(text, "\\n\"");
	if (text->failed)
		return;
	tep_register_print_string(tep, text->p, address);
	/* it reads an address that is printed as a string in the byte order of this machine */
	if (tracing->big != is_big_host)
		tep_register_print_string(tep, text->p,
					  tracing->long_size == 4 ?
						  __builtin_bswap32((uint32_t)address) :
						  __builtin_bswap64(address));
}

void pt_printk_register(struct tep_handle *tep, const struct pd_tracing *tracing)
{
	struct pd_text lines = tracing->printk;
	const char *p = lines.p, *end = lines.n ? lines.p + lines.n : p;
	struct pt_text text = { 0 };

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		const char *colon;

		stop = stop ? stop : end;
		colon = memchr(p, ':', (size_t)(stop - p));
		if (colon && stop - colon >= 2 && !memchr(p, 0, (size_t)(stop - p)))
			register_text(tep, &text, tracing, read_hex(p, colon), colon + 2,
				      (size_t)(stop - colon) - 2);
		p = stop + 1;
	}
	pt_text_deinit(&text);
}

#endif
