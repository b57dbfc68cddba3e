#include "internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define JIT_NAME 40 /* bytes, with the NUL */

#define PROT_EXECUTE 4u
#define MAP_HUGE     0x40000u /* MAP_HUGETLB */

#define HIGH_HALF (UINT64_C(1) << 63) /* 64-bit kernels lie above it */

static uint64_t get_unsigned(const struct pd_record *rec, unsigned id)
{
	int64_t v = 0;

	return pm_integer(rec, id, &v) ? (uint64_t)v : 0;
}

bool pm_binaries_init(struct pm_binaries *b, const struct pd_session *session,
		      const struct ps_options *options, struct pm_string_pool *strings)
{
	const struct pd_field_names *fields = &session->files[0]->field_names;

	*b = (struct pm_binaries){ .session = session, .strings = strings };
	if (options)
		b->options = *options;
	b->ids.addr = pd_field_name_id(fields, "addr", 4);
	b->ids.len = pd_field_name_id(fields, "len", 3);
	b->ids.pgoff = pd_field_name_id(fields, "pgoff", 5);
	b->ids.prot = pd_field_name_id(fields, "prot", 4);
	b->ids.flags = pd_field_name_id(fields, "flags", 5);
	b->ids.filename = pd_field_name_id(fields, "filename", 8);
	b->ids.build_id = pd_field_name_id(fields, "build_id", 8);
	b->ids.name = pd_field_name_id(fields, "name", 4);
	b->ids.unregister = pd_field_name_id(fields, "unregister", 10);
	b->ids.maj = pd_field_name_id(fields, "maj", 3);
	b->ids.min = pd_field_name_id(fields, "min", 3);
	b->ids.ino = pd_field_name_id(fields, "ino", 3);
	b->ids.ino_generation = pd_field_name_id(fields, "ino_generation", 14);
	pm_buildids_init(&b->build_ids, session, strings);
	b->stores = calloc(session->n_files, sizeof(*b->stores));
	b->kernels = calloc(session->n_files, sizeof(*b->kernels));
	for (size_t i = 0; b->kernels && i < session->n_files; i++)
		b->kernels[i].border = HIGH_HALF;
	return b->stores && b->kernels;
}

void pm_binaries_deinit(struct pm_binaries *b)
{
	for (size_t i = 0; b->stores && i < b->session->n_files; i++)
		ps_store_destroy(b->stores[i]);
	free(b->stores);
	free(b->kernels);
	pm_buildids_deinit(&b->build_ids);
	*b = (struct pm_binaries){ 0 };
}

/*
 * Returns the directory kcore_dir of a recording that is a directory, which perf record --kcore
 * makes; NULL: there is none. `path` is a buffer.
 */
static const char *find_kcore_dir(const struct pd_file *file, char *path, size_t size)
{
	const char *slash = strrchr(file->path, '/');
	int n;

	if (!file->directory)
		return NULL;
	n = snprintf(path, size, "%.*skcore_dir", slash ? (int)(slash + 1 - file->path) : 0,
		     file->path);
	return n > 0 && (size_t)n < size && access(path, F_OK) == 0 ? path : NULL;
}

/* Gives a store the bundle of a machine's recordings, which is the same; notes a bad one. */
static void add_bundle(struct pd_file *file, struct ps_store *store)
{
	const char *reason;
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_BUNDLE, &c);

	if (bytes && !ps_store_set_bundle(store, bytes, pb_cursor_left(&c), &reason))
		pd_file_damaged(file, pd_file_feature(file, PD_FEATURE_BUNDLE)->at.offset, 0,
				"the bundle of names (feature %d) is not used: %s",
				PD_FEATURE_BUNDLE, reason);
	free(bytes);
}

static struct ps_store *get_store(struct pm_binaries *b, uint32_t machine)
{
	struct pd_file *file = b->session->files[machine];
	struct ps_options options = b->options;
	char path[PATH_MAX], *release, *arch, *host;

