/*
 * Prints a node as %p and its extensions. See print_arg_pointer, event-parse.c of
 * libtraceevent.
 */
#include "message_internal.h"

static const struct pd_node *skip_casts(const struct pd_node *x)
{
	while (x->kind == PD_NODE_CAST)
		x = x->left;
	return x;
}

static void print_function(struct pd_printed *s, const char *how, uint64_t v)
{
	uint64_t start = v;
	const char *name = s->printer->function(s->printer->arg, v, &start);

	if (!name) {
		pb_string_format(s->out, "0x%llx", (unsigned long long)v);
		return;
	}
	pb_string_put(s->out, name);
	if (*how == 'F' || *how == 'S')
		pb_string_format(s->out, "+0x%llx", (unsigned long long)(v - start));
}

/*
 * Returns the bytes of a field of `size` bytes. For anything else prints what is wrong, and
 * returns NULL.
 */
static const uint8_t *find_sized_bytes(struct pd_printed *s, const struct pd_node *x,
				       uint32_t size, const char *invalid)
{
	x = skip_casts(x);
	if (x->kind != PD_NODE_FIELD) {
		pb_string_format(s->out, "ARG TYPE NOT FIELD BUT %d", x->kind);
		return NULL;
	}
	if (x->field->size != size) {
		pb_string_put(s->out, invalid);
		return NULL;
	}
	return s->raw + x->field->offset;
}

/* Prints `n` bytes as two hex digits each, separated by `delimiter`; 0: by nothing. */
static void print_hex_bytes(struct pd_printed *s, const uint8_t *p, uint32_t n, char delimiter,
			    bool reverse)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < n; i++) {
		uint8_t byte = p[reverse ? n - 1 - i : i];
		const char text[] = { delimiter, digits[byte >> 4], digits[byte & 15] };

		pb_string_add(s->out, i && delimiter ? text : text + 1, i && delimiter ? 3 : 2);
	}
}

static void print_mac(struct pd_printed *s, const char *how, const struct pd_node *x)
{
	const uint8_t *p;
	char delimiter = ':';

	p = find_sized_bytes(s, x, 6, "INVALIDMAC");
	if (how[0] == 'm')
		delimiter = 0;
	else if (how[1] == 'F')
		delimiter = '-';
	if (p)
		print_hex_bytes(s, p, 6, delimiter, how[1] == 'R');
}

static void print_ip4(struct pd_printed *s, char how, bool reverse, const uint8_t *p)
{
	for (unsigned i = 0; i < 4; i++) {
		pb_string_put(s->out, i ? "." : "");
		pb_string_format(s->out, how == 'i' ? "%03d" : "%d", p[reverse ? 3 - i : i]);
	}
}

static void print_ip6(struct pd_printed *s, char how, const uint8_t *p)
{
	for (unsigned i = 0; i < 16; i += 2) {
		print_hex_bytes(s, p + i, 2, 0, false);
		if (how == 'I' && i < 14)
			pb_string_put(s->out, ":");
	}
}

/* Returns whether an address ends with an IPv4 address, as ::ffff:1.2.3.4 and ISATAP's do. */
static bool has_ip4(const uint8_t *p)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t isatap[4] = { 0x02, 0x00, 0x5e, 0xfe };

	return memcmp(p, mapped, 12) == 0 ||
	       ((p[8] | 0x02) == isatap[0] && memcmp(p + 9, isatap + 1, 3) == 0);
}

/*
 * Returns the start of the longest run of zero words, and sets *length. There must be at least
 * two; if not *length is 1.
 */
static unsigned find_zeros(const uint8_t *p, unsigned words, unsigned *length)
{
	unsigned found = words;

	*length = 1;
	for (unsigned i = 0; i < words; i++) {
		unsigned n = 0;

		while (i + n < words && !p[2 * (i + n)] && !p[2 * (i + n) + 1])
			n++;
		if (n > *length) {
			*length = n;
			found = i;
		}
	}
	return found;
}

/* Prints an address as "fe80::1". */
static void print_ip6_short(struct pd_printed *s, const uint8_t *p)
{
	bool ip4 = has_ip4(p), colon = false;
	unsigned words = ip4 ? 6 : 8, length;
	unsigned zeros = find_zeros(p, words, &length);

	for (unsigned i = 0; i < words; i++) {
		if (i == zeros) {
			pb_string_put(s->out, colon || i == 0 ? "::" : ":");
			colon = false;
			i += length - 1;
			continue;
		}
		if (colon)
			pb_string_put(s->out, ":");
		pb_string_format(s->out, "%x", (unsigned)p[2 * i] << 8 | p[2 * i + 1]);
		colon = true;
	}
	if (!ip4)
		return;
	if (colon)
		pb_string_put(s->out, ":");
	print_ip4(s, 'I', false, p + 12);
}

