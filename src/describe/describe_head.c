/*
 * Describes what a file has beside its records: header, attrs, ids, features. What lies where
 * a file has it by default is described without its offset.
 */
#include <stdlib.h>

#include "describe_internal.h"
#include "perfdata/format/print_scalar.h"

/* Reads the header as it is. */
static bool read_header(struct pw_describer *d, struct pd_error *err)
{
	struct pw_header *h = &d->header;
	uint8_t bytes[PW_HEADER_SIZE] = { 0 };
	uint64_t *words[] = {
		&h->size,	 &h->stride,	&h->attrs.offset,	&h->attrs.size,
		&h->data.offset, &h->data.size, &h->event_types.offset, &h->event_types.size,
	};
	struct pb_cursor c;

	if (!pd_file_read(d->file, (struct pd_section){ 0, PW_PIPE_SIZE }, bytes, err))
		return false;
	memcpy(h->magic, bytes, sizeof(h->magic));
	h->size = pb_load64(bytes + 8, d->file->swap);
	if (d->file->pipe)
		return true;
	if (!pd_file_read(d->file, (struct pd_section){ 0, h->size }, bytes, err))
		return false;
	pb_cursor_init(&c, bytes + 8, sizeof(bytes) - 8, d->file->swap);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = pb_take64(&c);
	memcpy(h->bitmap, bytes + PW_BITMAP_AT, sizeof(h->bitmap));
	return true;
}

/* Adds a string to the statement of the coder. */
static void add_bytes(struct pw_describer *d, const char *key, const void *p, size_t n)
{
	struct pd_node *node = pd_node_new(&d->arena, d->coder.levels[0].table, key,
					   PD_N_BYTES);

	if (!node) {
		d->coder.failed = true;
		return;
	}
	node->s.p = p;
	node->s.n = n;
}

static void add_number(struct pw_describer *d, const char *key, uint64_t value)
{
	pd_code_value(&d->coder, key, value, 8, PD_AS_UINT);
}

/* Adds a number, unless it is the default. */
static void add_other(struct pw_describer *d, const char *key, uint64_t value,
		      uint64_t default_value)
{
	if (value != default_value)
		add_number(d, key, value);
}

static void begin_form(struct pw_describer *d, struct pd_node *root)
{
	const struct pd_file *file = d->file;

	pd_coder_describe(&d->coder, root, NULL, 0, 0, file->swap);
	pd_code_name(&d->coder, "form", file->pipe ? "pipe" : "file");
	add_number(d, "version", file->version);
	pd_code_name(&d->coder, "byte_order", file->big ? "big" : "little");
	if (!file->input.stream &&
	    memcmp(d->header.magic, pw_magic(file->version, file->big), 8) != 0)
		add_bytes(d, "magic", d->header.magic, 8);
}

/* Returns whether the table of features was read whole. */
static bool has_whole_table(const struct pw_describer *d)
{
	size_t bits = 0;

	for (size_t i = 0; i < PW_BITMAP_SIZE; i++)
		bits += (size_t)__builtin_popcount(d->header.bitmap[i]);
	return bits == d->file->n_features && d->header.size == PW_HEADER_SIZE;
}

/* Returns the offset after ids that lie one after another, after the header. */
static uint64_t find_ids_end(const struct pw_describer *d, const uint8_t *entries)
{
	uint64_t at = d->header.size;

	for (size_t i = 0; i < d->file->n_events; i++) {
		const uint8_t *entry = entries + i * d->header.stride;
		const uint8_t *ids = entry + d->header.stride - PW_IDS_ENTRY;

		if (pb_load64(ids, d->file->swap) == at)
			at += d->file->events[i].n_ids * 8;
	}
	return at;
}

static bool describe_header(struct pw_describer *d, const uint8_t *entries,
			    struct pd_error *err)
{
	struct pw_header *h = &d->header;
	struct pd_node *root = pw_new_statement(d);
	uint64_t at = find_ids_end(d, entries), attrs = d->file->n_events * h->stride;
	uint8_t bitmap[PW_BITMAP_SIZE] = { 0 };

