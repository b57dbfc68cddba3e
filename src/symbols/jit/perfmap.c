#define _GNU_SOURCE
#include "perfmap.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "symbols/elf/text.h"

static bool skip_space(struct ps_line_text *line)
{
	return line->at < line->end && *line->at++ == ' ';
}

/* See dso__load_perf_map, tools/perf/util/symbol.c. */
static bool parse_perfmap_line(struct ps_line_text line, struct ps_symbol *symbol,
			       uint64_t *size)
{
	if (!ps_text_hex(&line, &symbol->start) || !skip_space(&line) ||
	    !ps_text_hex(&line, size) || !skip_space(&line) || line.at == line.end)
		return false;
	symbol->name = line.at;
	symbol->length = (uint32_t)(line.end - line.at);
	return line.end - line.at <= UINT16_MAX && !memchr(line.at, '\0', symbol->length);
}

bool ps_perfmap_parse(struct ps_table *table, const char *text, size_t size)
{
	struct ps_symbol symbol = { .binding = PS_GLOBAL, .function = true };
	const char *at = text;
	struct ps_line_text line;
	uint64_t bytes;

	while (ps_text_line(&at, text + size, &line))
		if (parse_perfmap_line(line, &symbol, &bytes) &&
		    !ps_table_add(table, &symbol, bytes))
			return false;
	return ps_table_finish(table, PS_NEWEST);
}
