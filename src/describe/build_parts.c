/*
 * Writes the parts of a file beside its records. Parts whose offset the description says are
 * written there, the others one after another.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "build_internal.h"

bool pw_check_output(struct pw_builder *b, struct pd_error *err)
{
	return !b->out.error || pd_error_set(err, "WRITE", "", PD_NO_OFFSET, "cannot write");
}

/* Goes on at an offset of the file. */
static void seek_output(struct pw_builder *b, uint64_t at)
{
	pw_output_flush(&b->out);
	if (!b->out.error && (at > INT64_MAX || lseek(b->out.fd, (off_t)at, SEEK_SET) < 0))
		b->out.error = at > INT64_MAX ? EFBIG : errno;
	b->out.at = at;
}

/* Writes what a file has before its records. */
static void put_head(struct pw_builder *b)
{
	struct pw_header *h = &b->header;

	pw_put_zeros(&b->out, (size_t)h->size);
	pw_put(&b->out, b->ids.p, b->ids.n);
	if (!b->has_attrs_size)
		h->attrs.size = b->entries.n;
	if (!b->has_attrs_at) {
		h->attrs.offset = b->out.at;
		pw_put(&b->out, b->entries.p, b->entries.n);
	} else if (b->entries.n) {
		pw_output_replace(&b->out, h->attrs.offset, b->entries.p, b->entries.n);
	}
	if (!b->has_data_at)
		h->data.offset = b->out.at;
}

bool pw_begin_data(struct pw_builder *b, struct pd_error *err)
{
	struct pw_header *h = &b->header;

	if (b->has_data)
		return true;
	b->has_data = true;
	if (b->pipe) {
		pw_put(&b->out, h->magic, sizeof(h->magic));
		pw_put64(&b->out, PW_PIPE_SIZE);
	} else {
		put_head(b);
		if (h->data.offset != b->out.at)
			seek_output(b, h->data.offset);
	}
	return pw_check_output(b, err);
}

static void store64(uint8_t *p, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(p, &value, sizeof(value));
}

static int compare_features(const void *a, const void *b)
{
	const struct pw_built_feature *x = a, *y = b;

	return x->bit < y->bit ? -1 : x->bit > y->bit;
}

/* Writes the table of features, in the order of their bits, and their contents. */
static void put_features(struct pw_builder *b)
{
	uint8_t table[PD_FEATURES * 16];
	uint64_t table_at = b->out.at;

	if (b->n_features)
		qsort(b->features, b->n_features, sizeof(*b->features), compare_features);
	pw_put_zeros(&b->out, b->n_features * 16);
	for (size_t i = 0; i < b->n_features; i++) {
		struct pw_built_feature *f = &b->features[i];
		uint64_t at;

		/* a hole: a feature that was written before may lie in it */
		if (!f->has_at && f->gap)
			seek_output(b, b->out.at + f->gap);
		at = f->has_at ? f->at : b->out.at;
		if (!f->has_at)
			pw_put(&b->out, f->bytes, f->n);
		else if (f->n)
			pw_output_replace(&b->out, at, f->bytes, f->n);
		store64(table + 16 * i, at, b->swap);
		store64(table + 16 * i + 8, f->has_size ? f->size : f->n, b->swap);
		if (!b->has_bitmap)
			b->header.bitmap[pw_bitmap_byte(f->bit, b->big)] |=
				(uint8_t)(1u << f->bit % 8);
	}
	if (b->n_features)
		pw_output_replace(&b->out, table_at, table, b->n_features * 16);
}

static void put_header(struct pw_builder *b)
{
	const struct pw_header *h = &b->header;
	const uint64_t words[] = {
		h->size,	h->stride,    h->attrs.offset,	     h->attrs.size,
		h->data.offset, h->data.size, h->event_types.offset, h->event_types.size,
	};
	uint8_t header[PW_HEADER_SIZE];

	memcpy(header, h->magic, sizeof(h->magic));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		store64(header + 8 + 8 * i, words[i], b->swap);
	memcpy(header + PW_BITMAP_AT, h->bitmap, PW_BITMAP_SIZE);
	pw_output_replace(&b->out, 0, header, (size_t)h->size);
}

bool pw_end_parts(struct pw_builder *b, struct pd_error *err)
{
	struct pw_header *h = &b->header;
	/* nothing lies at data.offset, which may be one that no file has */
	bool is_bare = !b->pipe && !b->has_data && !b->n_features;

	if (b->ended)
		return true;
	if (is_bare)
		put_head(b);
	else if (!pw_begin_data(b, err))
		return false;
	b->has_data = b->ended = true;
	if (!b->pipe) {
		if (!b->has_data_size && !is_bare)
			h->data.size = b->out.at - h->data.offset;
		else if (b->n_features && h->data.offset + h->data.size != b->out.at)
			seek_output(b, h->data.offset + h->data.size);
		put_features(b);
		put_header(b);
	}
	pw_output_flush(&b->out);
	return pw_check_output(b, err);
}