	if (!root)
		return pw_describe_fail(d, err);
	begin_form(d, root);
	add_number(d, "attr_size", h->stride - PW_IDS_ENTRY);
	add_other(d, "header_size", h->size, PW_HEADER_SIZE);
	add_other(d, "attrs_at", h->attrs.offset, at);
	add_other(d, "attrs_size", h->attrs.size, attrs);
	if (h->attrs.offset == at)
		at += attrs;
	add_other(d, "data_at", h->data.offset, at);
	add_other(d, "data_size", h->data.size, d->file->data.size);
	add_other(d, "event_types_at", h->event_types.offset, 0);
	add_other(d, "event_types_size", h->event_types.size, 0);
	for (size_t i = 0; i < d->file->n_features && has_whole_table(d); i++) {
		unsigned bit = d->file->features[i].bit;

		bitmap[pw_bitmap_byte(bit, d->file->big)] |= (uint8_t)(1u << bit % 8);
	}
	if (memcmp(bitmap, h->bitmap, sizeof(bitmap)) != 0)
		add_bytes(d, "bitmap", h->bitmap, sizeof(bitmap));
	if (d->coder.failed || !pw_cover(d, 0, h->size) ||
	    !pw_cover(d, h->attrs.offset, attrs) ||
	    !pw_cover(d, d->file->data.offset, d->file->data.size))
		return pw_describe_fail(d, err);
	pw_print_statement(d->out, "perf_data", root);
	return true;
}

/* Describes an attr; as bytes, if its members would make others. */
static void describe_attr(struct pw_describer *d, struct pd_node *root, const uint8_t *entry,
			  uint32_t size)
{
	struct pd_coder *c = &d->coder, *made = &d->scribe.coder;
	struct pd_node *attr;

	pd_coder_describe(c, root, entry, 0, size, d->file->swap);
	c->shape = &d->scribe.bare;
	pd_code_attr(c, "attr", size);
	pd_coder_encode(made, root, d->file->swap);
	made->shape = &d->scribe.bare;
	pd_code_attr(made, "attr", size);
	if (!c->failed && !made->failed && made->out.n == size &&
	    memcmp(made->out.p, entry, size) == 0)
		return;
	*root = (struct pd_node){ .kind = PD_N_TABLE };
	pd_coder_describe(c, root, entry, 0, size, d->file->swap);
	attr = pd_node_new(&d->arena, root, "attr", PD_N_TABLE);
	if (!attr) {
		c->failed = true;
		return;
	}
	c->levels[0].table = attr;
	pd_code_bytes(c, "bytes", size);
	c->levels[0].table = root;
}

/* Describes an event: its attr, and its ids, which lie at *at by default. */
static bool describe_event(struct pw_describer *d, size_t i, const uint8_t *entry, uint64_t *at)
{
	const struct pd_event *event = &d->file->events[i];
	uint32_t size = (uint32_t)d->header.stride - PW_IDS_ENTRY;
	uint64_t offset = pb_load64(entry + size, d->file->swap);
	uint64_t bytes = pb_load64(entry + size + 8, d->file->swap);
	struct pd_node *root = pw_new_statement(d), *ids;

	if (!root)
		return false;
	describe_attr(d, root, entry, size);
	add_other(d, "ids_at", offset, *at);
	add_other(d, "ids_size", bytes, event->n_ids * 8);
	ids = pd_node_new(&d->arena, root, "ids", PD_N_TABLE);
	for (size_t k = 0; k < event->n_ids && ids; k++) {
		struct pd_node *id = pd_node_new(&d->arena, ids, NULL, PD_N_INT);

		if (!id)
			return false;
		id->u = event->ids[k];
	}
	if (d->coder.failed || !ids || !pw_cover(d, offset, event->n_ids * 8) ||
	    !pw_scribe_add_event(&d->scribe, entry, size, event->n_ids ? event->ids[0] : 0))
		return false;
	if (offset == *at)
		*at += event->n_ids * 8;
	pw_print_statement(d->out, "event", root);
	return true;
}

static bool describe_events(struct pw_describer *d, const uint8_t *entries,
			    struct pd_error *err)
{
	uint64_t at = d->header.size;

	for (size_t i = 0; i < d->file->n_events; i++)
		if (!describe_event(d, i, entries + i * d->header.stride, &at))
			return pw_describe_fail(d, err);
	return true;
}

/* Describes the content of a feature, raw or not. Returns whether it makes the same bytes. */
static bool describe_content(struct pw_describer *d, struct pd_node *root,
			     const struct pd_feature_section *s, const uint8_t *bytes,
			     bool is_raw)
{
	struct pd_coder *c = &d->coder, *made = &d->scribe.coder;
	const struct pd_feature *feature = pd_feature_by_bit(s->bit);

	*root = (struct pd_node){ .kind = PD_N_TABLE };
	pd_coder_describe(c, root, bytes, 0, (uint32_t)s->at.size, d->file->swap);
	c->shape = &d->scribe.bare;
	c->is_raw = is_raw;
	pd_code_feature_bit(c, "name", s->bit);
	if (s->at.size || !is_raw)
		pd_code_feature(c, feature);
	if (is_raw)
		return !c->failed;
	pd_coder_encode(made, root, d->file->swap);
	made->shape = &d->scribe.bare;
	pd_code_feature_bit(made, "name", 0);
	pd_code_feature(made, feature);
	return !c->failed && !made->failed && made->out.n == s->at.size &&
	       (!made->out.n || memcmp(made->out.p, bytes, made->out.n) == 0);
}