/*
 * Returns whether the bytes of a number are printed in reverse: h is the recorded machine's
 * byte order, l little-endian.
 */
static bool is_reversed(const struct pd_printed *s, char order)
{
	return order == 'l' || (order == 'h' && !s->tracepoint->tracing->big);
}

/* Prints a socket's address, with its port if `how` has a p. */
static void print_socket(struct pd_printed *s, const char *how, const struct pd_node *x)
{
	enum {
		INET = 2,
		INET6 = 10
	};
	const char *at = how + 2;
	bool port = *how == 'I' && *at == 'p', compact;
	uint32_t start, n;
	unsigned family, number;
	const uint8_t *p;

	at += port;
	compact = *how == 'I' && *at == 'c';
	at += compact;
	x = skip_casts(x);
	if (x->kind != PD_NODE_FIELD && x->kind != PD_NODE_DYNAMIC) {
		pb_string_format(s->out, "ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE %d",
				 x->kind);
		return;
	}
	start = x->field->offset;
	n = x->field->size;
	if (x->kind == PD_NODE_DYNAMIC && !pd_node_find_bytes(s, x, &start, &n))
		return;
	p = s->raw + start;
	family = s->n - start >= 2 ? pb_load16(p, false) : 0;
	if (family != INET && family != INET6)
		return;
	if (n < (family == INET ? 16 : 28)) {
		pb_string_put(s->out, family == INET ? "INVALIDIPv4" : "INVALIDIPv6");
		return;
	}
	number = (unsigned)p[2] << 8 | p[3];
	if (family == INET) {
		print_ip4(s, *how, is_reversed(s, *at), p + 4);
		if (port)
			pb_string_format(s->out, ":%u", number);
		return;
	}
	if (port)
		pb_string_put(s->out, "[");
	if (compact)
		print_ip6_short(s, p + 8);
	else
		print_ip6(s, *how, p + 8);
	if (port)
		pb_string_format(s->out, "]:%u", number);
}

static void print_ip(struct pd_printed *s, const char *how, const struct pd_node *x)
{
	const uint8_t *p;

	if (how[1] == 'S') {
		print_socket(s, how, x);
	} else if (how[1] == '4') {
		p = find_sized_bytes(s, x, 4, "INVALIDIPv4");
		if (p)
			print_ip4(s, *how, is_reversed(s, how[2]), p);
	} else if (how[1] == '6') {
		p = find_sized_bytes(s, x, 16, "INVALIDIPv6");
		if (p && *how == 'I' && how[2] == 'c')
			print_ip6_short(s, p);
		else if (p)
			print_ip6(s, *how, p);
	}
}

static void print_uuid(struct pd_printed *s, const char *how, const struct pd_node *x)
{
	static const uint8_t guid[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	const uint8_t *p = find_sized_bytes(s, x, 16, "INVALIDUUID");
	bool little = how[1] == 'L' || how[1] == 'l', upper = how[1] == 'L' || how[1] == 'B';

	for (unsigned i = 0; p && i < 16; i++) {
		pb_string_format(s->out, upper ? "%02X" : "%02x", p[little ? guid[i] : i]);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			pb_string_put(s->out, "-");
	}
}

/* Prints %*ph: as many bytes as the argument says, or else one. */
static void print_buffer(struct pd_printed *s, const struct pd_conversion *c,
			 const struct pd_node *x)
{
	char how = c->pointer[1];
	uint32_t at, n, wanted = 1;

	if (x->kind != PD_NODE_DYNAMIC) {
		pb_string_format(s->out, "ARG TYPE NOT FIELD BUT %d", x->kind);
		return;
	}
	if (c->star_width || c->star_precision)
		wanted = (uint32_t)(c->star_width ? c->width : c->precision);
	if (pd_node_find_bytes(s, x, &at, &n))
		print_hex_bytes(s, s->raw + at, n < wanted ? n : wanted,
				(char)(how == 'C' ? ':' :
				       how == 'D' ? '-' :
				       how == 'N' ? 0 :
						    ' '),
				false);
}

void pd_print_node_pointer(struct pd_printed *s, const struct pd_conversion *c,
			   const struct pd_node *x)
{
	uint64_t v;

	switch (c->pointer[0]) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		print_function(s, c->pointer, pd_node_number(s, x));
		break;
	case 'M':
	case 'm':
		print_mac(s, c->pointer, x);
		break;
	case 'I':
	case 'i':
		print_ip(s, c->pointer, x);
		break;
	case 'U':
		print_uuid(s, c->pointer, x);
		break;
	case 'h':
		print_buffer(s, c, x);
		break;
	default:
		v = pd_node_number(s, x);
		pb_string_format(s->out, v ? "0x%llx" : "(nil)", (unsigned long long)v);
	}
}
