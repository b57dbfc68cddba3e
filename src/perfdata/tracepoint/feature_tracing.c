/*
 * The feature tracing_data in short: version, byte order, page size, events per system. The
 * formats themselves belong to the events.
 */
#include <stdlib.h>

#include "perfdata/format/feature_decode.h"
#include "tracing.h"

/* Feeds the number of tracepoints of each system. */
static void feed_systems(const struct pd_tracing *tracing, struct pd_sink *sink)
{
	size_t n;

	pd_sink_begin(sink, "systems", false);
	for (size_t i = 0; i < tracing->n_formats; i += n) {
		struct pd_text system = tracing->formats[i].system;

		for (n = 1; i + n < tracing->n_formats &&
			    tracing->formats[i + n].system.p == system.p;)
			n++;
		sink->key(sink, system.p, system.n);
		pd_sink_uint(sink, NULL, n);
	}
	pd_sink_end(sink);
}

bool pd_decode_tracing_data(struct pb_cursor *c, const struct pd_feature_context *ctx,
			    struct pd_sink *sink)
{
	const struct pd_tracing *tracing = ctx->tracing;
	const char *order = tracing && tracing->big ? "big" : "little";

	if (!tracing || !tracing->complete)
		return false;
	pb_take(c, pb_cursor_left(c));
	pd_sink_begin(sink, NULL, false);
	pd_sink_str(sink, "version", tracing->version, strlen(tracing->version));
	pd_sink_str(sink, "byte_order", order, strlen(order));
	pd_sink_uint(sink, "long_size", tracing->long_size);
	pd_sink_uint(sink, "page_size", tracing->page_size);
	feed_systems(tracing, sink);
	pd_sink_end(sink);
	return true;
}
