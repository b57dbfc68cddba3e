#include "lines_relocate.h"

#include <gelf.h>
#include <string.h>

#include "symbols/elf/elf_parts.h"

/* Relocations that stand for an address or offset as it is; compilers make no others here. */
static const struct kind {
	uint16_t machine;
	uint16_t type;
	uint8_t size; /* bytes */
} kinds[] = {
	{ EM_X86_64, R_X86_64_64, 8 },	    { EM_X86_64, R_X86_64_32, 4 },
	{ EM_AARCH64, R_AARCH64_ABS64, 8 }, { EM_AARCH64, R_AARCH64_ABS32, 4 },
	{ EM_PPC64, R_PPC64_ADDR64, 8 },    { EM_PPC64, R_PPC64_ADDR32, 4 },
	{ EM_S390, R_390_64, 8 },	    { EM_S390, R_390_32, 4 },
};

struct relocation {
	Elf *elf;
	const struct ps_parts *parts;
	uint16_t machine;
	bool big; /* big-endian */
	Elf_Data *entries, *symbols, *target;
};

bool ps_relocate_needs(uint32_t type, const char *name)
{
	return type == SHT_SYMTAB ||
	       (type == SHT_RELA && strncmp(name, ".rela.debug_", 12) == 0);
}

static size_t get_relocation_size(const struct relocation *r, uint64_t type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].machine == r->machine && kinds[i].type == type)
			return kinds[i].size;
	return 0;
}

static bool get_relocation_value(const struct relocation *r, const GElf_Rela *entry,
				 uint64_t *value)
{
	const struct ps_section *section;
	GElf_Sym symbol;

	if (!gelf_getsym(r->symbols, (int)GELF_R_SYM(entry->r_info), &symbol))
		return false;
	*value = symbol.st_value + (uint64_t)entry->r_addend;
	if (symbol.st_shndx >= r->parts->n_sections)
		return true; /* not of a section */
	section = &r->parts->sections[symbol.st_shndx];
	if (section->is_placed)
		*value += PS_MODULE_BASE + section->placed;
	else if (section->loaded)
		*value = 0; /* data, and code that is freed once the module runs */
	return true;
}

static bool apply_relocation(const struct relocation *r, const GElf_Rela *entry)
{
	size_t size = get_relocation_size(r, GELF_R_TYPE(entry->r_info));
	uint8_t *bytes = r->target->d_buf;
	uint64_t value;

	if (!size || entry->r_offset > r->target->d_size ||
	    size > r->target->d_size - entry->r_offset ||
	    !get_relocation_value(r, entry, &value))
		return false;
	bytes += entry->r_offset;
	for (size_t i = 0; i < size; i++)
		bytes[r->big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
	return true;
}

/* Applies one section of relocations. Changes nothing where nothing was read. */
static bool relocate_section(struct relocation *r, Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Shdr target;

	if (!gelf_getshdr(elf_getscn(r->elf, header->sh_info), &target))
		return false;
	if (target.sh_type == SHT_NOBITS)
		return true;
	r->entries = elf_getdata(section, NULL);
	r->symbols = elf_getdata(elf_getscn(r->elf, header->sh_link), NULL);
	r->target = elf_getdata(elf_getscn(r->elf, header->sh_info), NULL);
	if (!r->entries || !r->symbols || !r->target || !r->target->d_buf)
		return false;
	for (int i = 0;; i++) {
		GElf_Rela entry;

		if (!gelf_getrela(r->entries, i, &entry))
			return true;
		if (!apply_relocation(r, &entry))
			return false;
	}
}

static bool relocate_sections(struct relocation *r)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(r->elf, section))) {
		GElf_Shdr header;
		const char *name = ps_elf_header(r->elf, section, &header);

		if (header.sh_type == SHT_RELA && ps_relocate_needs(header.sh_type, name) &&
		    !relocate_section(r, section, &header))
			return false;
	}
	return true;
}

bool ps_relocate(Elf *elf)
{
	struct relocation r = { .elf = elf };
	struct ps_parts parts;
	GElf_Ehdr header;
	bool done;

	if (!gelf_getehdr(elf, &header) || !ps_parts_init(&parts, elf))
		return false;
	r.machine = header.e_machine;
	r.big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	r.parts = &parts;
	done = relocate_sections(&r);
	ps_parts_deinit(&parts);
	return done;
}
