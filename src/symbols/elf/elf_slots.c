#include "elf_slots.h"

#include <gelf.h>
#include <stdlib.h>

#include "base/vector.h"
#include "elf_parts.h"

/* Types of relocations that fill a slot. */
struct kinds {
	uint16_t machine;
	uint32_t global, jump, relative;
};

static const struct kinds kinds_of[] = {
	{ EM_X86_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE },
	{ EM_386, R_386_GLOB_DAT, R_386_JMP_SLOT, R_386_IRELATIVE },
	{ EM_AARCH64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE },
};

/* A section of relocations, with the symbols that they name. */
struct relocations {
	const Elf_Data *data, *symbols, *strings;
	bool with_addend;
};

static bool add_slot(struct ps_slots *slots, const struct ps_slot *slot)
{
	if (!pb_reserve(slots->all, slots->n, slots->capacity))
		return false;
	slots->all[slots->n++] = *slot;
	return true;
}

static bool init_relocations(struct relocations *its, Elf *elf, Elf_Scn *scn,
			     const GElf_Shdr *header)
{
	Elf_Scn *table = header->sh_link ? elf_getscn(elf, header->sh_link) : NULL;
	GElf_Shdr symbols;

	*its = (struct relocations){ .with_addend = header->sh_type == SHT_RELA };
	if ((header->sh_type != SHT_RELA && header->sh_type != SHT_REL) ||
	    !(header->sh_flags & SHF_ALLOC))
		return false;
	its->data = ps_elf_data(scn);
	/* relocations of static programs name no symbols */
	if (table && gelf_getshdr(table, &symbols)) {
		its->symbols = ps_elf_data(table);
		its->strings = ps_elf_data(elf_getscn(elf, symbols.sh_link));
	}
	return its->data;
}

static bool read_relocation(const struct relocations *its, int i, GElf_Rela *rela)
{
	GElf_Rel rel;

	if (its->with_addend)
		return gelf_getrela((Elf_Data *)its->data, i, rela);
	if (!gelf_getrel((Elf_Data *)its->data, i, &rel))
		return false;
	*rela = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static const char *get_relocation_name(const struct relocations *its, const GElf_Rela *rela)
{
	GElf_Sym symbol;
	const char *name;
	size_t length;

	if (!its->symbols || !its->strings || !GELF_R_SYM(rela->r_info) ||
	    !gelf_getsym((Elf_Data *)its->symbols, (int)GELF_R_SYM(rela->r_info), &symbol))
		return NULL;
	name = ps_elf_string(its->strings, symbol.st_name, &length);
	return name && length ? name : NULL;
}

static bool is_slot(const struct kinds *kinds, const GElf_Rela *rela)
{
	uint32_t type = (uint32_t)GELF_R_TYPE(rela->r_info);

	return !kinds || type == kinds->global || type == kinds->jump ||
	       type == kinds->relative;
}

static bool read_slots(struct ps_slots *slots, const struct relocations *its,
		       const struct kinds *kinds)
{
	GElf_Rela rela;

	for (int i = 0; read_relocation(its, i, &rela); i++) {
		struct ps_slot slot = { .address = rela.r_offset,
					.name = get_relocation_name(its, &rela) };

		if (!is_slot(kinds, &rela))
			continue;
		if (!slot.name && kinds && GELF_R_TYPE(rela.r_info) == kinds->relative)
			slot.target = (uint64_t)rela.r_addend;
		if (!add_slot(slots, &slot))
			return false;
	}
	return true;
}

static int compare_slots(const void *pa, const void *pb)
{
	const struct ps_slot *a = pa, *b = pb;

	return a->address < b->address ? -1 : a->address > b->address;
}

bool ps_slots_init(struct ps_slots *slots, Elf *elf, uint16_t machine)
{
	const struct kinds *kinds = kinds_of;
	Elf_Scn *scn = NULL;

	*slots = (struct ps_slots){ 0 };
	while (kinds->machine != machine)
		if (++kinds == kinds_of + sizeof(kinds_of) / sizeof(kinds_of[0]))
			return true;
	while ((scn = elf_nextscn(elf, scn))) {
		struct relocations its;
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header) && init_relocations(&its, elf, scn, &header) &&
		    !read_slots(slots, &its, kinds)) {
			ps_slots_deinit(slots);
			return false;
		}
	}
	if (slots->n)
		qsort(slots->all, slots->n, sizeof(*slots->all), compare_slots);
	return true;
}

bool ps_slots_init_plt(struct ps_slots *slots, Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *scn = ps_elf_section(elf, SHT_RELA, ".rela.plt", &header);
	struct relocations its;

	*slots = (struct ps_slots){ 0 };
	if (!scn)
		scn = ps_elf_section(elf, SHT_REL, ".rel.plt", &header);
	if (!scn || !init_relocations(&its, elf, scn, &header))
		return true;
	if (!read_slots(slots, &its, NULL)) {
		ps_slots_deinit(slots);
		return false;
	}
	return true;
}

void ps_slots_deinit(struct ps_slots *slots)
{
	free(slots->all);
	*slots = (struct ps_slots){ 0 };
}

const struct ps_slot *ps_slots_find(const struct ps_slots *slots, uint64_t address)
{
	struct ps_slot key = { .address = address };

	return slots->n ? bsearch(&key, slots->all, slots->n, sizeof(key), compare_slots) :
			  NULL;
}
