/*
 * Functions of jitdumps as mappings of ELF files, which are written beside the jitdump: so
 * programs that know no jitdumps find their names. See jit_process, tools/perf/util/jitdump.c.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "internal.h"
#include "perfdata/format/format.h"
#include "symbols/elf/file.h"
#include "symbols/internal.h"
#include "symbols/jit/jitdump.h"
#include "write/edit.h"

#define MOST_CODE (UINT64_C(64) << 20) /* bytes of a function; larger ones are left out */
#define NAME_AT	  72		       /* offset of the name in a record of a mapping */

/* A jitdump whose functions become mappings. */
struct dump {
	const struct ps_jitdump *jitdump;
	int32_t pid;
	int fd;			  /* descriptor of the jitdump, from which code is read */
	bool leaves_out;	  /* some of its functions have no code */
	uint64_t mapped;	  /* ns: the time at which the process mapped it */
	char dir[PATH_MAX];	  /* directory of the jitdump, as recorded */
	char dir_here[PATH_MAX];  /* that directory on this machine */
	struct pb_string trailer; /* sample_id of the record of its mapping */
	uint32_t time_at;	  /* offset of the time in the trailer */
	struct pb_id_map files;	  /* number of an ELF file → number of its first span */
	uint64_t next;		  /* the first number that is free for further files */
};

/* A function that a process loaded at a time. */
struct load {
	uint64_t time;
	uint32_t dump, span;
};

struct pj_jit {
	struct dump **dumps; /* [n_dumps] */
	size_t n_dumps, dumps_room;
	struct load *loads; /* [n], by time; those before `next` are written */
	size_t n, next, room;
	struct pb_string image, code;
	unsigned ino; /* number of a field name */
};

struct pj_jit *pj_jit_create(const struct pj_injector *in)
{
	struct pj_jit *jit = calloc(1, sizeof(*jit));

	if (jit)
		jit->ino = pd_field_name_id(&in->file->field_names, "ino", 3);
	return jit;
}

static void destroy_dump(struct dump *dump)
{
	if (dump->fd >= 0)
		close(dump->fd);
	pb_string_deinit(&dump->trailer);
	pb_id_map_deinit(&dump->files);
	free(dump);
}

void pj_jit_destroy(struct pj_jit *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < jit->n_dumps; i++)
		destroy_dump(jit->dumps[i]);
	free(jit->dumps);
	free(jit->loads);
	pb_string_deinit(&jit->image);
	pb_string_deinit(&jit->code);
	free(jit);
}

/* Returns the binary of the code that a jitdump of a process describes; NULL: none. */
static struct ps_dso *find_code(const struct pm_map *map, int32_t pid)
{
	struct ps_store *store = map->dso->store;

	for (size_t i = 0; i < ps_store_count(store); i++) {
		struct ps_dso *dso = ps_store_at(store, i);

		if (dso->id.kind == PS_JIT && dso->id.pid == pid && dso->jitdump &&
		    strcmp(dso->jitdump->path, map->filename) == 0)
			return dso;
	}
	return NULL;
}

/* Returns why a jitdump has no functions. */
static const char *find_reason(const struct ps_dso *dso)
{
	for (size_t i = 0; i < dso->n_tried; i++)
		if (dso->tried[i].where && strcmp(dso->tried[i].where, "jitdump") == 0)
			return dso->tried[i].verdict;
	return dso->reason;
}

/*
 * Copies the trailer of a record, and finds the time in it. Returns NULL, or the reason why the
 * jitdump cannot be used.
 */
static const char *copy_trailer(struct dump *dump, const struct pd_record *rec)
{
	uint64_t type = rec->layout->shape->sample_type;
	uint32_t n = rec->layout->trailer_size;

	dump->time_at = type & PD_SAMPLE_TID ? 8 : 0;
	if (!(type & PD_SAMPLE_TIME) || n < dump->time_at + 8 || rec->size < n + 8)
		return "records of mappings have no times";
	pb_string_add(&dump->trailer, (const char *)rec->bytes + rec->size - n, n);
	dump->mapped = pb_load64(rec->bytes + rec->size - n + dump->time_at, rec->layout->swap);
	return dump->trailer.failed ? "no memory" : NULL;
}

