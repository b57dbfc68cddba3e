#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "format.h"
#include "rows.h"
#include "sample.h"

#define MAX_BOUND (PD_MAX_FIELDS + PD_MAX_COMMON + PD_MAX_SPLIT)

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* rows of all tables together, at most */
#define MAX_ROWS (PD_MAX_COMMON + PD_RECORD_TYPES * PD_MAX_FIELDS)

static size_t collect_names(const char **rows, size_t n, const struct pd_field *f)
{
	for (; f->name; f++)
		rows[n++] = f->name;
	return n;
}

void pd_field_names_init(struct pd_field_names *names)
{
	const char *rows[MAX_ROWS];
	size_t n = collect_names(rows, 0, pd_common_fields);

	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc)
			n = collect_names(rows, n, desc->fields);
	}
	qsort(rows, n, sizeof(rows[0]), compare_names);
	names->n = 0;
	names->name[0] = "";
	for (size_t i = 0; i < n && names->n < PD_MAX_FIELD_NAMES; i++)
		if (strcmp(names->name[names->n], rows[i]) != 0)
			names->name[++names->n] = rows[i];
}

unsigned pd_field_name_id(const struct pd_field_names *names, const char *name, size_t n)
{
	unsigned low = 1, high = names->n;

	while (low <= high) {
		unsigned mid = (low + high) / 2;
		const char *at = names->name[mid];
		int order = strncmp(name, at, n);

		if (order == 0 && at[n])
			order = -1;
		if (order == 0)
			return mid;
		if (order < 0)
			high = mid - 1;
		else
			low = mid + 1;
	}
	return 0;
}

/* The parts of a sample_id trailer in their order on disk: see perf_event__output_id_sample. */
static const uint8_t trailer_parts[] = {
	PD_PART_TID,	   PD_PART_TIME, PD_PART_ID,
	PD_PART_STREAM_ID, PD_PART_CPU,	 PD_PART_IDENTIFIER,
};

/* Returns whether the attr has bits set that may add unknown parts to a sample. */
static bool asks_unknown(const struct pd_attr *attr)
{
	return attr->sample_type & ~PD_SAMPLE_KNOWN || attr->read_format & ~PD_READ_KNOWN ||
	       attr->branch_sample_type & ~PD_BRANCH_KNOWN;
}

void pd_shape_set(struct pd_shape *shape, const struct pd_attr *attr)
{
	shape->sample_type = attr->sample_type & PD_SAMPLE_KNOWN;
	shape->read_format = attr->read_format;
	shape->branch_sample_type = attr->branch_sample_type;
	shape->regs_user = attr->sample_regs_user;
	shape->regs_intr = attr->sample_regs_intr;
	shape->sample_id_all = (attr->flags & PD_ATTR_SAMPLE_ID_ALL) != 0;
	shape->counters = (attr->branch_sample_type & PD_BRANCH_COUNTERS) != 0;
	shape->defer = (attr->flags & PD_ATTR_DEFER_CALLCHAIN) != 0;
	shape->unknown = asks_unknown(attr);
}

uint32_t pd_trailer_size(const struct pd_shape *shape)
{
	uint32_t size = 0;

	if (shape->sample_id_all)
		for (size_t i = 0; i < sizeof(trailer_parts); i++)
			size += pd_part_present(shape, trailer_parts[i]) ? 8 : 0;
	return size;
}

/*
 * Returns the offset of a part of the trailer from the record's end (negative); 0 if the
 * trailer has no such part.
 */
static int find_trailer_offset(const struct pd_shape *shape, enum pd_part part)
{
	int from_end = 0;

	for (size_t i = sizeof(trailer_parts); i-- > 0;) {
		if (!pd_part_present(shape, trailer_parts[i]))
			continue;
		from_end += 8;
		if (trailer_parts[i] == part)
			return -from_end;
	}
	return 0;
}

/* Sets the offset of each part up to the first of variable size. */
static void place_parts(struct pd_layout *layout)
{
	uint32_t at = 8;

	for (unsigned part = 1; part < PD_PARTS; part++)
		if (pd_part_present(layout->shape, part))
			layout->last = (uint8_t)part;
	for (unsigned part = 1; part < PD_PARTS; part++) {
		uint32_t size = pd_part_fixed(layout->shape, part);

		if (!pd_part_present(layout->shape, part))
			continue;
		layout->parts[part] = (uint16_t)at;
		layout->first_var = (uint8_t)part;
		if (!size)
			return;
		at += size;
	}
}

static uint16_t get_kind_width(const struct pd_field *field)
{
	static const uint8_t widths[] = {
		[PD_K_U8] = 1,	[PD_K_U16] = 2,	  [PD_K_U32] = 4,  [PD_K_S32] = 4,
		[PD_K_X32] = 4, [PD_K_U64] = 8,	  [PD_K_S64] = 8,  [PD_K_X64] = 8,
		[PD_K_F64] = 8, [PD_K_BOOL8] = 1, [PD_K_CSTR] = 1, [PD_K_SYSTEM] = 0,
	};

	if (field->kind == PD_K_CHARS || field->kind == PD_K_HEX)
		return field->arg;
	return widths[field->kind];
}

