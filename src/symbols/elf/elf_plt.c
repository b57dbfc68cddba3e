#define _GNU_SOURCE /* asprintf */
#include "elf_parts.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "demangle.h"

/*
 * Slots: the words of a file that the dynamic linker fills with addresses of functions, as the
 * relocations name them.
 */

struct ps_slot {
	uint64_t address;
	/*
	 * without a name: address of the resolver function that chooses the target; 0: not
	 * known
	 */
	uint64_t target;
	const char *name; /* valid while the file is open; NULL: none */
};

struct ps_slots {
	struct ps_slot *all; /* [n] */
	size_t n, capacity;
};

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

static void slots_deinit(struct ps_slots *slots)
{
	free(slots->all);
	*slots = (struct ps_slots){ 0 };
}

/* Reads the slots of all relocations, by address. Returns false without memory. */
static bool slots_init(struct ps_slots *slots, Elf *elf, uint16_t machine)
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
			slots_deinit(slots);
			return false;
		}
	}
	if (slots->n)
		qsort(slots->all, slots->n, sizeof(*slots->all), compare_slots);
	return true;
}

static bool slots_init_plt(struct ps_slots *slots, Elf *elf)
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
		slots_deinit(slots);
		return false;
	}
	return true;
}

static const struct ps_slot *slots_find(const struct ps_slots *slots, uint64_t address)
{
	struct ps_slot key = { .address = address };

	return slots->n ? bsearch(&key, slots->all, slots->n, sizeof(key), compare_slots) :
			  NULL;
}

struct plt {
	struct ps_table *table;
	Elf *elf;
	const struct ps_parts *parts;
	struct ps_slots slots;
	uint64_t got; /* address from which position-independent entries of i386 count */
	bool mangled;
};

/* A section with entries. */
struct entries {
	const uint8_t *bytes;
	size_t n;
	uint64_t address;
	size_t size;   /* size of an entry */
	bool is_first; /* .plt itself, which begins with code for all entries */
};

/*
 * Finds the slot that the entry at bytes[at] takes its address from, and the size of the entry.
 * Returns false if there is no entry.
 */
typedef bool decode_fn(const struct plt *plt, const struct entries *in, size_t at, size_t *size,
		       uint64_t *slot);

static uint32_t load_little32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* [endbr] [bnd] jmp *slot(%rip), jmp *slot or jmp *slot(%ebx) */
static bool decode_x86(const struct plt *plt, const struct entries *in, size_t at, size_t *size,
		       uint64_t *slot)
{
	const uint8_t *p = in->bytes + at, *end = in->bytes + in->n;
	uint32_t operand;

	if (at % in->size)
		return false;
	*size = in->size;
	if (end - p >= 4 && (load_little32(p) & 0xfeffffff) == 0xfa1e0ff3)
		p += 4;
	if (p < end && *p == 0xf2)
		p++;
	if (end - p < 6 || p[0] != 0xff || (p[1] != 0x25 && p[1] != 0xa3))
		return false;
	operand = load_little32(p + 2);
	if (p[1] == 0xa3)
		*slot = (uint32_t)(plt->got + operand);
	else if (plt->got)
		*slot = operand;
	else
		*slot = in->address + (uint64_t)(p - in->bytes) + 6 +
			(uint64_t)(int32_t)operand;
	return true;
}

