/* Writes the instruction and the source code at ip: see perf_sample__fprintf_insn. */
#include <stdlib.h>

#include "base/map.h"
#include "base/vector.h"
#include "line.h"
#include "text.h"

/* The line of source that was written last of a thread: it is not written again. */
struct shown {
	const char *file;
	uint32_t line;
};

struct px_sources {
	struct pb_id_map by_thread; /* numbers of what follows */
	struct shown *shown;	    /* [n] */
	size_t n, room;
};

void px_sources_destroy(struct px_sources *sources)
{
	if (!sources)
		return;
	pb_id_map_deinit(&sources->by_thread);
	free(sources->shown);
	free(sources);
}

void px_insnlen(struct px_line *line)
{
	struct pm_instruction insn = { 0 };

	pm_instruction_of(line->script->options.resolver, line->rec, &insn);
	pd_print_const(line->out, " ilen: ");
	px_print_int(line->out, (int64_t)insn.size, 0);
}

void px_insn(struct px_line *line)
{
	static const char digits[] = "0123456789abcdef";
	struct pm_instruction insn;

	if (!pm_instruction_of(line->script->options.resolver, line->rec, &insn))
		return;
	pd_print_const(line->out, " insn:");
	for (size_t i = 0; i < insn.size; i++) {
		pd_print_char(line->out, ' ');
		pd_print_char(line->out, digits[insn.bytes[i] >> 4]);
		pd_print_char(line->out, digits[insn.bytes[i] & 15]);
	}
}

void px_disasm(struct px_line *line)
{
	struct pm_instruction insn;

	if (!pm_instruction_of(line->script->options.resolver, line->rec, &insn))
		return;
	pd_print_char(line->out, '\t');
	px_print_name(line->out, insn.name);
	if (!*insn.operands)
		return;
	pd_print_char(line->out, ' ');
	px_print_name(line->out, insn.operands);
}

/* Writes a line of source with its tabs. */
static void print_source(struct pd_print *out, struct pd_text text)
{
	const char *end = text.p + text.n, *tab;

	for (const char *at = text.p;; at = tab + 1) {
		tab = memchr(at, '\t', (size_t)(end - at));
		px_print_text(out, at, (size_t)((tab ? tab : end) - at), 0);
		if (!tab)
			return;
		pd_print_char(out, '\t');
	}
}

/* Returns what was written last of the line's thread; NULL: no memory. */
static struct shown *find_shown(struct px_line *line)
{
	struct px_script *script = line->script;
	uint64_t tid = (uint64_t)px_integer(line, script->ids.tid, -1);
	struct px_sources *sources = script->sources;
	uint32_t number;

	if (!sources)
		sources = script->sources = calloc(1, sizeof(*sources));
	if (!sources)
		return NULL;
	number = pb_id_map_find(&sources->by_thread, tid);
	if (number != UINT32_MAX)
		return &sources->shown[number];
	if (!pb_reserve(sources->shown, sources->n, sources->room) ||
	    !pb_id_map_add(&sources->by_thread, tid, (uint32_t)sources->n))
		return NULL;
	sources->shown[sources->n] = (struct shown){ 0 };
	return &sources->shown[sources->n++];
}

/* See map__fprintf_srccode, tools/perf/util/map.c. */
void px_srccode(struct px_line *line)
{
	struct shown *shown = find_shown(line);
	struct pm_source_line source;

	if (!shown || !pm_source_line_of(line->script->options.resolver, line->rec, &source) ||
	    (shown->file == source.file && shown->line == source.line))
		return;
	shown->file = source.file;
	shown->line = source.line;
	pd_print_const(line->out, "\n|");
	px_print_int(line->out, source.line, 0);
	for (uint32_t rest = 10000000; rest > source.line; rest /= 10)
		pd_print_char(line->out, ' ');
	pd_print_char(line->out, ' ');
	print_source(line->out, source.text);
}
