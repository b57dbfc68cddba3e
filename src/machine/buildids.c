#include "internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfdata/format/views.h"

/* Sets `name` to the name of a kernel module. Returns false if `path` is not that of one. */
static bool get_module_name(const char *path, char name[NAME_MAX + 1])
{
	return ps_module_name(path, name, NAME_MAX + 1) && !pm_is_kernel_name(name);
}

/*
 * Returns true if the kernel or a module is named by `path` in `mode`. The code that the kernel
 * maps into processes is theirs, although perf 4.x lists "[vdso32]" as the kernel's.
 */
static bool is_of_kernel(enum pd_cpumode mode, const char *path)
{
	return pm_is_kernel(mode) && !pm_begins(path, "[vdso") &&
	       !pm_begins(path, "[vsyscall]");
}

void pm_buildids_init(struct pm_buildids *ids, const struct pd_session *session,
		      struct pm_string_pool *strings)
{
	const struct pd_field_names *fields = &session->files[0]->field_names;

	*ids = (struct pm_buildids){
		.strings = strings,
		.filename = pd_field_name_id(fields, "filename", 8),
		.build_id = pd_field_name_id(fields, "build_id", 8),
	};
}

void pm_buildids_deinit(struct pm_buildids *ids)
{
	for (size_t i = 0; i < ids->n; i++)
		free(ids->list[i].more);
	free(ids->list);
	pb_id_map_deinit(&ids->by_name);
	*ids = (struct pm_buildids){ 0 };
}

/* Binaries are named apart in each of these. */
enum name_space {
	OF_USER,
	OF_KERNEL,
	OF_GUEST = 2, /* added to the others */
};

static uint64_t make_name_key(uint32_t machine, enum name_space name_space, uint32_t name)
{
	return (uint64_t)machine << 34 | (uint64_t)name_space << 32 | name;
}

/*
 * Makes the key by which a binary is found in the table. All files of a kernel are one binary,
 * and modules go by the name of the module. Returns UINT64_MAX without memory.
 */
static uint64_t make_path_key(struct pm_buildids *ids, uint32_t machine, enum pd_cpumode mode,
			      const char *path)
{
	char module[NAME_MAX + 1];
	enum name_space name_space = is_of_kernel(mode, path) ? OF_KERNEL : OF_USER;
	uint32_t name;

	if (name_space == OF_KERNEL)
		path = get_module_name(path, module) ? module : "";
	if (pm_is_guest(mode))
		name_space += OF_GUEST;
	name = pm_string_pool_add(ids->strings, (struct pd_text){ path, strlen(path) });
	return name == PM_NO_STRING ? UINT64_MAX : make_name_key(machine, name_space, name);
}

void pm_build_id_set(struct ps_build_id *id, const void *bytes, size_t n)
{
	*id = (struct ps_build_id){ 0 };
	id->size = (uint8_t)(n < PS_MAX_BUILD_ID ? n : PS_MAX_BUILD_ID);
	memcpy(id->bytes, bytes, id->size);
}

struct pm_named_binary *pm_buildids_get(struct pm_buildids *ids, uint32_t machine,
					enum pd_cpumode mode, const char *path)
{
	uint64_t key = make_path_key(ids, machine, mode, path);
	uint32_t i;

	if (key == UINT64_MAX)
		return NULL;
	i = pb_id_map_find(&ids->by_name, key);
	if (i != UINT32_MAX)
		return &ids->list[i];
	if (!pb_reserve(ids->list, ids->n, ids->capacity) ||
	    !pb_id_map_add(&ids->by_name, key, (uint32_t)ids->n))
		return NULL;
	ids->list[ids->n] = (struct pm_named_binary){ .dso = NULL };
	return &ids->list[ids->n++];
}

static void make_ambiguous(struct pm_named_binary *named)
{
	static const struct ps_build_id unknown;

	named->is_ambiguous = true;
	if (named->dso)
		ps_dso_set_build_id(named->dso, &unknown);
}

/* Returns true if the files are one; sets *same_device. */
static bool is_same_file(const struct pm_inode *a, const struct pm_inode *b, bool *same_device)
{
	*same_device = a->major == b->major && a->minor == b->minor;
	return *same_device && a->number == b->number;
}