/*
 * Fills *b with the field's offset. Returns false if records of this layout have no such field.
 */
static bool place_field(const struct pd_layout *layout, const struct pd_field *field,
			struct pd_bound *b)
{
	bool sample = layout->desc && layout->desc->type == PD_RECORD_SAMPLE;

	*b = (struct pd_bound){
		.field = field,
		.at = (int16_t)field->at,
		.kind = field->kind,
		.width = get_kind_width(field),
	};
	if (field->part == PD_PART_NONE)
		return true;
	if (sample) {
		if (!pd_part_present(layout->shape, field->part))
			return false;
		if (layout->parts[field->part])
			b->at = (int16_t)(layout->parts[field->part] + field->at);
		else
			b->part = field->part;
		return true;
	}
	if (!layout->trailer_size || !pd_part_present(layout->shape, field->part))
		return false;
	b->trailer = true;
	b->at = (int16_t)(find_trailer_offset(layout->shape, field->part) + field->at);
	return true;
}

static bool is_direct(const struct pd_layout *layout, const struct pd_bound *b)
{
	bool load = b->kind == PD_K_U64 || b->kind == PD_K_X64 || b->kind == PD_K_U32 ||
		    b->kind == PD_K_S32;

	return load && !b->part && !b->trailer && !layout->trailer_size;
}

/*
 * Adds the fields of a table. Of several fields with one name the first that a record has is
 * kept.
 */
static void bind_fields(struct pd_layout *layout, struct pd_bound *bound, uint8_t *slot,
			const struct pd_field_names *names, const struct pd_field *field)
{
	for (; field->name; field++) {
		unsigned id = pd_field_name_id(names, field->name, strlen(field->name));
		struct pd_bound *b = &bound[layout->n_bound];

		if (slot[id] || !place_field(layout, field, b))
			continue;
		b->direct = is_direct(layout, b);
		b->no_zero = layout->trailer_size && field->zero_is_absent;
		slot[id] = (uint8_t)layout->n_bound++;
	}
}

/* Adds a column for each field that a printed line can show. */
static void add_columns(struct pd_layout *layout, const struct pd_bound *bound,
			struct pd_column *columns)
{
	for (unsigned i = 1; i < layout->n_bound; i++) {
		const struct pd_field *field = bound[i].field;
		struct pd_column *c = &columns[layout->n_columns];
		size_t n = strlen(field->name);

		if (bound[i].kind >= PD_K_SYSTEM || field->header || field->of_time)
			continue;
		*c = (struct pd_column){ .label = " ", .index = (uint8_t)i };
		memcpy(c->label + 1, field->name, n);
		c->label[n + 1] = '=';
		c->label_size = (uint8_t)(n + 2);
		c->time = field->is_time;
		layout->n_columns++;
	}
}

static struct pd_layout *create_layout(const struct pd_field_names *names,
				       const struct pd_shape *shape,
				       const struct pd_record_desc *desc, bool split)
{
	struct {
		struct pd_bound bound[MAX_BOUND];
		uint8_t slot[PD_MAX_FIELD_NAMES + 1];
		struct pd_column columns[MAX_BOUND];
	} work;
	struct pd_layout layout = {
		.desc = desc,
		.shape = shape,
		.swap = shape->swap,
		.split = split,
	};
	struct pd_layout *made;
	size_t bound_size, columns_size, slot_size = names->n + 1;

	memset(work.slot, 0, sizeof(work.slot));
	layout.n_bound = 1; /* index 0 stands for no field */
	memset(&work.bound[0], 0, sizeof(work.bound[0]));
	if (desc && desc->trailer)
		layout.trailer_size = pd_trailer_size(shape);
	if (desc && desc->type == PD_RECORD_SAMPLE)
		place_parts(&layout);
	if (split)
		bind_fields(&layout, work.bound, work.slot, names, pd_split_fields);
	if (desc)
		bind_fields(&layout, work.bound, work.slot, names, desc->fields);
	bind_fields(&layout, work.bound, work.slot, names, pd_common_fields);
	add_columns(&layout, work.bound, work.columns);

	bound_size = layout.n_bound * sizeof(work.bound[0]);
	columns_size = layout.n_columns * sizeof(work.columns[0]);
	made = malloc(sizeof(*made) + bound_size + columns_size + slot_size);
	if (!made)
		return NULL;
	layout.bound = memcpy(made + 1, work.bound, bound_size);
	layout.columns = memcpy((uint8_t *)(made + 1) + bound_size, work.columns, columns_size);
	layout.slot = memcpy((uint8_t *)(made + 1) + bound_size + columns_size, work.slot,
			     slot_size);
	*made = layout;
	return made;
}

struct pd_layout *pd_layout_create(const struct pd_field_names *names,
				   const struct pd_shape *shape,
				   const struct pd_record_desc *desc)
{
	return create_layout(names, shape, desc, false);
}

struct pd_layout *pd_split_layout_create(const struct pd_field_names *names,
					 const struct pd_shape *shape)
{
	return create_layout(names, shape, pd_record_desc(PD_RECORD_SAMPLE), true);
}

void pd_layout_destroy(struct pd_layout *layout)
{
	free(layout);
}