/* Returns the bytes of a feature, which the caller frees; NULL if they are not there. */
static uint8_t *read_content(struct pw_describer *d, const struct pd_feature_section *s)
{
	uint64_t size = d->file->input.size;
	uint8_t *bytes;

	if (s->at.size > PD_SECTION_MOST || s->at.offset > size ||
	    s->at.size > size - s->at.offset)
		return NULL;
	bytes = malloc((size_t)s->at.size + 1);
	if (bytes && s->at.size && !pd_file_read(d->file, s->at, bytes, NULL)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/*
 * Describes a feature, which lies at *at by default. perf leaves a gap where it had room in the
 * table for features that it then did not write.
 */
static bool describe_feature(struct pw_describer *d, const struct pd_feature_section *s,
			     uint64_t *at)
{
	struct pd_node *root = pw_new_statement(d);
	uint8_t *bytes = read_content(d, s);
	uint64_t written = bytes ? s->at.size : 0;
	bool ok = root != NULL;

	if (ok && bytes && !describe_content(d, root, s, bytes, false))
		ok = describe_content(d, root, s, bytes, true);
	if (ok && !bytes) {
		pd_coder_describe(&d->coder, root, NULL, 0, 0, d->file->swap);
		pd_code_feature_bit(&d->coder, "name", s->bit);
	}
	if (ok) {
		d->coder.levels[0].table = root;
		d->coder.depth = 0;
		if (s->at.offset > *at && s->at.offset - *at <= PW_MOST_GAP)
			add_number(d, "gap", s->at.offset - *at);
		else
			add_other(d, "at", s->at.offset, *at);
		add_other(d, "size", s->at.size, written);
		ok = !d->coder.failed && pw_cover(d, s->at.offset, written);
	}
	if (ok) {
		pw_print_statement(d->out, "feature", root);
		if (bytes)
			pw_scribe_take_feature(&d->scribe, s->bit, bytes, (size_t)written);
		if (s->at.offset >= *at && s->at.offset - *at <= PW_MOST_GAP)
			*at = s->at.offset + written;
	}
	free(bytes);
	return ok;
}

static bool describe_features(struct pw_describer *d, struct pd_error *err)
{
	uint64_t table = d->header.data.offset + d->header.data.size;
	uint64_t at = table + d->file->n_features * 16;

	if (!has_whole_table(d))
		return true;
	if (!pw_cover(d, table, d->file->n_features * 16))
		return pw_describe_fail(d, err);
	for (size_t i = 0; i < d->file->n_features; i++)
		if (!describe_feature(d, &d->file->features[i], &at))
			return pw_describe_fail(d, err);
	return true;
}

/* Describes the sections of a file. */
static bool describe_sections(struct pw_describer *d, struct pd_error *err)
{
	struct pd_section all = { d->header.attrs.offset,
				  d->file->n_events * d->header.stride };
	uint8_t *entries = malloc((size_t)all.size + 1);
	bool ok;

	if (!entries)
		return pw_describe_fail(d, err);
	ok = (!all.size || pd_file_read(d->file, all, entries, err)) &&
	     describe_header(d, entries, err) && describe_events(d, entries, err) &&
	     describe_features(d, err);
	free(entries);
	return ok;
}

bool pw_describe_head(struct pw_describer *d, struct pd_error *err)
{
	struct pd_node *root;

	if (d->file->directory)
		return pd_error_set(err, "EISDIR", d->file->path, PD_NO_OFFSET,
				    "found a directory, expected one file; perflua convert "
				    "makes one of it");
	if (!d->file->input.stream && !read_header(d, err))
		return false;
	pd_print_const(d->out, "-- A recording, for perflua build. Literals only: nothing in "
			       "here is run.\n");
	d->at = d->file->streams[0].data.offset;
	if (!d->file->pipe)
		return describe_sections(d, err);
	root = pw_new_statement(d);
	if (!root)
		return pw_describe_fail(d, err);
	begin_form(d, root);
	pw_print_statement(d->out, "perf_data", root);
	return true;
}
