/*
 * Builds a recording. Parts of a file whose offset the description says are written there, the
 * others one after another.
 */
#include "build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "write/edit.h"

#define HEADER_BARE 72 /* without the bitmap of features */

#define MOST_EVENTS 65536

bool pw_builder_init(struct pw_builder *b, int64_t (*read)(void *arg, char *buffer, size_t n),
		     void *arg, const char *path, int fd)
{
	struct stat st;

	memset(b, 0, sizeof(*b));
	pw_parser_init(&b->parser, read, arg, path);
	b->can_seek = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	return pw_output_init(&b->out, fd, false);
}

void pw_builder_deinit(struct pw_builder *b)
{
	for (size_t i = 0; i < b->n_features; i++)
		free(b->features[i].bytes);
	free(b->features);
	b->features = NULL;
	b->n_features = 0;
	pw_parser_deinit(&b->parser);
	pw_scribe_deinit(&b->scribe);
	pw_output_deinit(&b->out);
	pb_string_deinit(&b->entries);
	pb_string_deinit(&b->ids);
}

/* Fails because of a statement; `what` says what was found and expected. Returns false. */
static bool refuse_statement(struct pw_builder *b, const struct pd_node *node, const char *what,
			     struct pd_error *err)
{
	uint32_t line = node && node->line ? node->line : b->parser.line;

	return pd_error_set(err, "FORMAT", b->parser.path, PD_NO_OFFSET, "line %u: %s: %s",
			    line, b->parser.name, what);
}

static bool fail_memory(struct pw_builder *b, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", b->parser.path, PD_NO_OFFSET, "no memory to build");
}

/* Returns false with *err if a write failed. */
static bool check_written(struct pw_builder *b, struct pd_error *err)
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

/* Writes what comes before the records, once. */
static bool write_front_parts(struct pw_builder *b, struct pd_error *err)
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
	return check_written(b, err);
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
		pw_store64(table + 16 * i, at, b->swap);
		pw_store64(table + 16 * i + 8, f->has_size ? f->size : f->n, b->swap);
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
		pw_store64(header + 8 + 8 * i, words[i], b->swap);
	memcpy(header + PW_BITMAP_AT, h->bitmap, PW_BITMAP_SIZE);
	pw_output_replace(&b->out, 0, header, (size_t)h->size);
}

/* Writes what comes after the records, once, and the header. */
static bool write_end_parts(struct pw_builder *b, struct pd_error *err)
{
	struct pw_header *h = &b->header;
	/* nothing lies at data.offset, which may be one that no file has */
	bool is_bare = !b->pipe && !b->has_data && !b->n_features;

	if (b->ended)
		return true;
	if (is_bare)
		put_head(b);
	else if (!write_front_parts(b, err))
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
	return check_written(b, err);
}

/* Begins to encode the values of a statement. */
static struct pd_coder *begin_statement(struct pw_builder *b, struct pd_node *root)
{
	struct pd_coder *c = &b->scribe.coder;

	pd_coder_encode(c, root, b->swap);
	c->what = b->parser.name;
	c->shape = &b->scribe.bare;
	return c;
}

/* Ends it. Returns false with *err if it has other values, or one was wrong. */
static bool end_statement(struct pw_builder *b, struct pd_node *root, struct pd_error *err)
{
	struct pd_coder *c = &b->scribe.coder;

	if (!c->failed)
		pd_code_check_used(c, root);
	if (!c->failed)
		return true;
	return pd_error_set(err, "FORMAT", b->parser.path, PD_NO_OFFSET, "%s",
			    c->error[0] ? c->error : "no memory to build");
}

/* Reads a number of the statement, if it is there. */
static bool read_number(struct pd_coder *c, const char *key, uint64_t *value)
{
	if (!pd_code_find(c, key))
		return false;
	*value = pd_code_value(c, key, 0, 8, PD_AS_UINT);
	return true;
}

/* Returns which of two words a member is; the first by default. */
static bool is_second_word(struct pd_coder *c, const char *key, const char *first,
			   const char *second)
{
	struct pd_node *node = pd_code_find(c, key);
	char expected[64];

	if (!node)
		return false;
	node->used = true;
	if (pd_node_is(node, first))
		return false;
	if (!pd_node_is(node, second)) {
		snprintf(expected, sizeof(expected), "\"%s\" or \"%s\"", first, second);
		pd_code_fail(c, node, key, expected);
	}
	return true;
}

/* Reads bytes of a fixed size, if they are there. */
static bool read_bytes(struct pd_coder *c, const char *key, void *to, uint32_t size)
{
	if (!pd_code_find(c, key))
		return false;
	c->at = 0;
	pd_code_bytes(c, key, size);
	if (!c->failed)
		memcpy(to, c->out.p, size);
	return true;
}