/* [bti c] adrp x16, slot; ldr x17, [x16, slot] */
static bool decode_arm64(const struct plt *plt, const struct entries *in, size_t at,
			 size_t *size, uint64_t *slot)
{
	const uint8_t *p = in->bytes + at;
	uint64_t page = in->address + at;
	uint32_t adrp, ldr;
	int64_t distance;

	(void)plt;
	*size = 16;
	if (at % 4 || in->n - at < 16)
		return false;
	if (load_little32(p) == 0xd503245f) {
		p += 4;
		page += 4;
		*size = 24;
	} else if (at >= 4 && load_little32(p - 4) == 0xd503245f) {
		return false;
	}
	adrp = load_little32(p);
	ldr = load_little32(p + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	distance = (int64_t)((uint64_t)(adrp >> 5 & 0x7ffff) << 45 | (uint64_t)(adrp >> 29 & 3)
									     << 43);
	*slot = (page & ~UINT64_C(0xfff)) + (uint64_t)(distance >> 31) +
		(ldr >> 10 & 0xfff) * 8;
	return true;
}

static bool add_plt_symbol(const struct plt *plt, uint64_t address, uint64_t size,
			   const char *name, uint8_t binding)
{
	struct ps_symbol symbol = { .name = name,
				    .length = (uint32_t)strlen(name),
				    .binding = binding,
				    .function = true };

	return !ps_parts_offset(plt->parts, address, &symbol.start) ||
	       ps_table_add(plt->table, &symbol, size);
}

/*
 * Returns the name of the resolver function at `target`: the slot of an IRELATIVE relocation
 * has no symbol name.
 */
static const char *find_target_name(const struct plt *plt, uint64_t target)
{
	const struct ps_symbol *symbol;
	uint64_t offset;

	if (!target || !ps_parts_offset(plt->parts, target, &offset))
		return NULL;
	symbol = ps_table_find(plt->table, offset);
	return symbol && symbol->start == offset ? symbol->name : NULL;
}

static bool add_entry(const struct plt *plt, uint64_t address, size_t size,
		      const struct ps_slot *slot)
{
	const char *name = slot->name ? slot->name : find_target_name(plt, slot->target);
	char *demangled = slot->name && !plt->mangled ? ps_demangle(name) : NULL, *whole;
	uint64_t offset;
	bool ok;
	int n;

	if (demangled)
		name = demangled;
	if (name)
		n = asprintf(&whole, "%s@plt", name);
	else if (ps_parts_offset(plt->parts, address, &offset))
		n = asprintf(&whole, "offset_%#llx@plt", (unsigned long long)offset);
	else
		return true;
	free(demangled);
	if (n < 0)
		return false;
	ok = add_plt_symbol(plt, address, size, whole, PS_GLOBAL);
	free(whole);
	return ok;
}

static bool add_decoded(const struct plt *plt, const struct entries *in, decode_fn *decode)
{
	size_t at = 0;

	while (at < in->n) {
		const struct ps_slot *slot;
		uint64_t address;
		size_t size;

		if (!decode(plt, in, at, &size, &address)) {
			at += 4;
			continue;
		}
		slot = slots_find(&plt->slots, address);
		if (slot && !add_entry(plt, in->address + at, size, slot))
			return false;
		at += size;
	}
	return true;
}

/* Layout of .plt on machines whose entries are not decoded. */
struct layout {
	uint16_t machine;
	uint8_t header, entry;
};

static const struct layout layouts[] = {
	{ EM_ARM, 20, 12 },   { EM_ARM, 20, 16 },	{ EM_ARM, 32, 16 },
	{ EM_RISCV, 32, 16 }, { EM_LOONGARCH, 32, 16 }, { EM_S390, 32, 32 },
	{ EM_MIPS, 32, 16 },  { EM_SPARC, 48, 12 },	{ EM_SPARCV9, 128, 32 },
};

/*
 * Adds entries named after the slots of .rela.plt in turn, if the size of the section agrees.
 */
static bool add_in_order(const struct plt *plt, const struct entries *in, uint16_t machine)
{
	const struct layout *layout = layouts,
			    *end = layouts + sizeof(layouts) / sizeof(*layouts);
	size_t n = plt->slots.n;

	while (layout < end &&
	       (layout->machine != machine || in->n != layout->header + n * layout->entry))
		layout++;
	if (layout == end)
		return true;
	for (size_t i = 0; i < n; i++)
		if (!add_entry(plt, in->address + layout->header + i * layout->entry,
			       layout->entry, &plt->slots.all[i]))
			return false;
	return true;
}

/*
 * Ends the symbol before `address`. One without a size was taken to reach to the next symbol,
 * when entries were not symbols yet.
 */
static void end_symbol_before(const struct plt *plt, uint64_t address)
{
	const struct ps_symbol *before;
	uint64_t offset;

	if (!ps_parts_offset(plt->parts, address, &offset))
		return;
	before = ps_table_find(plt->table, offset);
	if (!before || before->start >= offset)
		return;
	plt->table->symbols[before - plt->table->symbols].end = offset;
	plt->table->finished = 0;
}

/*
 * Finds a section with entries. Returns false without one, or if its bytes are not in the file,
 * as in a debug file.
 */
static bool init_entries(struct entries *in, const struct plt *plt, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *scn = ps_elf_section(plt->elf, SHT_PROGBITS, name, &header);
	const Elf_Data *data = ps_elf_data(scn);

	if (!scn && !ps_elf_section(plt->elf, SHT_NOBITS, name, &header))
		return false;
	if (!(header.sh_flags & SHF_EXECINSTR))
		return false;
	end_symbol_before(plt, header.sh_addr);
	if (!data)
		return false;
	*in = (struct entries){ data->d_buf, data->d_size, header.sh_addr,
				(size_t)header.sh_entsize, strcmp(name, ".plt") == 0 };
	return true;
}

static bool add_section(const struct plt *plt, const char *name, uint16_t machine)
{
	bool is_x86 = machine == EM_X86_64 || machine == EM_386;
	struct entries in;

	if (!init_entries(&in, plt, name))
		return true;
	/* other linkers than GNU's do not state the size */
	if (is_x86 && in.size != 8 && in.size != 16)
		in.size = 16;
	if (is_x86		  ? !add_decoded(plt, &in, decode_x86) :
	    machine == EM_AARCH64 ? !add_decoded(plt, &in, decode_arm64) :
				    in.is_first && !add_in_order(plt, &in, machine))
		return false;
	return !in.is_first || add_plt_symbol(plt, in.address, in.n, name, PS_WEAK);
}

static bool init_plt(struct plt *plt, uint16_t machine)
{
	GElf_Shdr header;

	if (machine == EM_386 && (ps_elf_section(plt->elf, SHT_PROGBITS, ".got.plt", &header) ||
				  ps_elf_section(plt->elf, SHT_PROGBITS, ".got", &header)))
		plt->got = header.sh_addr;
	if (machine == EM_386 || machine == EM_X86_64 || machine == EM_AARCH64)
		return slots_init(&plt->slots, plt->elf, machine);
	return slots_init_plt(&plt->slots, plt->elf);
}

bool ps_plt_add(struct ps_table *table, Elf *elf, const struct ps_parts *parts, bool mangled)
{
	struct plt plt = { .table = table, .elf = elf, .parts = parts, .mangled = mangled };
	GElf_Ehdr header;
	bool ok;

	if (!gelf_getehdr(elf, &header))
		return true;
	ok = init_plt(&plt, header.e_machine) && add_section(&plt, ".plt", header.e_machine) &&
	     add_section(&plt, ".plt.sec", header.e_machine) &&
	     add_section(&plt, ".plt.got", header.e_machine);
	slots_deinit(&plt.slots);
	return ok;
}
