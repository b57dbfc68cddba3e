#include "lines.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/timing.h"
#include "symbols/asked.h"
#include "symbols/bundle.h"
#include "symbols/elf/demangle.h"
#include "symbols/internal.h"
#include "symbols/memo.h"
#include "lines_file.h"
#include "lines_units.h"

#define MAX_INLINED 256 /* nested functions at one address; no compiler makes more */
#define MAX_NAME    65536

struct ps_lines {
	/* the lines before these, which were cut short; callers may still use their answers */
	struct ps_lines *before;
	pthread_mutex_t mutex;
	bool opened, found;
	bool mangled, whole_paths;
	struct ps_debug debug;
	struct ps_units units;
	struct ps_memo answers;	 /* address → struct answer */
	struct ps_memo names;	 /* address of the name in the file → name */
	struct ps_memo files;	 /* likewise, of a source file */
	struct ps_memo inlined;	 /* address of the name → symbol */
	struct ps_memo paths;	 /* address of the source file's name → whole path */
	struct ps_memo srclines; /* likewise, and line → text */
	struct pb_arena arena;
};

struct answer {
	size_t n;
	struct ps_line lines[];
};

static const struct answer nothing;

/*
 * Returns the copy of a text of the debug file, made of `shown`, which stands for it. Answers
 * have copies, so that the file may be closed.
 */
static const char *keep_text(struct ps_lines *lines, struct ps_memo *memo, const char *text,
			     const char *shown)
{
	const char *kept = pb_arena_text(&lines->arena, shown, strlen(shown));

	return kept && ps_memo_put(memo, (uintptr_t)text, 0, kept) ? kept : NULL;
}

/* Returns the name of a function, demangled as the store's options say. */
static const char *get_function_name(struct ps_lines *lines, Dwarf_Die *die)
{
	const char *name = ps_function_name(die), *kept;
	char *demangled;

	if (!name || strnlen(name, MAX_NAME) == MAX_NAME)
		return NULL;
	kept = ps_memo_get(&lines->names, (uintptr_t)name, 0);
	if (kept)
		return kept;
	demangled = lines->mangled ? NULL : ps_demangle(name);
	kept = keep_text(lines, &lines->names, name, demangled ? demangled : name);
	free(demangled);
	return kept;
}

/* Returns the name of a source file; NULL if it is not known. */
static const char *get_file_name(struct ps_lines *lines, const char *file)
{
	const char *kept = file ? ps_memo_get(&lines->files, (uintptr_t)file, 0) : NULL;

	return kept || !file ? kept : keep_text(lines, &lines->files, file, file);
}

static const char *make_srcline(struct ps_lines *lines, const char *srcfile, uint32_t line)
{
	const char *kept = ps_memo_get(&lines->srclines, (uintptr_t)srcfile, line);
	size_t size = strlen(srcfile) + sizeof(":4294967295");
	char *text;

	if (kept)
		return kept;
	text = pb_arena_get(&lines->arena, size);
	if (!text)
		return NULL;
	snprintf(text, size, "%s:%u", srcfile, line);
	return ps_memo_put(&lines->srclines, (uintptr_t)srcfile, line, text) ? text : NULL;
}

/* Returns the path of a source file, which begins in the directory of its unit. */
static const char *make_whole_path(struct ps_lines *lines, struct ps_unit *unit,
				   const char *file)
{
	const char *kept = ps_memo_get(&lines->paths, (uintptr_t)file, 0), *dir = NULL;
	size_t size;
	char *text;

	if (kept)
		return kept;
	if (file[0] != '/')
		dir = ps_unit_dir(unit);
	size = (dir ? strlen(dir) : 0) + strlen(file) + sizeof("/");
	text = pb_arena_get(&lines->arena, size);
	if (!text)
		return NULL;
	snprintf(text, size, "%s%s%s", dir ? dir : "", dir ? "/" : "", file);
	return ps_memo_put(&lines->paths, (uintptr_t)file, 0, text) ? text : NULL;
}

