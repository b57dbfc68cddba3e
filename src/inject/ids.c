/*
 * Build-ids of binaries: as rows of the table in the header, which in pipe mode are records
 * (see struct perf_record_header_build_id, tools/lib/perf/include/perf/event.h), and in the
 * records of their mappings (see perf_event_mmap_output, kernel/events/core.c).
 */
#include <stdlib.h>

#include "perfdata/format/format.h"
#include "symbols/proof.h"
#include "symbols/symbols.h"
#include "write/edit.h"
#include "internal.h"

#define HEADER	  8    /* bytes of the header of a record */
#define NAME_MOST 4096 /* bytes of the name of a binary */

/* Offsets in a row of the table, and in a record of a build-id. */
#define ID_AT	12
#define SIZE_AT 32
#define NAME_AT 36

/* Offsets in records of mappings. A build-id lies where the device and inode would be. */
#define INODE_AT   40
#define PROT_AT	   64
#define MMAP2_NAME 72
#define MMAP_NAME  40

/* Returns what the caller knows of a binary; NULL: nothing. */
static const struct pj_known *find_known(const struct pj_injector *in, struct pd_text name)
{
	for (size_t i = 0; i < in->asked.n_known; i++) {
		const struct pj_known *known = &in->asked.known[i];

		if (strlen(known->name) == name.n && !memcmp(known->name, name.p, name.n))
			return known;
	}
	return NULL;
}

/* Returns the name that a binary has in the table. */
static const char *name_of(const struct ps_dso *dso)
{
	return dso->id.shown ? dso->id.shown : dso->id.name;
}

/* Sets the build-id of a binary: the one that the caller knows, else the one that is found. */
static void identify(const struct pj_injector *in, struct ps_dso *dso, struct pj_binary *binary)
{
	const char *name = name_of(dso);
	const struct pj_known *known = find_known(in, (struct pd_text){ name, strlen(name) });

	*binary = (struct pj_binary){ .dso = dso, .is_known = known };
	binary->id = known ? known->id : ps_dso_identify(dso, &binary->reason);
	if (binary->id.size)
		binary->reason = NULL;
}

struct pj_binary *pj_binary_of(struct pj_injector *in, struct ps_dso *dso)
{
	uint32_t i = pb_id_map_find(&in->by_dso, (uintptr_t)dso);

	if (i != UINT32_MAX)
		return &in->binaries[i];
	if (!pb_reserve(in->binaries, in->n_binaries, in->binaries_room) ||
	    !pb_id_map_add(&in->by_dso, (uintptr_t)dso, (uint32_t)in->n_binaries))
		return NULL;
	identify(in, dso, &in->binaries[in->n_binaries]);
	return &in->binaries[in->n_binaries++];
}

static bool is_of_kernel(const struct ps_dso *dso)
{
	return dso->id.kind == PS_KERNEL || dso->id.kind == PS_MODULE;
}

static enum pd_cpumode mode_of(const struct ps_dso *dso)
{
	if (dso->id.guest)
		return is_of_kernel(dso) ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_GUEST_USER;
	return is_of_kernel(dso) ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

/* Adds the row of a binary, as a record of `type`; those of the table have none. */
static void add_row(struct pb_string *out, uint32_t type, const char *name,
		    enum pd_cpumode mode, const struct ps_build_id *id, bool swap)
{
	size_t n = strlen(name) + 1, size = (NAME_AT + n + 7) & ~(size_t)7;