	if (b->stores[machine])
		return b->stores[machine];
	release = pd_file_feature_text(file, PD_FEATURE_OSRELEASE);
	arch = pd_file_feature_text(file, PD_FEATURE_ARCH);
	host = pd_file_feature_text(file, PD_FEATURE_HOSTNAME);
	options.release = release;
	options.host = host;
	options.arch = arch;
	options.kcore_dir = find_kcore_dir(file, path, sizeof(path));
	b->stores[machine] = ps_store_create(&options);
	if (b->stores[machine])
		add_bundle(file, b->stores[machine]);
	free(release);
	free(arch);
	free(host);
	return b->stores[machine];
}

/*
 * Returns a text of `rec`, kept in the string pool. NULL: the record has none; without memory
 * *failed becomes true.
 */
static const char *keep_record_string(struct pm_binaries *b, const struct pd_record *rec,
				      unsigned id, bool *failed)
{
	struct pd_value text;
	uint32_t name;

	pm_get(rec, id, &text);
	if (text.type != PD_STR)
		return NULL;
	name = pm_string_pool_add(b->strings, (struct pd_text){ text.s.p, text.s.n });
	*failed |= name == PM_NO_STRING;
	return name == PM_NO_STRING ? NULL : b->strings->texts[name].p;
}

/*
 * Returns the kind of binary that perf takes a file for: see map__new, tools/perf/util/map.c.
 */
static enum ps_kind classify_user_file(const struct pm_map *map)
{
	static const char *const anonymous[] = { "//anon", "/dev/zero", "/anon_hugepage",
						 "[stack", "/SYSV",	"[heap]" };
	static const char *const vdso[] = { "[vdso]", "[vdso32]", "[vdsox32]" };
	bool memory = map->flags & MAP_HUGE;

	for (size_t i = 0; i < sizeof(anonymous) / sizeof(*anonymous); i++)
		memory |= pm_begins(map->filename, anonymous[i]);
	for (size_t i = 0; i < sizeof(vdso) / sizeof(*vdso); i++)
		if (!strcmp(map->filename, vdso[i]))
			return PS_VDSO;
	if (memory)
		return map->executable ? PS_JIT : PS_DATA;
	return map->filename[0] == '[' ? PS_DATA : PS_USER;
}

static bool record_file_mapping(const struct pm_map *map)
{
	const struct ps_mapping mapping = { map->pgoff, map->end - map->start, map->prot,
					    map->executable };

	return map->dso->id.kind != PS_USER || ps_dso_add_mapping(map->dso, &mapping);
}

/* Sets map->dso to the binary *id. Returns false without memory. */
static bool find_map_dso(struct pm_binaries *b, const struct pm_mapped *mapped,
			 struct ps_dso_id *id, struct pm_map *map)
{
	struct ps_store *store = get_store(b, mapped->machine);

	id->guest = pm_is_guest(mapped->mode);
	if (id->kind != PS_USER)
		id->file = (struct ps_file_id){ 0 };
	map->dso = store ? ps_store_dso(store, id) : NULL;
	if (!map->dso)
		return false;
	if (!ps_dso_is_absolute(map->dso))
		map->bias = map->pgoff - map->start;
	return record_file_mapping(map);
}

/* Does what find_map_dso() does, for a file, whose build-id the table may have now or later. */
static bool find_file_dso(struct pm_binaries *b, const struct pm_mapped *mapped,
			  struct ps_dso_id *id, struct pm_map *map)
{
	struct pm_named_binary *named = pm_buildids_get(&b->build_ids, mapped->machine,
							mapped->mode, map->filename);
	bool by_name;

	if (!named)
		return false;
	by_name = !id->build_id.size;
	if (by_name && id->kind == PS_USER)
		pm_named_binary_note_file(named, &id->file);
	if (by_name && !named->is_ambiguous)
		id->build_id = named->build_id;
	id->file.is_ambiguous = named->is_ambiguous && !id->file.inode;
	if (pm_is_kernel(mapped->mode))
		id->shown = named->path;
	if (!find_map_dso(b, mapped, id, map))
		return false;
	if (!named->dso && by_name)
		named->dso = map->dso;
	return true;
}

/*
 * Makes *id the binary that stands for the code which process `pid` makes at run time: the
 * symbols of such code are in files named after the pid. Writes its name to `name`.
 */
static void set_jit_id(int32_t pid, struct ps_dso_id *id, char name[JIT_NAME])
{
	snprintf(name, JIT_NAME, "/tmp/perf-%" PRId32 ".map", pid);
	id->kind = PS_JIT;
	id->pid = pid;
	id->name = name;
}