void pm_named_binary_note_file(struct pm_named_binary *named, const struct ps_file_id *file)
{
	const struct pm_inode mapped = { file->major, file->minor, file->inode };
	bool replaced = false;

	if (!mapped.number || named->is_ambiguous)
		return;
	if (!named->file.number)
		named->file = mapped;
	if (is_same_file(&named->file, &mapped, &replaced))
		return;
	for (size_t i = 0; i < named->n_more && !replaced; i++)
		if (is_same_file(&named->more[i], &mapped, &replaced))
			return;
	if (replaced || named->n_more + 2 > named->n_rows ||
	    !pb_reserve(named->more, named->n_more, named->room))
		make_ambiguous(named);
	else
		named->more[named->n_more++] = mapped;
}

/*
 * Adds a build-id for the files named `path`. A second, different one makes the name of a
 * user's file ambiguous. A kernel has the first of its names, as in perf (see
 * machine__process_kernel_mmap_event, tools/perf/util/machine.c), and the last build-id of it.
 * Returns false without memory.
 */
static bool add_build_id(struct pm_buildids *ids, uint32_t machine, enum pd_cpumode mode,
			 struct pd_text path, const void *bytes, size_t n)
{
	uint32_t name = pm_string_pool_add(ids->strings, path);
	struct ps_build_id id;
	struct pm_named_binary *named;
	const char *spelling;
	bool of_kernel;

	if (name == PM_NO_STRING)
		return false;
	if (!pm_is_kernel(mode) && mode != PD_CPUMODE_USER && mode != PD_CPUMODE_GUEST_USER)
		return true;
	spelling = ids->strings->texts[name].p;
	of_kernel = is_of_kernel(mode, spelling);
	named = pm_buildids_get(ids, machine, mode, spelling);
	if (!named)
		return false;
	if (of_kernel && named->path && named->path != spelling)
		return true;
	named->path = spelling;
	pm_build_id_set(&id, bytes, n);
	if (named->build_id.size && !of_kernel && !ps_build_id_equal(&id, &named->build_id))
		make_ambiguous(named);
	named->build_id = id;
	named->n_rows++;
	if (named->dso && !named->is_ambiguous)
		ps_dso_set_build_id(named->dso, &id);
	return true;
}

bool pm_buildids_add(struct pm_buildids *ids, const struct pd_record *rec, uint32_t machine)
{
	struct pd_value path, id;

	pm_get(rec, ids->filename, &path);
	pm_get(rec, ids->build_id, &id);
	if (path.type != PD_STR || id.type != PD_HEX)
		return true;
	return add_build_id(ids, machine, rec->misc & PD_MISC_CPUMODE,
			    (struct pd_text){ path.s.p, path.s.n }, id.s.p, id.s.n);
}

/* Receives the rows of the feature from its decoder. */
struct rows {
	struct pd_sink sink;
	struct pm_buildids *ids;
	uint32_t machine;
	char key[16];
	struct pd_text path;
	const char *id;
	size_t id_size;
	bool no_memory;
};

static void row_begin(struct pd_sink *sink, bool array)
{
	struct rows *rows = (struct rows *)sink;

	(void)array;
	rows->path.p = rows->id = NULL;
}

static void row_key(struct pd_sink *sink, const char *name, size_t n)
{
	struct rows *rows = (struct rows *)sink;

	snprintf(rows->key, sizeof(rows->key), "%.*s", (int)n, name);
}

/* The decoder gives the mode of a row last. */
static void row_value(struct pd_sink *sink, const struct pd_value *value)
{
	struct rows *rows = (struct rows *)sink;
	unsigned mode = PD_CPUMODE_GUEST_USER;

	if (!strcmp(rows->key, "build_id")) {
		rows->id = value->s.p;
		rows->id_size = value->s.n;
	} else if (!strcmp(rows->key, "filename")) {
		rows->path = (struct pd_text){ value->s.p, value->s.n };
	} else if (!strcmp(rows->key, "cpumode") && rows->path.p && rows->id) {
		while (mode && (strlen(pd_cpumode_name(mode)) != value->s.n ||
				memcmp(pd_cpumode_name(mode), value->s.p, value->s.n) != 0))
			mode--;
		rows->no_memory |= !add_build_id(rows->ids, rows->machine, mode, rows->path,
						 rows->id, rows->id_size);
	}
}

static void row_end(struct pd_sink *sink)
{
	(void)sink;
}

bool pm_buildids_read(struct pm_buildids *ids, struct pd_file *file, uint32_t machine)
{
	struct rows rows = {
		.sink = { row_begin, row_end, row_key, row_value },
		.ids = ids,
		.machine = machine,
	};
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_BUILD_ID, &c);

	if (!bytes)
		return true;
	pd_feature_by_bit(PD_FEATURE_BUILD_ID)->decode(&c, &file->context, &rows.sink);
	free(bytes);
	return !rows.no_memory;
}