static const char *base_name(const char *file)
{
	return file ? ps_base_name(file) : NULL;
}

static void set_source_line(struct ps_lines *lines, struct ps_unit *unit, struct ps_line *line,
			    const char *name, uint32_t n)
{
	const char *file = get_file_name(lines, name);

	line->file = file;
	line->srcfile = file && lines->whole_paths ? make_whole_path(lines, unit, file) :
						     base_name(file);
	line->line = n;
	line->srcline = line->srcfile ? make_srcline(lines, line->srcfile, n) : NULL;
}

static uint32_t get_number_attr(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) != 0)
		return 0;
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Sets the line from which an inlined function was called. */
static void set_call_line(struct ps_lines *lines, struct ps_unit *unit, Dwarf_Die *inlined,
			  struct ps_line *line)
{
	uint32_t file = get_number_attr(inlined, DW_AT_call_file);

	set_source_line(lines, unit, line, ps_unit_file(&lines->units, unit, file),
			get_number_attr(inlined, DW_AT_call_line));
}

static void set_address_line(struct ps_lines *lines, struct ps_unit *unit, uint64_t address,
			     struct ps_line *line)
{
	Dwarf_Line *at = ps_unit_line(&lines->units, unit, address);
	int n;

	if (!at || dwarf_lineno(at, &n) != 0 || n < 0)
		return;
	set_source_line(lines, unit, line, dwarf_linesrc(at, NULL, NULL), (uint32_t)n);
}

/*
 * Sets `found` to the functions at an address: the first has the line of the address, each
 * further one the line from which the one before was called.
 */
static size_t find_functions(struct ps_lines *lines, struct ps_unit *unit, uint64_t address,
			     struct ps_line found[MAX_INLINED])
{
	struct ps_functions *functions = &unit->functions;
	uint32_t i = ps_spans_find(&functions->spans, address);
	size_t n = 0;

	found[0] = (struct ps_line){ 0 };
	set_address_line(lines, unit, address, &found[0]);
	if (i == PS_NO_OWNER)
		return found[0].file ? 1 : 0;
	for (;;) {
		struct ps_function *function = &functions->functions[i];
		Dwarf_Die die = { .addr = function->die, .cu = unit->code.cu };

		found[n++].function = get_function_name(lines, &die);
		i = function->caller;
		if (i == PS_NO_OWNER)
			return n;
		if (n == MAX_INLINED)
			return 0;
		found[n] = (struct ps_line){ 0 };
		set_call_line(lines, unit, &die, &found[n]);
	}
}

static const struct answer *look_up_lines(struct ps_lines *lines, uint64_t address)
{
	struct ps_line found[MAX_INLINED];
	struct ps_unit *unit;
	struct answer *answer;
	uint64_t at;
	size_t n;

	if (!ps_debug_address(&lines->debug, address, &at))
		return &nothing;
	unit = ps_units_find(&lines->units, at);
	n = unit ? find_functions(lines, unit, at, found) : 0;
	if (!n)
		return &nothing;
	answer = pb_arena_get(&lines->arena, sizeof(*answer) + n * sizeof(*found));
	if (!answer)
		return &nothing;
	answer->n = n;
	memcpy(answer->lines, found, n * sizeof(*found));
	return answer;
}

static bool take_line(struct ps_lines *lines, const struct ps_bundle *bundle,
		      struct pb_cursor *c, struct ps_line *line)
{
	const char *whole;
	uint64_t n;

	line->function = ps_take_string(c, bundle);
	line->file = ps_take_string(c, bundle);
	whole = ps_take_string(c, bundle);
	n = ps_take_number(c);
	line->line = (uint32_t)n;
	line->srcfile = lines->whole_paths ? whole : base_name(line->file);
	line->srcline = line->srcfile ? make_srcline(lines, line->srcfile, line->line) : NULL;
	return !c->failed && n <= UINT32_MAX;
}