static bool has_monotonic_clock(const struct pd_file *file)
{
	for (size_t i = 0; i < file->n_events; i++) {
		const struct pd_attr *attr = &file->events[i].attr;

		if (!(attr->flags & PD_ATTR_USE_CLOCKID) || attr->clockid != CLOCK_MONOTONIC)
			return false;
	}
	return file->n_events;
}

/*
 * Handles a file *id that process `pid` has mapped. A jitdump describes the code that the
 * process makes: its symbols are read with that code, and *id becomes data. Returns false
 * without memory.
 */
static bool take_jitdump(struct ps_store *store, const struct pd_file *file, int32_t pid,
			 struct ps_dso_id *id)
{
	struct ps_dso_id code = { .guest = id->guest };
	char name[JIT_NAME];
	struct ps_dso *dso;

	if (id->kind != PS_USER || !ps_is_jitdump(id->name, pid))
		return true;
	id->kind = PS_DATA;
	set_jit_id(pid, &code, name);
	dso = store ? ps_store_dso(store, &code) : NULL;
	return dso && ps_dso_set_jitdump(dso, id->name, has_monotonic_clock(file));
}

static bool map_process(struct pm_binaries *b, const struct pm_mapped *mapped,
			struct ps_dso_id *id, struct pm_map *map)
{
	char path[JIT_NAME];

	id->kind = classify_user_file(map);
	id->name = map->filename;
	if (id->kind == PS_VDSO)
		map->pgoff = 0;
	id->guest = pm_is_guest(mapped->mode);
	if (!take_jitdump(get_store(b, mapped->machine), b->session->files[mapped->machine],
			  mapped->pid, id))
		return false;
	if (id->kind == PS_USER || id->kind == PS_VDSO)
		return find_file_dso(b, mapped, id, map);
	if (id->kind == PS_JIT)
		set_jit_id(mapped->pid, id, path);
	id->build_id.size = 0;
	return find_map_dso(b, mapped, id, map);
}

#define KERNEL	     "[kernel.kallsyms"
#define GUEST_KERNEL "[guest.kernel.kallsyms"

/*
 * Sets id->reference to the symbol that follows the name of the kernel:
 * "[kernel.kallsyms]_text", before Linux 2.6.36 "[kernel.kallsyms._text]".
 */
static void set_reference(const char *name, struct ps_dso_id *id, char text[NAME_MAX + 1])
{
	const char *end = strchr(name, ']');

	if (end && end[1])
		name = end + 1;
	else if (end && pm_begins(name, KERNEL "."))
		name += strlen(KERNEL ".");
	else
		return;
	if (snprintf(text, NAME_MAX + 1, "%.*s", (int)strcspn(name, "]"), name) <= NAME_MAX)
		id->reference = text;
}

/*
 * Sets the map of the entry code of an x86-64 kernel, which is mapped a second time. pgoff is
 * its address in the kernel.
 */
static void map_entry_trampoline(const struct pm_binaries *b, const struct pm_mapped *mapped,
				 struct pm_map *map)
{
	if (mapped->mode != PD_CPUMODE_KERNEL ||
	    strcmp(map->filename, "__entry_SYSCALL_64_trampoline") != 0)
		return;
	map->dso = b->kernels[mapped->machine].dso;
	map->bias = map->pgoff - map->start;
}

/*
 * Notes where a host's kernel begins: see machine__get_kernel_start, tools/perf/util/machine.c,
 * and perf_env__single_address_space. The map of a relocated x86-64 kernel may begin far below
 * its code, among the addresses of processes.
 */
static void note_kernel(struct pm_binaries *b, uint32_t machine, const struct pm_map *map)
{
	struct pm_kernel *kernel = &b->kernels[machine];
	char *arch = pd_file_feature_text(b->session->files[machine], PD_FEATURE_ARCH);

	*kernel = (struct pm_kernel){ map->dso, map->start, HIGH_HALF };
	if (arch && (pm_begins(arch, "s390") || pm_begins(arch, "sparc")))
		kernel->border = UINT64_MAX;
	else if (map->start && map->start < HIGH_HALF && !(arch && !strcmp(arch, "x86_64")))
		kernel->border = map->start;
	free(arch);
}