	pj_add32(out, type, swap);
	pj_add16(out, (uint16_t)(mode | PD_MISC_BUILD_ID_SIZE), swap);
	pj_add16(out, (uint16_t)size, swap);
	pj_add32(out, UINT32_MAX, swap); /* the pid: of the host */
	pb_string_add(out, (const char *)id->bytes, PS_MAX_BUILD_ID);
	pb_string_add(out, (const char[]){ (char)id->size, 0, 0, 0 }, 4);
	pb_string_add(out, name, n);
	pb_string_fill(out, '\0', size - NAME_AT - n);
}

/* A row of a table of build-ids. */
struct row {
	struct pd_text bytes, name;
	struct ps_build_id id;
};

/* Reads a row, or a record of a build-id. Returns false if it is too short for one. */
static bool read_row(const uint8_t *bytes, size_t size, bool swap, struct row *row)
{
	if (size < NAME_AT)
		return false;
	row->bytes = (struct pd_text){ (const char *)bytes, size };
	row->name.p = row->bytes.p + NAME_AT;
	row->name.n = strnlen(row->name.p, size - NAME_AT);
	row->id.size = PS_MAX_BUILD_ID;
	if (pb_load16(bytes + 4, swap) & PD_MISC_BUILD_ID_SIZE &&
	    bytes[SIZE_AT] < PS_MAX_BUILD_ID)
		row->id.size = bytes[SIZE_AT];
	memcpy(row->id.bytes, bytes + ID_AT, PS_MAX_BUILD_ID);
	return true;
}

/* Reads the next row of a table. Returns false at its end, and where it is damaged. */
static bool next_row(struct pb_cursor *c, struct row *row)
{
	const uint8_t *bytes = c->pos;
	uint16_t size;

	if (pb_cursor_left(c) < HEADER)
		return false;
	size = pb_load16(bytes + 6, c->swap);
	return pb_take(c, size) && read_row(bytes, size, c->swap, row);
}

/* Returns whether the recording's own table has the build-id of a binary, or will have it. */
static bool is_in_table(const struct pj_injector *in, const struct pj_binary *binary)
{
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(in->file, PD_FEATURE_BUILD_ID, &c);
	const char *name = name_of(binary->dso);
	size_t n = strlen(name);
	bool found = false;
	struct row row;

	while (bytes && !found && next_row(&c, &row))
		found = n == row.name.n && !memcmp(name, row.name.p, n) &&
			(binary->is_known || ps_build_id_equal(&row.id, &binary->id));
	free(bytes);
	return found;
}

bool pj_add_id(struct pj_injector *in, struct pw_writer *writer, const char *name,
	       enum pd_cpumode mode, const struct ps_build_id *id, struct pd_error *err)
{
	struct pd_record rec = { .chunk_offset = PD_NO_CHUNK };

	in->n_added++;
	if (!in->asked.pipe) {
		add_row(&in->table, 0, name, mode, id, in->file->swap);
		return !in->table.failed || pj_fail_memory(in, err);
	}
	pb_string_clear(&in->row);
	add_row(&in->row, PD_RECORD_BUILD_ID, name, mode, id, in->file->swap);
	if (in->row.failed)
		return pj_fail_memory(in, err);
	pj_make_record(in, &in->row, &rec);
	return pw_write(writer, &rec, err);
}

/* Adds the build-id of a binary that was met. Returns false with *err. */
static bool add_binary(struct pj_injector *in, struct pw_writer *writer, struct ps_dso *dso,
		       struct pd_error *err)
{
	struct pj_binary *binary = pj_binary_of(in, dso);

	if (!binary)
		return pj_fail_memory(in, err);
	if (binary->is_added || !binary->id.size || strlen(name_of(dso)) > NAME_MOST)
		return true;
	binary->is_added = true;
	if (is_in_table(in, binary))
		return true;
	return pj_add_id(in, writer, name_of(dso), mode_of(dso), &binary->id, err);
}

static bool add_at(struct pj_injector *in, struct pw_writer *writer,
		   const struct pm_addr_context *context, uint64_t address,
		   struct pd_error *err)
{
	const struct pm_map *map = pm_map_at(in->system, context, address);

	return !map || add_binary(in, writer, map->dso, err);
}

static bool add_frames(struct pj_injector *in, struct pw_writer *writer,
		       const struct pd_record *rec, struct pd_error *err)
{
	struct pm_addr_context context;
	const struct pd_frame *frames;
	int64_t ip;
	bool ok = true;
	size_t n;

	pm_addr_context_of(in->system, rec, &context);
	if (pm_integer(rec, pm_system_field_ids(in->system)->ip, &ip))
		ok = add_at(in, writer, &context, (uint64_t)ip, err);
	frames = pm_frames_of(in->resolver, rec, &n);
	for (size_t i = 0; ok && i < n; i++) {
		context.mode = (enum pd_cpumode)frames[i].mode;
		ok = add_at(in, writer, &context, frames[i].ip, err);
	}
	return ok;
}

bool pj_add_ids(struct pj_injector *in, struct pw_writer *writer, const struct pd_record *rec,
		struct pd_error *err)
{
	struct pm_map map;