/* Opens a jitdump that was read. Returns NULL, or the reason why it cannot be used. */
static const char *open_dump(const struct pj_jit *jit, struct dump *dump,
			     const struct ps_dso *dso, const struct pd_record *rec)
{
	const struct ps_options *options = &dso->store->options;
	const char *path = dso->jitdump->path, *reason;
	char here[PATH_MAX];
	struct stat status;
	int64_t ino;

	if (!dso->jitdump->n)
		return find_reason(dso);
	if (!dso->jitdump->timed)
		return "its times are not those of the recording: perf record -k mono";
	reason = copy_trailer(dump, rec);
	if (reason)
		return reason;
	if (strlen(path) >= sizeof(dump->dir) || !ps_store_path(dso->store, path, here))
		return "its path is too long";
	dump->fd = ps_file_open_left(options->symfs, here, &status, &reason);
	if (dump->fd < 0)
		return reason;
	if (pm_integer(rec, jit->ino, &ino) && ino && (uint64_t)ino != status.st_ino &&
	    !options->any_binary)
		return "the file here is not the one that was mapped (use the option "
		       "any_binary)";
	snprintf(dump->dir, sizeof(dump->dir), "%.*s", (int)(ps_base_name(path) - path), path);
	snprintf(dump->dir_here, sizeof(dump->dir_here), "%.*s",
		 (int)(ps_base_name(here) - here), here);
	return NULL;
}

static int compare_loads(const void *pa, const void *pb)
{
	const struct load *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->dump != b->dump)
		return a->dump < b->dump ? -1 : 1;
	return a->span < b->span ? -1 : a->span > b->span;
}

/* Adds the functions of the last jitdump. Returns false without memory. */
static bool add_loads(struct pj_jit *jit)
{
	struct dump *dump = jit->dumps[jit->n_dumps - 1];

	for (uint32_t i = 0; i < dump->jitdump->n; i++) {
		const struct ps_jit_span *span = &dump->jitdump->spans[i];
		struct load load = { span->from, (uint32_t)jit->n_dumps - 1, i };

		if (!span->bytes || span->end - span->start > MOST_CODE) {
			dump->leaves_out = true;
			continue;
		}
		if (load.time < dump->mapped)
			load.time = dump->mapped;
		if (!pb_reserve(jit->loads, jit->n, jit->room))
			return false;
		jit->loads[jit->n++] = load;
		if (span->code >= dump->next)
			dump->next = span->code + 1;
	}
	qsort(jit->loads + jit->next, jit->n - jit->next, sizeof(*jit->loads), compare_loads);
	return true;
}

static bool note_failure(struct pj_injector *in, const char *path, const char *reason,
			 struct pd_error *err)
{
	if (!pb_reserve(in->failures, in->n_failures, in->failures_room))
		return pj_fail_memory(in, err);
	in->failures[in->n_failures++] = (struct pj_failure){ path, reason };
	return true;
}

/*
 * Takes the jitdump that a record maps. Returns 0, as the mappings of its functions take the
 * record's place; 1 if the jitdump cannot be used; -1 with *err.
 */
static int take_dump(struct pj_injector *in, const struct pm_map *map, int32_t pid,
		     const struct pd_record *rec, struct pd_error *err)
{
	struct ps_dso *dso = find_code(map, pid);
	struct pj_jit *jit = in->jit;
	struct dump *dump;
	const char *reason;

	for (size_t i = 0; dso && i < jit->n_dumps; i++)
		if (jit->dumps[i]->jitdump == dso->jitdump)
			return 0;
	if (!dso || !pb_reserve(jit->dumps, jit->n_dumps, jit->dumps_room))
		return dso ? pj_fail_memory(in, err) - 1 : 1;
	dump = calloc(1, sizeof(*dump));
	if (!dump)
		return pj_fail_memory(in, err) - 1;
	*dump = (struct dump){ .jitdump = dso->jitdump, .pid = pid, .fd = -1 };
	ps_dso_load(dso);
	reason = open_dump(jit, dump, dso, rec);
	if (reason) {
		destroy_dump(dump);
		return note_failure(in, map->filename, reason, err) ? 1 : -1;
	}
	jit->dumps[jit->n_dumps++] = dump;
	in->n_dumps++;
	if (dso->jitdump->is_cut &&
	    !note_failure(in, map->filename, "it is cut or damaged, and was read up to there",
			  err))
		return -1;
	if (!add_loads(jit))
		return pj_fail_memory(in, err) - 1;
	if (dump->leaves_out &&
	    !note_failure(in, map->filename, "functions without their code are left out", err))
		return -1;
	return 0;
}