/*
 * Takes the lines of an address: their number, then of each function, file, whole path, line.
 */
static const struct answer *take_answer(struct ps_lines *lines, const struct ps_bundle *bundle,
					struct pb_cursor *c)
{
	uint64_t n = ps_take_number(c);
	struct answer *answer = n && n <= MAX_INLINED ?
					pb_arena_get(&lines->arena,
						     sizeof(*answer) +
							     n * sizeof(answer->lines[0])) :
					NULL;

	if (!answer)
		return NULL;
	answer->n = (size_t)n;
	for (size_t i = 0; i < n; i++)
		if (!take_line(lines, bundle, c, &answer->lines[i]))
			return NULL;
	return answer;
}

/*
 * Reads the lines of a bundle, up to where they are damaged: the number of addresses, then of
 * each the distance and its lines. They are answers to addresses that were asked for before.
 */
static void read_packed_lines(struct ps_lines *lines, const struct ps_dso *dso)
{
	const struct ps_packed *packed = ps_dso_packed(dso);
	uint64_t address = 0, least = 0;
	struct pb_cursor c;

	if (!packed || !ps_packed_read(packed, PS_PACKED_LINES, &c))
		return;
	for (size_t n = ps_take_count(&c); n; n--, least = 1) {
		const struct answer *answer;

		if (!ps_take_distance(&c, least, &address))
			return;
		answer = take_answer(lines, packed->bundle, &c);
		if (!answer || !ps_memo_put(&lines->answers, address, 0, answer))
			return;
	}
}

/* Returns the lines at an address that was not asked for before. */
static const struct answer *find_answer(struct ps_lines *lines, struct ps_dso *dso,
					uint64_t address)
{
	struct ps_interrupt *interrupt = dso->store->options.interrupt;
	const struct answer *answer;

	if (!lines->opened) {
		if (ps_interrupted(interrupt))
			return &nothing;
		lines->opened = true;
		lines->mangled = dso->store->options.mangled;
		lines->whole_paths = dso->store->options.whole_paths;
		lines->found = ps_debug_open(&lines->debug, dso);
		if (lines->found)
			ps_units_read(&lines->units, &lines->debug, interrupt);
		else
			read_packed_lines(lines, dso);
	}
	if (!lines->found) {
		answer = ps_memo_get(&lines->answers, address, 0);
		return answer ? answer : &nothing;
	}
	answer = look_up_lines(lines, address);
	ps_memo_put(&lines->answers, address, 0, answer);
	return answer;
}

static const struct answer *get_answer(struct ps_lines *lines, struct ps_dso *dso,
				       uint64_t address)
{
	const struct answer *answer = ps_memo_get(&lines->answers, address, 0);
	struct pb_lap lap;

	if (answer)
		return answer;
	if (dso->store->has_ended_lines || (lines->opened && !lines->found))
		return &nothing;
	lap = pb_stage_enter(dso->store->options.timing, NULL, PB_STAGE_SYMBOLS);
	answer = find_answer(lines, dso, address);
	pb_stage_leave_part(&lap, dso->name);
	return answer;
}

/* Closes the debug file. */
static void close_lines(struct ps_lines *lines)
{
	ps_units_deinit(&lines->units);
	lines->units = (struct ps_units){ 0 };
	if (lines->found) {
		ps_debug_close(&lines->debug);
		lines->opened = lines->found = false;
	}
	ps_memo_deinit(&lines->names);
	ps_memo_deinit(&lines->files);
	ps_memo_deinit(&lines->paths);
	ps_memo_deinit(&lines->srclines);
}

static void end_lines(struct ps_lines *lines)
{
	for (; lines; lines = lines->before) {
		pthread_mutex_lock(&lines->mutex);
		close_lines(lines);
		pthread_mutex_unlock(&lines->mutex);
	}
}

/*
 * Gives the binary new lines instead of `before`, unless another thread did; returns the lines
 * that it has then.
 */
