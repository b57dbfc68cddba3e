/* Writes call chains as folded strings, which flame graphs are made of. */
#include <string.h>

#include "fields.h"
#include "machine.h"
#include "perfdata/format/print_scalar.h"
#include "resolver.h"

/*
 * Writes the `n` bytes of a name, replacing the separator of frames, control characters and
 * bytes that are not UTF-8. Returns the length written, at most `n`; `to` may be NULL.
 */
static size_t write_clean_name(char *to, const char *name, size_t n)
{
	size_t used = 0, length = 1;

	for (size_t i = 0; i < n; i += length) {
		unsigned char c = (unsigned char)name[i];

		if (to && c > ';' && c < 0x7f) { /* most characters are letters */
			to[used++] = name[i];
			length = 1;
			continue;
		}
		length = c < 0x80 ? 1 : pd_utf8_length(name + i, n - i);
		if (c < ' ' || c == 0x7f || c == ';' || !length ||
		    pd_hidden_character(name + i, length)) {
			if (to)
				to[used] = c == ';' ? ':' : '?';
			used++;
			length += !length;
			continue;
		}
		for (size_t k = 0; to && k < length; k++)
			to[used + k] = name[i + k];
		used += length;
	}
	return used;
}

/* Returns the length of the first `n` bytes of a name without the digits at their end. */
static size_t before_digits(const char *name, size_t n)
{
	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

/*
 * Returns the length of the first `n` bytes of a name without `end` and the digits before it;
 * 0: they do not end so.
 */
static size_t before_number(const char *name, size_t n, const char *end)
{
	size_t size = strlen(end), at;

	if (n < size || memcmp(name + n - size, end, size) != 0)
		return 0;
	at = before_digits(name, n - size);
	return at == n - size ? 0 : at;
}

static bool ends_with(const char *name, size_t n, const char *end)
{
	size_t size = strlen(end);

	return n >= size && memcmp(name + n - size, end, size) == 0;
}

bool pm_is_jit_name(const char *name)
{
	size_t n = strlen(name), at = before_number(name, n, ".map");

	if (ends_with(name, at, "perf-") || strncmp(name, "[JIT]", 5) == 0)
		return true;
	at = before_number(name, before_number(name, n, ".so"), "-");
	return ends_with(name, at, "jitted-");
}

char pm_stack_letter(const struct pm_location *location, enum pd_cpumode mode)
{
	if (mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_GUEST_KERNEL ||
	    mode == PD_CPUMODE_HYPERVISOR)
		return 'k';
	return location->map && pm_is_jit_name(location->map->dso->name) ? 'j' : '\0';
}

size_t pm_frame_name(struct pd_text symbol, const char *binary, char *to)
{
	struct pd_text name = symbol;
	bool bracket = false;

	if (!symbol.p) {
		name.p = binary ? ps_base_name(binary) : PM_UNKNOWN;
		name.n = strlen(name.p);
		bracket = name.p[0] != '[';
	}
	if (!to)
		return name.n + 2 * bracket;
	if (bracket)
		*to++ = '[';
	name.n = write_clean_name(to, name.p, name.n);
	if (bracket)
		to[name.n] = ']';
	return name.n + 2 * bracket;
}

static void append_frame_name(struct pb_string *text, const struct pm_location *location,
			      char letter)
{
	const char *binary = location->map ? location->map->dso->name : NULL;
	struct pd_text symbol = { 0 };
	size_t n;

	if (location->symbol)
		symbol = (struct pd_text){ location->symbol->name, location->symbol->length };
	n = pm_frame_name(symbol, binary, NULL);
	if (!pb_string_reserve(text, n))
		return;
	text->n += pm_frame_name(symbol, binary, text->p + text->n);
	if (letter && n)
		pb_string_add(text, (char[]){ '_', '[', letter, ']' }, 4);
}

/* Sets *out to the text. Returns false if memory ran out while it was made. */
static bool finish_text(struct pb_string *text, struct pd_text *out)
{
	const char *p = pb_string_end(text);

	if (p)
		*out = (struct pd_text){ p, text->n };
	return p != NULL;
}

bool pm_stack_name(struct pm_resolver *r, const struct pm_location *location, char letter,
		   struct pd_text *out)
{
	pb_string_clear(&r->text);
	append_frame_name(&r->text, location, letter);
	return finish_text(&r->text, out);
}

static bool make_stack_text(struct pm_resolver *r, const struct pd_record *rec, bool annotated,
			    struct pd_text *out)
{
	const struct pd_frame *frames;
	struct pd_frame alone;
	struct pm_addr_context context;
	struct pm_location location;
	size_t n;
	int64_t ip;

	pm_addr_context_of(r->system, rec, &context);
	frames = pm_frames_of(r, rec, &n);
	if (!n) {
		if (!pm_integer(rec, pm_system_field_ids(r->system)->ip, &ip))
			return false;
		alone = (struct pd_frame){ (uint64_t)ip, context.mode, 0 };
		frames = &alone;
		n = 1;
	}
	pb_string_clear(&r->text);
	while (n--) {
		context.mode = (enum pd_cpumode)frames[n].mode;
		pm_location_at(r, &context, frames[n].ip, &location);
		if (r->text.n)
			pb_string_add(&r->text, ";", 1);
		append_frame_name(&r->text, &location,
				  annotated ? pm_stack_letter(&location, context.mode) : '\0');
	}
	return finish_text(&r->text, out);
}

/* See thread__find_map, tools/perf/util/event.c. */
char pm_frames_level(enum pd_cpumode mode)
{
	static const char levels[] = {
		[PD_CPUMODE_UNKNOWN] = 'H',	 [PD_CPUMODE_KERNEL] = 'k',
		[PD_CPUMODE_USER] = '.',	 [PD_CPUMODE_HYPERVISOR] = 'H',
		[PD_CPUMODE_GUEST_KERNEL] = 'g', [PD_CPUMODE_GUEST_USER] = 'u',
	};

	return (size_t)mode < sizeof(levels) ? levels[mode] : 'H';
}

#define HEX_SIZE 19 /* a tab, "0x" and 16 digits */

static void write_address(char *to, uint64_t address)
{
	memcpy(to, "\t0x", 3);
	for (int i = 0; i < 16; i++)
		to[3 + i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
}

size_t pm_frames_address(char *to, const char *dso, uint64_t address, enum pd_cpumode mode)
{
	size_t n = write_clean_name(NULL, dso, strlen(dso));

	if (to) {
		*to++ = pm_frames_level(mode);
		write_clean_name(to, dso, strlen(dso));
		to[n] = '\t';
		write_address(to + n + 1, address);
		to[n + 1 + HEX_SIZE] = '\n';
	}
	return n + HEX_SIZE + 3;
}

static void append_frame_line(struct pb_string *text, const struct pm_location *location,
			      enum pd_cpumode mode)
{
	const char *dso = location->map ? location->map->dso->name : PM_UNKNOWN;
	size_t dso_n = strlen(dso), n = location->symbol ? location->symbol->length : HEX_SIZE;
	char *to;

	if (!pb_string_reserve(text, dso_n + n + 3))
		return;
	to = text->p + text->n;
	if (!location->symbol) {
		text->n += pm_frames_address(to, dso, location->address, mode);
		return;
	}
	*to++ = pm_frames_level(mode);
	to += write_clean_name(to, dso, dso_n);
	*to++ = '\t';
	to += write_clean_name(to, location->symbol->name, n);
	*to++ = '\n';
	text->n = (size_t)(to - text->p);
}

static void append_location_line(struct pm_resolver *r, const struct pm_addr_context *context,
				 uint64_t ip)
{
	struct pm_location location;

	pm_location_at(r, context, ip, &location);
	append_frame_line(&r->text, &location, context->mode);
}

bool pm_frames_line(struct pm_resolver *r, const struct pm_location *location,
		    enum pd_cpumode mode, struct pd_text *out)
{
	pb_string_clear(&r->text);
	append_frame_line(&r->text, location, mode);
	return finish_text(&r->text, out);
}

static bool make_frames_text(struct pm_resolver *r, const struct pd_record *rec,
			     struct pd_text *out)
{
	const struct pd_frame *frames;
	struct pm_addr_context context;
	size_t n, i = 0;
	int64_t ip;

	if (!pm_integer(rec, pm_system_field_ids(r->system)->ip, &ip))
		return false;
	pm_addr_context_of(r->system, rec, &context);
	frames = pm_frames_of(r, rec, &n);
	pb_string_clear(&r->text);
	append_location_line(r, &context, (uint64_t)ip);
	if (n && frames[0].ip == (uint64_t)ip && frames[0].mode == context.mode)
		i = 1;
	for (; i < n; i++) {
		context.mode = (enum pd_cpumode)frames[i].mode;
		append_location_line(r, &context, frames[i].ip);
	}
	return finish_text(&r->text, out);
}

bool pm_chain_text(struct pm_resolver *r, const struct pd_record *rec,
		   enum pd_system_field field, struct pd_text *out)
{
	if (field == PD_SYS_FRAMES)
		return make_frames_text(r, rec, out);
	return make_stack_text(r, rec, field == PD_SYS_ANNOTATED_STACK, out);
}