/*
 * Returns whether a mapping is memory that the code of a jitdump may be in: a later record of
 * such memory would hide the mappings of functions.
 */
static bool is_covering(const struct pj_jit *jit, const struct pm_map *map, int32_t pid)
{
	bool is_memory = map->dso->id.kind == PS_JIT ||
			 strncmp(map->filename, "//anon", 6) == 0;

	for (size_t i = 0; is_memory && i < jit->n_dumps; i++)
		if (jit->dumps[i]->pid == pid)
			return true;
	return false;
}

int pj_jit_take(struct pj_injector *in, const struct pd_record *rec, struct pd_error *err)
{
	struct pm_map map;
	int64_t pid;

	if (pd_record_sideband(rec) != PD_SB_MAPPING ||
	    !pm_integer(rec, pm_system_field_ids(in->system)->pid, &pid) ||
	    !pm_system_mapped(in->system, rec, &map))
		return 1;
	if (ps_is_jitdump(map.filename, (int32_t)pid))
		return take_dump(in, &map, (int32_t)pid, rec, err);
	return !is_covering(in->jit, &map, (int32_t)pid);
}

/* Reads the code of a span to jit->code; zeros stand for what is not there. */
static void read_code(struct pj_jit *jit, const struct dump *dump,
		      const struct ps_jit_span *span)
{
	uint64_t size = span->end - span->start;

	pb_string_clear(&jit->code);
	pb_string_fill(&jit->code, '\0', size);
	if (!jit->code.failed && pread(dump->fd, jit->code.p, size, (off_t)span->bytes) < 0)
		memset(jit->code.p, 0, size);
}

/*
 * Sets *number to the number of the ELF file of a span: the one that the program gave its code,
 * unless other code has it. Sets *is_new to whether no span before has the file. Returns false
 * without memory.
 */
static bool find_number(struct dump *dump, uint32_t i, uint64_t *number, bool *is_new)
{
	const struct ps_jit_span *spans = dump->jitdump->spans, *first;
	uint32_t found = pb_id_map_find(&dump->files, spans[i].code);

	*number = spans[i].code;
	*is_new = true;
	if (found == UINT32_MAX)
		return pb_id_map_add(&dump->files, *number, i);
	first = &spans[found];
	*is_new = first->bytes != spans[i].bytes ||
		  first->end - first->start != spans[i].end - spans[i].start;
	if (*is_new)
		*number = dump->next++;
	return true;
}

/* The ELF file of a function. */
struct image_file {
	char path[PATH_MAX + 64]; /* path in the record of its mapping */
	struct ps_build_id id;
	struct stat status;
	bool is_new; /* no function before it has this file */
};

/* Adds the identity of a file to the record of its mapping: its build-id, or its inode. */
static void add_identity(const struct pj_injector *in, const struct image_file *file,
			 struct pb_string *out)
{
	bool swap = in->file->swap;

	if (in->asked.mappings != PJ_AS_RECORDED) {
		pj_add_mapped_id(out, &file->id);
		return;
	}
	pj_add32(out, major(file->status.st_dev), swap);
	pj_add32(out, minor(file->status.st_dev), swap);
	pj_add64(out, file->status.st_ino, swap);
	pj_add64(out, 0, swap); /* the generation: not known */
}

