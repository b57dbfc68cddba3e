/*
 * The formats of a file's tracepoints: found in its tracing data when it is opened, and parsed
 * for the events of the file.
 */
#include <stdlib.h>

#include "open_internal.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "perfdata/format/record.h"
#include "perfdata/format/format.h"

/*
 * Android's simpleperf keeps tracing data in its first record, of perf's type or of its own
 * SIMPLE_PERF_RECORD_TRACING_DATA.
 */
#define SIMPLEPERF_TRACING_DATA 0x8009
#define HEAD			12 /* bytes: the record's header and the u32 size of the data */

static struct pd_section find_simpleperf_tracing(struct pd_file *file)
{
	struct pd_section none = { 0, 0 }, head = { file->data.offset, HEAD };
	uint8_t bytes[HEAD];
	struct pd_record rec;
	uint32_t n;

	if (file->pipe || file->data.size < HEAD || !pd_file_read(file, head, bytes, NULL))
		return none;
	pd_record_header(&rec, bytes, file->swap, file->simpleperf);
	n = pb_load32(bytes + 8, file->swap);
	if ((rec.type != SIMPLEPERF_TRACING_DATA && rec.type != PD_RECORD_TRACING_DATA) ||
	    rec.size < HEAD || rec.size > file->data.size || n > rec.size - HEAD)
		return none;
	return (struct pd_section){ head.offset + HEAD, n };
}

/*
 * Returns the bytes of the tracing data, which the caller frees; NULL if they cannot be read.
 */
static uint8_t *read_tracing_bytes(struct pd_file *file,
				   const struct pd_feature_section *section,
				   struct pd_section at)
{
	struct pb_cursor c;
	uint8_t *bytes;

	if (section)
		return pd_file_feature_bytes(file, PD_FEATURE_TRACING_DATA, &c);
	bytes = pd_section_alloc(at);
	if (bytes && !pd_file_read(file, at, bytes, NULL)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

bool pd_tracing_read(struct pd_file *file)
{
	const struct pd_feature_section *s = pd_file_feature(file, PD_FEATURE_TRACING_DATA);
	struct pd_section at = s ? s->at : find_simpleperf_tracing(file);
	size_t offset;
	uint8_t *bytes;

	if (!at.size)
		return true;
	bytes = read_tracing_bytes(file, s, at);
	if (!bytes)
		return true; /* reading the feature reports the error */
	file->tracing = malloc(sizeof(*file->tracing));
	if (!file->tracing) {
		free(bytes);
		return false;
	}
	file->context.tracing = file->tracing;
	if (!pd_tracing_parse(file->tracing, bytes, (size_t)at.size, &offset))
		pd_file_damaged(
			file, at.offset + offset, at.size - offset,
			"tracing data: found bytes from %zu on that cannot be read as such",
			offset);
	file->tracing->offset = at.offset;
	file->tracing->abi = file->abi;
	return true;
}

void pd_tracepoint_bind(struct pd_file *file, struct pd_event *event)
{
	const struct pd_tracing *tracing = file->tracing;
	struct pd_format *format = NULL;

	if (tracing && event->attr.type == PD_TYPE_TRACEPOINT)
		format = pd_tracing_find(tracing, event->attr.config);
	if (!format)
		return;
	event->tracepoint = pd_tracepoint_of(tracing, format);
	if (!event->tracepoint)
		pd_file_damaged(file,
				tracing->offset + (size_t)((const uint8_t *)format->text.p -
							   tracing->bytes),
				format->text.n, "format of tracepoint %s: %s", event->name,
				format->wrong);
}