static void read_sections(struct pw_builder *b, struct pd_coder *c)
{
	struct pw_header *h = &b->header;
	uint64_t attr_size = PD_ATTR_SIZE;

	read_number(c, "attr_size", &attr_size);
	if (attr_size < PD_ATTR_MIN || attr_size > UINT16_MAX)
		pd_code_fail(c, pd_code_find(c, "attr_size"), "attr_size",
			     "a size from 64 to 65535 bytes");
	h->stride = attr_size + PW_IDS_ENTRY;
	h->size = PW_HEADER_SIZE;
	read_number(c, "header_size", &h->size);
	if (h->size != PW_HEADER_SIZE && h->size != HEADER_BARE)
		pd_code_fail(c, pd_code_find(c, "header_size"), "header_size", "104 or 72");
	b->has_attrs_at = read_number(c, "attrs_at", &h->attrs.offset);
	b->has_attrs_size = read_number(c, "attrs_size", &h->attrs.size);
	b->has_data_at = read_number(c, "data_at", &h->data.offset);
	b->has_data_size = read_number(c, "data_size", &h->data.size);
	read_number(c, "event_types_at", &h->event_types.offset);
	read_number(c, "event_types_size", &h->event_types.size);
	b->has_bitmap = read_bytes(c, "bitmap", h->bitmap, sizeof(h->bitmap));
}

static bool take_perf_data(struct pw_builder *b, struct pd_node *root, struct pd_error *err)
{
	struct pd_coder *c = begin_statement(b, root);
	uint64_t version = 2;

	if (b->begun)
		return refuse_statement(b, root, "found a second one, expected one", err);
	b->begun = true;
	b->pipe = is_second_word(c, "form", "file", "pipe");
	b->big = is_second_word(c, "byte_order", "little", "big");
	b->swap = b->big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	if (read_number(c, "version", &version) && version != 1 && version != 2)
		pd_code_fail(c, pd_code_find(c, "version"), "version", "1 or 2");
	b->version = (unsigned)version;
	memcpy(b->header.magic, pw_magic(b->version, b->big), 8);
	read_bytes(c, "magic", b->header.magic, 8);
	if (!b->pipe)
		read_sections(b, c);
	if (!end_statement(b, root, err))
		return false;
	if (!b->pipe && !b->can_seek)
		return refuse_statement(
			b, root,
			"found the form of a file, expected \"pipe\": what is written "
			"cannot seek",
			err);
	pw_scribe_deinit(&b->scribe);
	pw_scribe_init(&b->scribe, b->swap, b->big);
	b->out.swap = b->swap;
	return true;
}

/* Adds the entry of an event, and its ids. Returns false without memory. */
static bool add_event(struct pw_builder *b, const uint8_t *attr, size_t n, struct pd_section at,
		      bool has_at)
{
	uint64_t words[2] = { at.offset, at.size };
	size_t size = (size_t)b->header.stride - PW_IDS_ENTRY;
	const uint8_t *ids = attr + size; /* in the byte order of the file */

	if (!has_at)
		words[0] = b->header.size + b->ids.n;
	if (!has_at)
		pb_string_add(&b->ids, (const char *)ids, n * 8);
	else if (n)
		pw_output_replace(&b->out, at.offset, ids, n * 8);
	for (size_t i = 0; i < 2; i++)
		words[i] = b->swap ? __builtin_bswap64(words[i]) : words[i];
	pb_string_add(&b->entries, (const char *)attr, size);
	pb_string_add(&b->entries, (const char *)words, sizeof(words));
	return !b->ids.failed && !b->entries.failed;
}

static bool take_event(struct pw_builder *b, struct pd_node *root, struct pd_error *err)
{
	struct pd_coder *c = begin_statement(b, root);
	uint32_t size = (uint32_t)b->header.stride - PW_IDS_ENTRY, n;
	struct pd_section at = { 0, 0 };
	const uint8_t *bytes;
	bool has_at, ok;

	if (b->pipe)
		return refuse_statement(b, root, "found it in a pipe, expected header_attr",
					err);
	if (b->has_data || b->scribe.n_events == MOST_EVENTS ||
	    b->entries.n + b->header.stride > PD_SECTION_MOST)
		return refuse_statement(
			b, root,
			"found it after records, or too many, expected at most 65536 "
			"of 64 MB before all records",
			err);
	pd_code_attr(c, "attr", size);
	n = pd_code_count(c, "ids", 0, 8);
	for (uint32_t i = 0; i < n; i++)
		pd_code_int(c, NULL, 8, PD_AS_UINT);
	pd_code_end(c);
	has_at = read_number(c, "ids_at", &at.offset);
	at.size = n * UINT64_C(8);
	read_number(c, "ids_size", &at.size);
	if (!end_statement(b, root, err))
		return false;
	bytes = (const uint8_t *)c->out.p;
	ok = pw_scribe_add_event(&b->scribe, bytes, size,
				 n ? pb_load64(bytes + size, b->swap) : 0) &&
	     add_event(b, bytes, n, at, has_at);
	return ok || fail_memory(b, err);
}

