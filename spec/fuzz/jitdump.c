/* Jitdumps: what was where at any time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/jit/jitdump.h"
#include "common.h"

static void check_span(const struct ps_jitdump *dump, const struct ps_jit_span *span)
{
	const struct ps_symbol *symbol;

	FUZZ_CHECK(span->start < span->end && span->end <= span->reach);
	FUZZ_CHECK(span->symbol < dump->table.n);
	symbol = ps_jitdump_find(dump, span->start, span->from);
	FUZZ_CHECK(symbol && symbol->start <= span->start && symbol->end > span->start);
	FUZZ_CHECK(symbol->length && strlen(symbol->name) == symbol->length);
	symbol = ps_jitdump_find(dump, span->end - 1, UINT64_MAX);
	FUZZ_CHECK(symbol && symbol->start < span->end && symbol->end >= span->end);
}

static void read_dump(const uint8_t *bytes, size_t n, bool monotonic)
{
	struct ps_jitdump *dump = calloc(1, sizeof(*dump));
	FILE *file = fmemopen((void *)bytes, n, "r");
	const char *reason = NULL;

	FUZZ_CHECK(dump && file);
	dump->monotonic = monotonic;
	if (ps_jitdump_parse(dump, file, &reason)) {
		for (size_t i = 0; i < dump->n; i++)
			check_span(dump, &dump->spans[i]);
	} else {
		FUZZ_CHECK(reason && *reason && !dump->n);
	}
	fclose(file);
	ps_jitdump_destroy(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	for (int monotonic = 0; n && monotonic < 2; monotonic++)
		read_dump(bytes, n, monotonic);
	return 0;
}
