/*
 * Records of mappings that have the build-id of their binary: see perf_event_mmap_output,
 * kernel/events/core.c.
 */
#include "internal.h"
#include "perfdata/format/format.h"
#include "symbols/symbols.h"

#define HEADER	  8
#define INODE_AT  40 /* in MMAP2: what a build-id takes the place of */
#define PROT_AT	  64
#define NAME_AT	  72
#define MMAP_NAME 40

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
	uint32_t name_at = is_mmap2 ? NAME_AT : MMAP_NAME;

	pj_add32(out, PD_RECORD_MMAP2, swap);
	pj_add16(out, rec->misc | PD_MISC_MMAP_BUILD_ID, swap);
	pj_add16(out, (uint16_t)(rec->size + NAME_AT - name_at), swap);
	pb_string_add(out, (const char *)rec->bytes + HEADER, INODE_AT - HEADER);
	pj_add_mapped_id(out, id);
	if (is_mmap2) {
		pb_string_add(out, (const char *)rec->bytes + PROT_AT, NAME_AT - PROT_AT);
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
	    rec->size < (is_mmap2 ? NAME_AT : MMAP_NAME) ||
	    !pm_system_mapped(in->system, rec, &map))
		return 1;
	if (in->asked.mappings == PJ_USED && is_unused(in, rec, &map)) {
		in->n_dropped++;
		return 0;
	}
	binary = pj_binary_of(in, map.dso);
	if (!binary)
		return pj_fail_memory(in, err) - 1;
	if (!binary->id.size || rec->size + NAME_AT - MMAP_NAME > UINT16_MAX)
		return 1;
	pb_string_clear(&in->made);
	make_mapping(rec, &binary->id, &in->made);
	if (in->made.failed)
		return pj_fail_memory(in, err) - 1;
	pj_make_record(in, &in->made, rec);
	in->n_mapped++;
	return 1;
}
