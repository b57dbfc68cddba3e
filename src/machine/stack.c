/*
 * Call chains as folded strings, as flame graphs are made of.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "fields.h"
#include "machine.h"
#include "perfdata/format/print_scalar.h"
#include "resolver.h"

/*
 * Writes a name without what separates frames, control characters and bytes that are not UTF-8.
 * Returns its length then, which is at most n; `to` may be NULL.
 */
static size_t add(char *to, const char *name, size_t n)
{
	size_t used = 0, length = 1;

	for (size_t i = 0; i < n; i += length) {
		unsigned char c = (unsigned char)name[i];

		if (to && c > ';' && c < 0x7f) { /* most are letters */
			to[used++] = name[i];
			length = 1;
			continue;
		}
		length = c < 0x80 ? 1 : pd_utf8_length(name + i, n - i);
		if (c < ' ' || c == 0x7f || c == ';' || !length ||
		    pd_is_c1_control(name + i, length)) {
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

/* The start of the digits that a name ends with, of its first n bytes. */
static size_t before_digits(const char *name, size_t n)
{
	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

/*
 * Without this at the end of its first n bytes, and without digits before; 0: it does not end
 * so.
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

char pm_stack_letter(const struct pm_place *place, enum pd_cpumode mode)
{
	if (mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_GUEST_KERNEL ||
	    mode == PD_CPUMODE_HYPERVISOR)
		return 'k';
	return place->map && pm_is_jit_name(place->map->dso->name) ? 'j' : '\0';
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
	name.n = add(to, name.p, name.n);
	if (bracket)
		to[name.n] = ']';
	return name.n + 2 * bracket;
}

/* Adds the name of a frame; false: no memory. */
static bool add_name(struct pm_resolver *r, size_t *used, const struct pm_place *place,
		     char letter)
{
	const char *binary = place->map ? place->map->dso->name : NULL;
	struct pd_text symbol = { 0 };
	size_t n;

	if (place->symbol)
		symbol = (struct pd_text){ place->symbol->name, place->symbol->length };
	n = pm_frame_name(symbol, binary, NULL);
	if (!pb_reserve_more(r->text, *used, n + 5, r->capacity))
		return false;
	*used += pm_frame_name(symbol, binary, r->text + *used);
	if (letter && n) {
		memcpy(r->text + *used, (char[]){ '_', '[', letter, ']' }, 4);
		*used += 4;
	}
	return true;
}

static bool add_frame(struct pm_resolver *r, size_t *used, const struct pm_place *place,
		      char letter)
{
	if (!pb_reserve_more(r->text, *used, 1, r->capacity))
		return false;
	if (*used)
		r->text[(*used)++] = ';';
	return add_name(r, used, place, letter);
}

static bool finish(const struct pm_resolver *r, size_t used, struct pd_text *out)
{
	r->text[used] = '\0';
	*out = (struct pd_text){ r->text, used };
	return true;
}

bool pm_stack_name(struct pm_resolver *r, const struct pm_place *place, char letter,
		   struct pd_text *out)
{
	size_t used = 0;

	return add_name(r, &used, place, letter) && finish(r, used, out);
}

static bool stack_of(struct pm_resolver *r, const struct pd_record *rec, bool annotated,
		     struct pd_text *out)
{
	const struct pd_frame *frames;
	struct pd_frame alone;
	struct pm_where where;
	struct pm_place place;
	size_t used = 0, n;
	int64_t ip;

	pm_where_of(r->machine, rec, &where);
	frames = pm_frames_of(r, rec, &n);
	if (!n) {
		if (!pm_integer(rec, pm_machine_ids(r->machine)->ip, &ip))
			return false;
		alone = (struct pd_frame){ (uint64_t)ip, where.mode };
		frames = &alone;
		n = 1;
	}
	while (n--) {
		where.mode = (enum pd_cpumode)frames[n].mode;
		pm_place_at(r, &where, frames[n].ip, &place);
		if (!add_frame(r, &used, &place,
			       annotated ? pm_stack_letter(&place, where.mode) : '\0'))
			return false;
	}
	return finish(r, used, out);
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

static void add_address(char *to, uint64_t address)
{
	memcpy(to, "\t0x", 3);
	for (int i = 0; i < 16; i++)
		to[3 + i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
}

size_t pm_frames_address(char *to, const char *dso, uint64_t address, enum pd_cpumode mode)
{
	size_t n = add(NULL, dso, strlen(dso));

	if (to) {
		*to++ = pm_frames_level(mode);
		add(to, dso, strlen(dso));
		to[n] = '\t';
		add_address(to + n + 1, address);
		to[n + 1 + HEX_SIZE] = '\n';
	}
	return n + HEX_SIZE + 3;
}

/* Adds a frame's line; false: no memory. */
static bool add_line(struct pm_resolver *r, size_t *used, const struct pm_place *place,
		     enum pd_cpumode mode)
{
	const char *dso = place->map ? place->map->dso->name : PM_UNKNOWN;
	size_t dso_n = strlen(dso), n = place->symbol ? place->symbol->length : HEX_SIZE;
	char *to;

	if (!pb_reserve_more(r->text, *used, dso_n + n + 4, r->capacity))
		return false;
	to = r->text + *used;
	if (!place->symbol) {
		*used += pm_frames_address(to, dso, place->address, mode);
		return true;
	}
	*to++ = pm_frames_level(mode);
	to += add(to, dso, dso_n);
	*to++ = '\t';
	to += add(to, place->symbol->name, n);
	*to++ = '\n';
	*used = (size_t)(to - r->text);
	return true;
}

static bool add_place(struct pm_resolver *r, size_t *used, const struct pm_where *where,
		      uint64_t ip)
{
	struct pm_place place;

	pm_place_at(r, where, ip, &place);
	return add_line(r, used, &place, where->mode);
}

bool pm_frames_line(struct pm_resolver *r, const struct pm_place *place, enum pd_cpumode mode,
		    struct pd_text *out)
{
	size_t used = 0;

	return add_line(r, &used, place, mode) && finish(r, used, out);
}

static bool frames_of(struct pm_resolver *r, const struct pd_record *rec, struct pd_text *out)
{
	const struct pd_frame *frames;
	struct pm_where where;
	size_t used = 0, n, i = 0;
	int64_t ip;

	if (!pm_integer(rec, pm_machine_ids(r->machine)->ip, &ip))
		return false;
	pm_where_of(r->machine, rec, &where);
	frames = pm_frames_of(r, rec, &n);
	if (!add_place(r, &used, &where, (uint64_t)ip))
		return false;
	if (n && frames[0].ip == (uint64_t)ip && frames[0].mode == where.mode)
		i = 1;
	for (; i < n; i++) {
		where.mode = (enum pd_cpumode)frames[i].mode;
		if (!add_place(r, &used, &where, frames[i].ip))
			return false;
	}
	return finish(r, used, out);
}

bool pm_chain_text(struct pm_resolver *r, const struct pd_record *rec,
		   enum pd_machine_field field, struct pd_text *out)
{
	if (field == PD_M_FRAMES)
		return frames_of(r, rec, out);
	return stack_of(r, rec, field == PD_M_ANNOTATED_STACK, out);
}