static bool has_feature(const struct pw_builder *b, uint64_t bit)
{
	for (size_t i = 0; i < b->n_features; i++)
		if (b->features[i].bit == bit)
			return true;
	return false;
}

static bool take_feature(struct pw_builder *b, struct pd_node *root, struct pd_error *err)
{
	struct pd_coder *c = begin_statement(b, root);
	struct pw_built_feature *feature;
	uint64_t bit;

	if (b->pipe || b->ended)
		return refuse_statement(
			b, root,
			"found it in a pipe, or after bytes_at, expected in a pipe "
			"header_feature",
			err);
	bit = pd_code_feature_bit(c, "name", 0);
	if (bit >= PD_FEATURES || has_feature(b, bit)) {
		pd_code_fail(c, pd_code_find(c, "name"), "name",
			     "a number below 256 that no other feature has");
		return end_statement(b, root, err);
	}
	if (!pb_reserve(b->features, b->n_features, b->features_room))
		return fail_memory(b, err);
	feature = &b->features[b->n_features++];
	*feature = (struct pw_built_feature){ .bit = (unsigned)bit };
	pd_code_feature(c, pd_feature_by_bit((unsigned)bit));
	feature->has_at = read_number(c, "at", &feature->at);
	if (read_number(c, "gap", &feature->gap) && feature->gap > PW_MOST_GAP)
		pd_code_fail(c, pd_code_find(c, "gap"), "gap", "at most 4096");
	feature->has_size = read_number(c, "size", &feature->size);
	if (!end_statement(b, root, err))
		return false;
	feature->n = c->out.n;
	feature->bytes = malloc(feature->n + 1);
	if (!feature->bytes)
		return fail_memory(b, err);
	if (feature->n)
		memcpy(feature->bytes, c->out.p, feature->n);
	pw_scribe_take_feature(&b->scribe, bit, feature->bytes, feature->n);
	return true;
}

/* Takes bytes of the records, or of a place of the file. */
static bool take_bytes(struct pw_builder *b, struct pd_node *root, bool in_data,
		       struct pd_error *err)
{
	struct pd_coder *c = begin_statement(b, root);
	uint64_t at = 0;

	if (!in_data && b->pipe)
		return refuse_statement(b, root, "found it in a pipe, expected data", err);
	if (!in_data)
		read_number(c, "at", &at);
	pd_code_rest(c, "bytes");
	if (!end_statement(b, root, err) || (in_data && !write_front_parts(b, err)) ||
	    (!in_data && !write_end_parts(b, err)))
		return false;
	if (in_data)
		pw_put(&b->out, c->out.p, c->out.n);
	else if (c->out.n)
		pw_output_replace(&b->out, at, c->out.p, c->out.n);
	return true;
}

static bool take_record(struct pw_builder *b, struct pd_node *root, struct pd_error *err)
{
	const struct pb_string *out = &b->scribe.coder.out;

	if (b->ended)
		return refuse_statement(b, root, "found a record after bytes_at, expected none",
					err);
	if (!pw_scribe_encode(&b->scribe, b->parser.name, root))
		return end_statement(b, root, err);
	if (!write_front_parts(b, err))
		return false;
	pw_put(&b->out, out->p, out->n);
	b->records++;
	b->samples += pb_load32((const uint8_t *)out->p, b->swap) == PD_RECORD_SAMPLE;
	return pw_scribe_learn(&b->scribe, (const uint8_t *)out->p, out->n) ||
	       fail_memory(b, err);
}

static bool take_statement(struct pw_builder *b, struct pd_node *root, struct pd_error *err)
{
	const char *name = b->parser.name;

	if (strcmp(name, "perf_data") == 0)
		return take_perf_data(b, root, err);
	if (!b->begun)
		return refuse_statement(b, root, "found it first, expected perf_data", err);
	if (strcmp(name, "event") == 0)
		return take_event(b, root, err);
	if (strcmp(name, "feature") == 0)
		return take_feature(b, root, err);
	if (strcmp(name, "data") == 0 || strcmp(name, "bytes_at") == 0)
		return take_bytes(b, root, name[0] == 'd', err);
	return take_record(b, root, err);
}

bool pw_build(struct pw_builder *b, struct pd_error *err)
{
	struct pd_node *root;
	int got;

	while ((got = pw_parse(&b->parser, &root, err)) > 0)
		if (!take_statement(b, root, err) || !check_written(b, err))
			return false;
	if (got < 0)
		return false;
	if (!b->begun)
		return pd_error_set(err, "FORMAT", b->parser.path, PD_NO_OFFSET,
				    "found no statement, expected perf_data { … }");
	return write_front_parts(b, err) && write_end_parts(b, err) && check_written(b, err);
}
