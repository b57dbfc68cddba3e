#include "describe.h"

#include <stdlib.h>

#include "base/vector.h"
#include "describe_internal.h"

#define BLOCK 1024 /* bytes of a string of bytes that are not understood */

void pw_describer_init(struct pw_describer *d, struct pd_file *file, struct pd_print *out)
{
	*d = (struct pw_describer){ .file = file, .out = out };
	pw_scribe_init(&d->scribe, file->swap, file->big);
	d->coder.arena = &d->arena;
}

void pw_describer_deinit(struct pw_describer *d)
{
	pw_scribe_deinit(&d->scribe);
	pb_arena_deinit(&d->arena);
	free(d->covered);
	d->covered = NULL;
}

bool pw_describe_fail(struct pw_describer *d, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", d->file->path, PD_NO_OFFSET,
			    "no memory to describe it");
}

struct pd_node *pw_new_statement(struct pw_describer *d)
{
	pb_arena_clear(&d->arena);
	return pd_node_new(&d->arena, NULL, NULL, PD_N_TABLE);
}

bool pw_cover(struct pw_describer *d, uint64_t offset, uint64_t size)
{
	if (!pb_reserve(d->covered, d->n_covered, d->covered_room))
		return false;
	d->covered[d->n_covered++] = (struct pd_section){ offset, size };
	return true;
}

/* Describes bytes of the file, of which nothing is understood, up to `to`. */
static bool describe_bytes(struct pw_describer *d, uint64_t from, uint64_t to, bool in_data,
			   struct pd_error *err)
{
	uint8_t bytes[BLOCK];
	bool is_zero = true;

	if (from < to && d->file->input.stream)
		return pd_error_set(err, "ESPIPE", d->file->path, from,
				    "found data between records in a stream, which can be read "
				    "only once; save the stream to a file");
	for (; from < to; from += BLOCK) {
		struct pd_section part = { from, to - from < BLOCK ? to - from : BLOCK };
		struct pd_node *root = pw_new_statement(d), *node = NULL;

		if (!pd_file_read(d->file, part, bytes, err))
			return false;
		for (size_t i = 0; i < part.size; i++)
			is_zero = is_zero && !bytes[i];
		/* a hole between parts; at the end of the file it has to be written */
		if (!in_data && is_zero && to < d->file->input.size)
			continue;
		pd_coder_describe(&d->coder, root, bytes, 0, (uint32_t)part.size,
				  d->file->swap);
		if (root && !in_data)
			pd_code_value(&d->coder, "at", from, 8, PD_AS_UINT);
		if (root)
			node = pd_node_new(&d->arena, root, "bytes", PD_N_BYTES);
		if (!node)
			return pw_describe_fail(d, err);
		node->s.p = (const char *)bytes;
		node->s.n = (size_t)part.size;
		pw_print_statement(d->out, in_data ? "data" : "bytes_at", root);
	}
	return true;
}

/* Describes a record by its fields. Returns NULL if these would not make the same bytes. */
static struct pd_node *describe_fields(struct pw_describer *d, const struct pd_record *rec)
{
	const struct pd_record_desc *desc = rec->layout->desc;
	const struct pd_event *event = pd_recorded_event(rec);
	const struct pb_string *made = &d->scribe.coder.out;
	uint32_t number = event ? event->index : 0;
	struct pd_node *root = pw_new_statement(d);
	struct pd_coder *c = &d->coder;

	if (!root || (!event && d->scribe.n_events && pw_has_event(desc)))
		return NULL;
	pd_coder_describe(c, root, rec->bytes, 8, rec->size, d->file->swap);
	c->rec = rec;
	c->misc = rec->misc;
	c->shape = pw_has_event(desc) ? pw_scribe_shape(&d->scribe, number) : &d->scribe.bare;
	if (!c->shape)
		return NULL;
	if (number && pw_has_event(desc))
		pd_code_value(c, "event", number + UINT64_C(1), 8, PD_AS_UINT);
	pd_code_record(c, desc);
	if (c->failed || !pw_scribe_encode(&d->scribe, desc->name, root) ||
	    made->n != rec->size || memcmp(made->p, rec->bytes, rec->size) != 0)
		return NULL;
	return root;
}

/* Describes a record by its bytes. */
static struct pd_node *describe_raw(struct pw_describer *d, const struct pd_record *rec)
{
	struct pd_node *root = pw_new_statement(d);
	struct pd_coder *c = &d->coder;

	if (!root)
		return NULL;
	pd_coder_describe(c, root, rec->bytes, 8, rec->size, d->file->swap);
	c->misc = rec->misc;
	if (!rec->layout->desc)
		pd_code_value(c, "type", rec->type, 4, PD_AS_UINT);
	pd_code_unknown(c, rec->type);
	return c->failed ? NULL : root;
}

bool pw_describe_record(struct pw_describer *d, const struct pd_record *rec,
			struct pd_error *err)
{
	const struct pd_record_desc *desc = rec->layout->desc;
	struct pd_node *root;

	if (rec->chunk_offset != PD_NO_CHUNK)
		return true; /* the compressed record is described */
	if (!describe_bytes(d, d->at, rec->offset, true, err))
		return false;
	root = desc ? describe_fields(d, rec) : NULL;
	if (!root)
		root = describe_raw(d, rec);
	if (!root || !pw_scribe_learn(&d->scribe, rec->bytes, rec->size))
		return pw_describe_fail(d, err);
	pw_print_statement(d->out, desc ? desc->name : "record", root);
	d->at = rec->offset + rec->size;
	return true;
}

static int compare_sections(const void *a, const void *b)
{
	const struct pd_section *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

bool pw_describe_end(struct pw_describer *d, struct pd_error *err)
{
	struct pd_section data = d->file->streams[0].data;
	uint64_t at = 0, size = d->file->input.size;

	if (d->file->input.stream)
		return true;
	if (!describe_bytes(d, d->at, data.offset + data.size, true, err))
		return false;
	if (d->file->pipe)
		return true;
	qsort(d->covered, d->n_covered, sizeof(*d->covered), compare_sections);
	for (size_t i = 0; i < d->n_covered; i++) {
		const struct pd_section *s = &d->covered[i];

		if (s->offset > at &&
		    !describe_bytes(d, at, s->offset < size ? s->offset : size, false, err))
			return false;
		if (s->offset + s->size > at)
			at = s->offset + s->size;
	}
	return at >= size || describe_bytes(d, at, size, false, err);
}
