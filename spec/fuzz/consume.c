#include "consume.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NESTED 16 /* what the binding's sink has room for */

/* A sink that checks the order of what it is fed, and reads it. */
struct reading_sink {
	struct pd_sink sink;
	struct fuzz_output *out;
	int depth;
	bool array[MAX_NESTED], keyed;
	size_t values;
};

static uint8_t touch(const void *p, size_t n)
{
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + ((const uint8_t *)p)[i]);
	return sum;
}

static void spend(struct fuzz_output *out, size_t n)
{
	out->left -= n < out->left ? n : out->left;
}

/* A value comes where one may: alone, in an array, or after a key. */
static void place(struct reading_sink *s)
{
	if (s->depth)
		FUZZ_CHECK(s->array[s->depth - 1] || s->keyed);
	else
		FUZZ_CHECK(!s->values++);
	s->keyed = false;
}

static void sink_begin(struct pd_sink *sink, bool array)
{
	struct reading_sink *s = (struct reading_sink *)sink;

	place(s);
	FUZZ_CHECK(s->depth < MAX_NESTED);
	s->array[s->depth++] = array;
}

static void sink_end(struct pd_sink *sink)
{
	struct reading_sink *s = (struct reading_sink *)sink;

	FUZZ_CHECK(s->depth > 0 && !s->keyed);
	s->depth--;
}

static void sink_key(struct pd_sink *sink, const char *name, size_t n)
{
	struct reading_sink *s = (struct reading_sink *)sink;

	FUZZ_CHECK(s->depth > 0 && !s->array[s->depth - 1] && !s->keyed);
	s->keyed = true;
	touch(name, n);
}

static void sink_value(struct pd_sink *sink, const struct pd_value *v)
{
	struct reading_sink *s = (struct reading_sink *)sink;

	place(s);
	FUZZ_CHECK(v->type <= PD_SYSTEM && v->type != PD_VIEW);
	if (v->type == PD_STR || v->type == PD_HEX || v->type == PD_BLOB)
		touch(v->s.p, v->s.n);
	if (v->type == PD_EVENT)
		touch(v->event, sizeof(*v->event));
	spend(s->out, 8);
}

static void sink_init(struct reading_sink *s, struct fuzz_output *out)
{
	*s = (struct reading_sink){
		.sink = { sink_begin, sink_end, sink_key, sink_value },
		.out = out,
	};
}

void fuzz_feature(const struct pd_feature *feature, const uint8_t *bytes, size_t n,
		  const struct pd_feature_context *context)
{
	struct fuzz_output out = { .left = FUZZ_BUDGET };
	struct reading_sink s;
	struct pb_cursor c;

	sink_init(&s, &out);
	pb_cursor_init(&c, bytes, n, context->swap);
	if (feature->decode(&c, context, &s.sink))
		FUZZ_CHECK(!s.depth && s.values == 1);
	FUZZ_CHECK(pb_cursor_offset(&c) <= n);
}

static void read_view(struct fuzz_output *out, const struct pd_view *view)
{
	const struct pd_view_desc *desc = view->desc;
	struct reading_sink s;
	char text[512];

	for (uint32_t i = 0; desc->key && i < view->count; i++)
		if (desc->key(view, i))
			touch(desc->key(view, i), strlen(desc->key(view, i)));
	for (size_t size = 1; desc->print && size <= sizeof(text); size *= 8) {
		memset(text, 1, sizeof(text));
		desc->print(view, text, size);
		FUZZ_CHECK(memchr(text, 0, size));
	}
	sink_init(&s, out);
	pd_sink_view(&s.sink, view);
	FUZZ_CHECK(!s.depth && s.values == 1);
}

static void read_field(struct fuzz_output *out, const struct pd_record *rec, unsigned index)
{
	struct pd_value v = { .type = PD_NIL };
	struct reading_sink s;

	pd_record_get(rec, index, &v);
	sink_init(&s, out);
	if (v.type != PD_VIEW)
		sink_value(&s.sink, &v);
	else if (out->left)
		read_view(out, &v.view);
}

static void keep_line(void *arg, const char *p, size_t n)
{
	struct fuzz_output *out = arg;

	if (out->n + n > out->room) {
		out->room = (out->n + n) * 2;
		out->line = realloc(out->line, out->room);
		FUZZ_CHECK(out->line);
	}
	memcpy(out->line + out->n, p, n);
	out->n += n;
}

static void print(struct fuzz_output *out, const struct pd_record *rec, bool json)
{
	out->n = 0;
	pd_print_record(&out->print, rec, json);
	pd_print_flush(&out->print);
	if (json)
		fuzz_check_json(out->line, out->n);
	else
		fuzz_check_text(out->line, out->n);
	spend(out, out->n);
}

void fuzz_output_init(struct fuzz_output *out)
{
	out->left = FUZZ_BUDGET;
	out->line = NULL;
	out->n = out->room = 0;
	pd_print_init(&out->print, keep_line, out);
}

void fuzz_output_deinit(struct fuzz_output *out)
{
	free(out->line);
}

void fuzz_record(struct fuzz_output *out, const struct pd_record *rec)
{
	struct pd_record copy = *rec;
	uint8_t *bytes = malloc(rec->size);

	FUZZ_CHECK(bytes && rec->size >= 8 && rec->layout);
	memcpy(bytes, rec->bytes, rec->size);
	copy.bytes = bytes;
	for (unsigned i = 1; i < rec->layout->n_bound; i++)
		read_field(out, &copy, i);
	if (out->left)
		print(out, &copy, false);
	if (out->left)
		print(out, &copy, true);
	pd_record_synthesised(&copy);
	free(bytes);
}