/* Makes the record of the mapping of a function's file. */
static void make_mapping(const struct pj_injector *in, const struct dump *dump,
			 const struct ps_jit_span *span, const struct image_file *file,
			 uint64_t time, struct pb_string *out)
{
	bool swap = in->file->swap;
	size_t n = strlen(file->path) + 1, padded = (n + 7) & ~(size_t)7;
	bool has_id = in->asked.mappings != PJ_AS_RECORDED;

	pj_add32(out, PD_RECORD_MMAP2, swap);
	pj_add16(out, PD_CPUMODE_USER | (has_id ? PD_MISC_MMAP_BUILD_ID : 0), swap);
	pj_add16(out, (uint16_t)(NAME_AT + padded + dump->trailer.n), swap);
	pj_add32(out, (uint32_t)dump->pid, swap);
	pj_add32(out, (uint32_t)dump->pid, swap);
	pj_add64(out, span->start, swap);
	pj_add64(out, span->end - span->start, swap);
	pj_add64(out, PJ_TEXT_AT, swap);
	add_identity(in, file, out);
	pj_add32(out, PJ_READ_EXEC, swap);
	pj_add32(out, PJ_PRIVATE, swap);
	pb_string_add(out, file->path, n);
	pb_string_fill(out, '\0', padded - n);
	pb_string_add(out, dump->trailer.p, dump->trailer.n);
	if (!out->failed)
		pw_store64((uint8_t *)out->p + out->n - dump->trailer.n + dump->time_at, time,
			   swap);
}

/* Writes the file of a function. Returns false with *err. */
static bool write_file(struct pj_injector *in, const struct load *load, struct image_file *file,
		       struct pd_error *err)
{
	struct pj_jit *jit = in->jit;
	struct dump *dump = jit->dumps[load->dump];
	const struct ps_jit_span *span = &dump->jitdump->spans[load->span];
	const struct ps_symbol *symbol = &dump->jitdump->table.symbols[span->symbol];
	struct pj_function function = {
		symbol->name,		symbol->length,	      NULL, span->end - span->start,
		dump->jitdump->machine, dump->jitdump->is_big
	};
	char base[64];
	uint64_t number;

	read_code(jit, dump, span);
	function.code = (const uint8_t *)jit->code.p;
	pb_string_clear(&jit->image);
	if (!jit->code.failed)
		pj_make_image(&function, &jit->image, &file->id);
	if (jit->code.failed || jit->image.failed ||
	    !find_number(dump, load->span, &number, &file->is_new))
		return pj_fail_memory(in, err);
	snprintf(base, sizeof(base), "jitted-%" PRId32 "-%" PRIu64 ".so", dump->pid, number);
	snprintf(file->path, sizeof(file->path), "%s%s", dump->dir_here, base);
	if (!pj_write_image(&jit->image, file->path, in->asked.replaces, &file->status, err))
		return false;
	snprintf(file->path, sizeof(file->path), "%s%s", dump->dir, base);
	return true;
}

/* Writes the file of a function, and the records of it. Returns false with *err. */
static bool write_load(struct pj_injector *in, struct pw_writer *writer,
		       const struct load *load, struct pd_error *err)
{
	const struct dump *dump = in->jit->dumps[load->dump];
	struct pd_record rec = { .chunk_offset = PD_NO_CHUNK };
	struct image_file file;

	if (!write_file(in, load, &file, err))
		return false;
	if (in->asked.ids != PJ_NONE && file.is_new &&
	    !pj_add_id(in, writer, file.path, PD_CPUMODE_USER, &file.id, err))
		return false;
	pb_string_clear(&in->made);
	make_mapping(in, dump, &dump->jitdump->spans[load->span], &file, load->time, &in->made);
	if (in->made.failed)
		return pj_fail_memory(in, err);
	pj_make_record(in, &in->made, &rec);
	in->n_functions++;
	in->n_mapped += in->asked.mappings != PJ_AS_RECORDED;
	return pw_write(writer, &rec, err);
}

bool pj_jit_write(struct pj_injector *in, struct pw_writer *writer, uint64_t time,
		  struct pd_error *err)
{
	struct pj_jit *jit = in->jit;

	while (jit->next < jit->n && jit->loads[jit->next].time <= time)
		if (!write_load(in, writer, &jit->loads[jit->next++], err))
			return false;
	return true;
}