/*
 * Sets the map of a kernel or module: see machine__process_kernel_mmap_event,
 * tools/perf/util/machine.c.
 */
static bool map_kernel(struct pm_binaries *b, const struct pm_mapped *mapped,
		       struct ps_dso_id *id, struct pm_map *map)
{
	char name[64] = KERNEL "]", reference[NAME_MAX + 1];

	if (map->filename[0] != '/' && map->filename[0] != '[') {
		map_entry_trampoline(b, mapped, map);
		return true;
	}
	if (!pm_is_kernel_name(map->filename)) {
		id->kind = PS_MODULE;
		id->name = map->filename;
		id->start = map->start;
		id->len = map->end - map->start;
		return find_file_dso(b, mapped, id, map);
	}
	if (mapped->mode == PD_CPUMODE_GUEST_KERNEL && mapped->pid > 0)
		snprintf(name, sizeof(name), GUEST_KERNEL ".%" PRId32 "]", mapped->pid);
	else if (mapped->mode == PD_CPUMODE_GUEST_KERNEL)
		snprintf(name, sizeof(name), GUEST_KERNEL "]");
	id->kind = PS_KERNEL;
	id->name = name;
	id->start = map->start;
	id->len = map->end - map->start;
	/* a kernel that hides its addresses shows 0 */
	if (map->pgoff)
		set_reference(map->filename, id, reference);
	if (id->reference)
		id->reference_address = map->pgoff;
	if (!map->start && !map->end)
		map->end = UINT64_MAX;
	if (!find_file_dso(b, mapped, id, map))
		return false;
	if (!id->guest)
		note_kernel(b, mapped->machine, map);
	return true;
}

static bool map_ksymbol(struct pm_binaries *b, const struct pd_record *rec,
			const struct pm_mapped *mapped, struct pm_map *map, bool *removed)
{
	struct ps_dso_id id = { .kind = PS_BPF, .start = map->start };
	bool failed = false;

	id.name = map->filename = keep_record_string(b, rec, b->ids.name, &failed);
	id.len = map->end - map->start;
	map->pgoff = map->start;
	map->executable = true;
	*removed = get_unsigned(rec, b->ids.unregister);
	return !failed && (!id.name || *removed || find_map_dso(b, mapped, &id, map));
}

bool pm_binaries_map(struct pm_binaries *b, const struct pd_record *rec,
		     const struct pm_mapped *mapped, struct pm_map *map, bool *removed)
{
	struct ps_dso_id id = { .kind = PS_USER };
	struct pd_value build_id;
	bool failed = false;
	int64_t prot;

	*removed = false;
	*map = (struct pm_map){ .start = get_unsigned(rec, b->ids.addr) };
	map->end = map->start + get_unsigned(rec, b->ids.len);
	if (map->end < map->start)
		map->end = UINT64_MAX;
	if (pd_record_sideband(rec) == PD_SB_KERNEL_CODE)
		return map_ksymbol(b, rec, mapped, map, removed);
	map->pgoff = get_unsigned(rec, b->ids.pgoff);
	map->flags = (uint32_t)get_unsigned(rec, b->ids.flags);
	map->executable = !(rec->misc & PD_MISC_MMAP_DATA);
	if (pm_integer(rec, b->ids.prot, &prot)) {
		map->prot = (uint32_t)prot;
		map->executable = prot & PROT_EXECUTE;
	}
	map->filename = keep_record_string(b, rec, b->ids.filename, &failed);
	if (!map->filename)
		return !failed;
	pm_get(rec, b->ids.build_id, &build_id);
	if (build_id.type == PD_HEX)
		pm_build_id_set(&id.build_id, build_id.s.p, build_id.s.n);
	id.file = (struct ps_file_id){
		.major = (uint32_t)get_unsigned(rec, b->ids.maj),
		.minor = (uint32_t)get_unsigned(rec, b->ids.min),
		.inode = get_unsigned(rec, b->ids.ino),
		.generation = (uint32_t)get_unsigned(rec, b->ids.ino_generation),
	};
	if (pm_is_kernel(mapped->mode))
		return map_kernel(b, mapped, &id, map);
	return map_process(b, mapped, &id, map);
}