	if (in->asked.ids == PJ_HIT && rec->type == PD_RECORD_SAMPLE)
		return add_frames(in, writer, rec, err);
	if (in->asked.ids == PJ_ALL && pd_record_sideband(rec) == PD_SB_MAPPING &&
	    pm_system_mapped(in->system, rec, &map))
		return add_binary(in, writer, map.dso, err);
	return true;
}

/* Adds a row of the recording, with the build-id that the caller knows. */
static void copy_row(const struct pj_injector *in, struct pb_string *out, const struct row *row)
{
	const struct pj_known *known = find_known(in, row->name);
	size_t at = out->n;
	uint8_t *bytes;
	uint16_t misc;

	pb_string_add(out, row->bytes.p, row->bytes.n);
	if (!known || out->failed)
		return;
	bytes = (uint8_t *)out->p + at;
	misc = pb_load16(bytes + 4, in->file->swap) | PD_MISC_BUILD_ID_SIZE;
	pw_store16(bytes + 4, misc, in->file->swap);
	memcpy(bytes + ID_AT, known->id.bytes, PS_MAX_BUILD_ID);
	bytes[SIZE_AT] = known->id.size;
}

bool pj_correct_id(struct pj_injector *in, struct pd_record *rec, struct pd_error *err)
{
	struct row row;

	if (!in->asked.n_known || rec->type != PD_RECORD_BUILD_ID ||
	    !read_row(rec->bytes, rec->size, rec->layout->swap, &row))
		return true;
	pb_string_clear(&in->made);
	copy_row(in, &in->made, &row);
	rec->bytes = (const uint8_t *)in->made.p;
	return !in->made.failed || pj_fail_memory(in, err);
}

bool pj_make_table(struct pj_injector *in, struct pd_error *err)
{
	struct pb_string table = { 0 };
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(in->file, PD_FEATURE_BUILD_ID, &c);
	struct row row;
	size_t n;

	while (bytes && next_row(&c, &row))
		copy_row(in, &table, &row);
	free(bytes);
	if (in->table.n)
		pb_string_add(&table, in->table.p, in->table.n);
	table.failed |= in->table.failed;
	if (!table.n && !table.failed)
		return true;
	bytes = pw_take_bytes(&table, &n, err);
	if (bytes)
		pw_replace_feature(&in->description, PD_FEATURE_BUILD_ID, bytes, n);
	return bytes != NULL;
}

void pj_add_mapped_id(struct pb_string *out, const struct ps_build_id *id)
{
	pb_string_add(out, (const char[]){ (char)id->size, 0, 0, 0 }, 4);
	pb_string_add(out, (const char *)id->bytes, PS_MAX_BUILD_ID);
}

/* Adds the bytes of the record with a build-id. */
static void make_mapping(const struct pd_record *rec, const struct ps_build_id *id,
			 struct pb_string *out)
{
	bool swap = rec->layout->swap, is_mmap2 = rec->type == PD_RECORD_MMAP2;
	uint32_t name_at = is_mmap2 ? MMAP2_NAME : MMAP_NAME;

	pj_add32(out, PD_RECORD_MMAP2, swap);
	pj_add16(out, rec->misc | PD_MISC_MMAP_BUILD_ID, swap);
	pj_add16(out, (uint16_t)(rec->size + MMAP2_NAME - name_at), swap);
	pb_string_add(out, (const char *)rec->bytes + HEADER, INODE_AT - HEADER);
	pj_add_mapped_id(out, id);
	if (is_mmap2) {
		pb_string_add(out, (const char *)rec->bytes + PROT_AT, MMAP2_NAME - PROT_AT);
	} else {
		pj_add32(out, rec->misc & PD_MISC_MMAP_DATA ? 1 : PJ_READ_EXEC, swap);
		pj_add32(out, PJ_PRIVATE, swap);
	}
	pb_string_add(out, (const char *)rec->bytes + name_at, rec->size - name_at);
}

/* Returns whether no sample needs a mapping. A jitdump is found by the mapping of its file. */
static bool is_unused(const struct pj_injector *in, const struct pd_record *rec,
		      const struct pm_map *map)
{
	const struct ps_dso *dso = map->dso;
	int64_t pid;

	return dso->state == PS_UNTRIED && dso->id.kind != PS_KERNEL &&
	       !(pm_integer(rec, pm_system_field_ids(in->system)->pid, &pid) &&
		 ps_is_jitdump(map->filename, (int32_t)pid));
}

int pj_identify_mapping(struct pj_injector *in, struct pd_record *rec, struct pd_error *err)
{
	bool is_mmap2 = rec->type == PD_RECORD_MMAP2;
	const struct pj_binary *binary;
	struct pm_map map;

	if ((rec->type != PD_RECORD_MMAP && !is_mmap2) ||
	    rec->size < (is_mmap2 ? MMAP2_NAME : MMAP_NAME) ||
	    !pm_system_mapped(in->system, rec, &map))
		return 1;
	if (in->asked.mappings == PJ_USED && is_unused(in, rec, &map)) {
		in->n_dropped++;
		return 0;
	}
	binary = pj_binary_of(in, map.dso);
	if (!binary)
		return pj_fail_memory(in, err) - 1;
	if (!binary->id.size || rec->size + MMAP2_NAME - MMAP_NAME > UINT16_MAX)
		return 1;
	pb_string_clear(&in->made);
	make_mapping(rec, &binary->id, &in->made);
	if (in->made.failed)
		return pj_fail_memory(in, err) - 1;
	pj_make_record(in, &in->made, rec);
	in->n_mapped++;
	return 1;
}