static struct ps_lines *renew_lines(struct ps_dso *dso, struct ps_lines *before)
{
	struct ps_lines *lines = calloc(1, sizeof(*lines)), *there = before;

	if (!lines)
		return before;
	dso->destroy_lines = ps_lines_destroy;
	dso->end_lines = end_lines;
	pthread_mutex_init(&lines->mutex, NULL);
	lines->before = before;
	if (__atomic_compare_exchange_n(&dso->lines, &there, lines, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return lines;
	lines->before = NULL;
	ps_lines_destroy(lines);
	return there;
}

static struct ps_lines *get_dso_lines(struct ps_dso *dso)
{
	struct ps_lines *lines = __atomic_load_n(&dso->lines, __ATOMIC_ACQUIRE);

	return lines ? lines : renew_lines(dso, NULL);
}

size_t ps_dso_lines(struct ps_dso *dso, uint64_t address, const struct ps_line **found)
{
	struct ps_interrupt *interrupt = dso->store->options.interrupt;
	struct ps_lines *lines = get_dso_lines(dso);
	const struct answer *answer;
	bool is_cut;

	if (!lines)
		return 0;
	if (dso->asked)
		ps_note_address(dso->asked, address);
	pthread_mutex_lock(&lines->mutex);
	answer = get_answer(lines, dso, address);
	/* what was read when it was interrupted would be taken for all of it */
	is_cut = lines->opened && interrupt && atomic_load(&interrupt->cut);
	pthread_mutex_unlock(&lines->mutex);
	if (is_cut)
		renew_lines(dso, lines);
	*found = answer->lines;
	return answer->n;
}

void ps_dso_close_lines(struct ps_dso *dso)
{
	end_lines(dso->lines);
}

/* Returns the symbol of an inlined function; NULL without memory. */
static const struct ps_symbol *inlined_symbol(struct ps_lines *lines, const char *function)
{
	const char *name = function ? function : "[unknown]";
	const struct ps_symbol *kept = ps_memo_get(&lines->inlined, (uintptr_t)name, 0);
	size_t size = strlen(name) + sizeof(" (inlined)");
	struct ps_symbol *symbol;
	char *text;

	if (kept)
		return kept;
	symbol = pb_arena_get(&lines->arena, sizeof(*symbol));
	text = pb_arena_get(&lines->arena, size);
	if (!symbol || !text)
		return NULL;
	snprintf(text, size, "%s (inlined)", name);
	*symbol = (struct ps_symbol){ .name = text,
				      .length = (uint32_t)size - 1,
				      .function = true };
	return ps_memo_put(&lines->inlined, (uintptr_t)name, 0, symbol) ? symbol : NULL;
}

size_t ps_dso_inlined(struct ps_dso *dso, uint64_t address, const struct ps_symbol *symbol,
		      const struct ps_symbol **symbols, size_t room)
{
	const struct ps_line *found;
	size_t all = ps_dso_lines(dso, address, &found), n = 0;
	struct ps_lines *lines = all > 1 ? get_dso_lines(dso) : NULL;

	if (!lines)
		return 0;
	pthread_mutex_lock(&lines->mutex);
	while (n + 1 < all && n < room) {
		const char *name = found[n].function;

		symbols[n] = symbol && name && strcmp(name, symbol->name) == 0 ?
				     symbol :
				     inlined_symbol(lines, name);
		if (!symbols[n])
			break;
		n++;
	}
	pthread_mutex_unlock(&lines->mutex);
	return n;
}

void ps_lines_destroy(struct ps_lines *lines)
{
	if (!lines)
		return;
	ps_lines_destroy(lines->before);
	close_lines(lines);
	ps_memo_deinit(&lines->answers);
	ps_memo_deinit(&lines->inlined);
	pb_arena_deinit(&lines->arena);
	pthread_mutex_destroy(&lines->mutex);
	free(lines);
}
