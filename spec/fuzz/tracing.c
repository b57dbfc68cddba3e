/* Tracing data: what the feature tells of them, and the formats in them, each taken apart. */
#include <stdlib.h>
#include <string.h>

#include "perfdata/tracepoint/tracepoint.h"
#include "common.h"

static void read_text(const struct pd_tracing *tracing, struct pd_text text)
{
	const uint8_t *p = (const uint8_t *)text.p;

	if (text.n) {
		FUZZ_CHECK(p >= tracing->bytes && p < tracing->bytes + tracing->size);
		FUZZ_CHECK(text.n <= (size_t)(tracing->bytes + tracing->size - p));
	}
}

/* Checks each field: its name finds it or an earlier one, its items share its bytes. */
static void read_field(const struct pd_tracepoint *tracepoint, uint32_t i)
{
	const struct pd_tracepoint_field *field = &tracepoint->fields[i];

	FUZZ_CHECK(field->name[0] &&
		   pd_tracepoint_find(tracepoint, field->name, strlen(field->name)) <= i);
	FUZZ_CHECK(strlen(field->type) <= PD_MAX_FORMAT);
	FUZZ_CHECK(field->common == (i < tracepoint->n_common));
	FUZZ_CHECK((uint64_t)field->count * field->element <= field->size);
	if (field->kind == PD_ARG_INT || field->kind == PD_ARG_POINTER)
		FUZZ_CHECK(field->size && field->size <= 8 &&
			   !(field->size & (field->size - 1)));
	if (field->kind == PD_ARG_LIST || field->kind == PD_ARG_BITS)
		FUZZ_CHECK(field->element && field->element <= 8);
	if (field->kind == PD_ARG_BITS)
		FUZZ_CHECK(field->element == tracepoint->tracing->long_size);
	FUZZ_CHECK(pd_arg_type(field) < PD_SYSTEM);
}

static void read_format(struct pd_tracing *tracing, struct pd_format *format)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of(tracing, format);

	read_text(tracing, format->system);
	read_text(tracing, format->text);
	read_text(tracing, pd_format_name(format));
	FUZZ_CHECK(!tracepoint == (format->wrong && format->wrong[0]));
	FUZZ_CHECK(pd_tracepoint_of(tracing, format) == tracepoint);
	if (format->id != UINT64_MAX)
		FUZZ_CHECK(pd_tracing_find(tracing, format->id) <= format);
	if (!tracepoint)
		return;
	FUZZ_CHECK(tracepoint->n_fields && tracepoint->n_fields <= PD_MAX_ARGS);
	FUZZ_CHECK(tracepoint->n_common <= tracepoint->n_fields);
	FUZZ_CHECK(strlen(tracepoint->print_fmt) <= format->text.n);
	for (uint32_t i = 0; i < tracepoint->n_fields; i++)
		read_field(tracepoint, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pd_tracing *tracing = malloc(sizeof(*tracing));
	struct pd_feature_context context = { .tracing = tracing };
	uint8_t *copy = malloc(n + 1);
	size_t offset;

	FUZZ_CHECK(tracing && copy);
	memcpy(copy, bytes, n);
	if (!pd_tracing_parse(tracing, copy, n, &offset))
		FUZZ_CHECK(offset <= n);
	read_text(tracing, tracing->header_page);
	read_text(tracing, tracing->header_event);
	read_text(tracing, tracing->kallsyms);
	read_text(tracing, tracing->printk);
	read_text(tracing, tracing->cmdlines);
	for (size_t i = 0; i < tracing->n_formats; i++)
		read_format(tracing, &tracing->formats[i]);
	fuzz_feature(pd_feature_by_name("tracing_data"), bytes, n, &context);
	pd_tracing_destroy(tracing);
	return 0;
}
