#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "elf.h"
#include "elf_parts.h"

struct filler {
	struct ps_table *table;
	struct ps_parts syms, runtime;
	enum ps_addresses addresses;
	uint16_t machine;
	bool mangled;
	bool is_placed; /* the mapped file is not here: only some of its segments are known */
	/* bytes left for names: a small file may name one long string many times */
	size_t room;
	const Elf_Data *opd;
	uint64_t opd_address;
	size_t opd_index;
	bool swapped; /* the file has the other byte order */
};

/* Returns true for ARM's and RISC-V's mapping symbols, which mark where code and data begin. */
static bool is_mark(uint16_t machine, const char *name)
{
	if (name[0] != '$' || !name[1])
		return false;
	if (machine == EM_ARM || machine == EM_AARCH64)
		return strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
	return machine == EM_RISCV && strchr("dx", name[1]);
}

/*
 * Returns true for labels that perf takes: see elf_sym__is_label, tools/perf/util/symbol-elf.c.
 */
static bool is_label(const GElf_Sym *symbol)
{
	unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);

	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

/*
 * Returns false for labels that the assembler made, and whose names the author does not know.
 */
static bool is_telling(const struct ps_section *section, const char *name)
{
	return (section->named_text || section->named_data) && strncmp(name, ".L", 2) != 0;
}

/*
 * In the ABI v1 of PowerPC the symbol of a function points to its descriptor, which begins with
 * the address of the code.
 */
static bool follow_descriptor(const struct filler *filler, GElf_Sym *symbol)
{
	uint64_t at = symbol->st_value - filler->opd_address, word;

	if (at > filler->opd->d_size || filler->opd->d_size - at < sizeof(word))
		return false;
	memcpy(&word, (const char *)filler->opd->d_buf + at, sizeof(word));
	symbol->st_value = filler->swapped ? __builtin_bswap64(word) : word;
	return true;
}

/* Converts an address of the file to that in the table. Returns false if it has none there. */
static bool convert_address(const struct filler *filler, size_t index, uint64_t *address)
{
	const struct ps_section *section = &filler->syms.sections[index];

	/* not in memory at run time, such as warnings of the linker */
	if (!section->loaded)
		return false;
	if (filler->addresses == PS_MODULE_OFFSETS) {
		*address += section->placed;
		return section->is_placed;
	}
	if (filler->addresses == PS_VIRTUAL ||
	    ps_parts_offset(&filler->runtime, *address, address))
		return true;
	if (filler->is_placed)
		return false;
	/* the file has no segments, or is a debug file, which lacks the bytes */
	if (section->type == SHT_NOBITS) {
		if (index >= filler->runtime.n_sections)
			return false;
		section = &filler->runtime.sections[index];
	}
	*address -= section->address - section->offset;
	return section->loaded;
}

static bool add_elf_symbol(struct filler *filler, struct ps_symbol *symbol, uint64_t size)
{
	char *demangled = NULL;
	size_t length;
	bool ok;

	if (!filler->mangled)
		demangled = ps_demangle_within(symbol->name, &filler->room, &length);
	if (demangled) {
		symbol->name = demangled;
		symbol->length = (uint32_t)length;
	}
	if (symbol->length >= filler->room) {
		free(demangled);
		return true;
	}
	filler->room -= symbol->length;
	ok = ps_table_add(filler->table, symbol, size);
	free(demangled);
	return ok;
}

/* Returns true if the table has an equal symbol: most of .dynsym is in .symtab, too. */
static bool has_equal_symbol(const struct ps_table *table, const struct ps_symbol *symbol,
			     uint64_t size)
{
	const struct ps_symbol *known = ps_table_find(table, symbol->start);

	return known && size && known->start == symbol->start &&
	       known->binding == symbol->binding && known->label == symbol->label &&
	       known->end - known->start == size;
}

static bool add_one(struct filler *filler, GElf_Sym *symbol, size_t index, const char *name,
		    size_t length)
{
	static const uint8_t bindings[] = {
		[STB_LOCAL] = PS_LOCAL, [STB_GLOBAL] = PS_GLOBAL, [STB_WEAK] = PS_WEAK
	};
	unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC, label = is_label(symbol);
	struct ps_symbol added;

	if ((!function && type != STT_OBJECT && !label) || is_mark(filler->machine, name))
		return true;
	if (filler->opd && index == filler->opd_index) {
		if (!follow_descriptor(filler, symbol) ||
		    !ps_parts_offset(&filler->runtime, symbol->st_value, &symbol->st_value))
			return true;
	} else {
		if (index >= filler->syms.n_sections ||
		    (label && !is_telling(&filler->syms.sections[index], name)))
			return true;
		/* the lowest bit marks Thumb code */
		if (filler->machine == EM_ARM && type == STT_FUNC)
			symbol->st_value &= ~UINT64_C(1);
		if (!convert_address(filler, index, &symbol->st_value))
			return true;
	}
	added = (struct ps_symbol){
		.start = symbol->st_value,
		.name = name,
		.length = (uint32_t)length,
		.binding = binding < sizeof(bindings) ? bindings[binding] : PS_LOCAL,
		.label = label,
		.function = function || (label && filler->syms.sections[index].named_text),
		/* labels in functions of a kernel stay, as its kallsyms has them, too */
		.unsized = !symbol->st_size && filler->addresses == PS_FILE_OFFSETS,
	};
	return has_equal_symbol(filler->table, &added, symbol->st_size) ||
	       add_elf_symbol(filler, &added, symbol->st_size);
}

static const Elf_Data *find_section_indexes(Elf *elf, size_t table)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == table)
			return ps_elf_data(scn);
	return NULL;
}

static bool add_symbol_tables(struct filler *filler, Elf *elf, uint32_t type)
{
	GElf_Shdr header;
	Elf_Scn *scn = ps_elf_section(elf, type, NULL, &header);
	const Elf_Data *symbols = ps_elf_data(scn);
	const Elf_Data *strings = scn ? ps_elf_data(elf_getscn(elf, header.sh_link)) : NULL;
	const Elf_Data *indexes;
	GElf_Sym symbol;
	GElf_Word wide;

	if (!symbols || !strings)
		return true;
	indexes = find_section_indexes(elf, elf_ndxscn(scn));
	filler->room = strings->d_size * 8 + (1u << 20);
	for (int i = 0;
	     gelf_getsymshndx((Elf_Data *)symbols, (Elf_Data *)indexes, i, &symbol, &wide);
	     i++) {
		size_t index = symbol.st_shndx == SHN_XINDEX ? wide : symbol.st_shndx, length;
		const char *name;

		if (index == SHN_UNDEF ||
		    (symbol.st_shndx >= SHN_LORESERVE && symbol.st_shndx != SHN_XINDEX))
			continue;
		name = ps_elf_string(strings, symbol.st_name, &length);
		if (name && length && !add_one(filler, &symbol, index, name, length))
			return false;
	}
	return true;
}

static void find_descriptors(struct filler *filler, struct ps_elf *runtime)
{
	GElf_Shdr header;
	GElf_Ehdr ehdr;
	Elf_Scn *scn;

	if (!runtime->opd || !gelf_getehdr(runtime->elf, &ehdr))
		return;
	scn = ps_elf_section(runtime->elf, SHT_PROGBITS, ".opd", &header);
	filler->opd = ps_elf_data(scn);
	if (!filler->opd)
		return;
	filler->opd_address = header.sh_addr;
	filler->opd_index = elf_ndxscn(scn);
	filler->swapped = (ehdr.e_ident[EI_DATA] == ELFDATA2MSB) !=
			  (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/*
 * Adds both tables of symbols: see dso__load_sym, tools/perf/util/symbol-elf.c. The first is
 * sorted before the second is added.
 */
static bool fill_table(struct filler *filler, struct ps_elf *syms, struct ps_elf *runtime)
{
	Elf *second = syms->dynsym ? syms->elf : runtime->elf;

	find_descriptors(filler, runtime);
	if (!add_symbol_tables(filler, syms->elf, SHT_SYMTAB))
		return false;
	if (filler->addresses != PS_FILE_OFFSETS)
		return true;
	if (!ps_table_finish(filler->table, PS_FILE) ||
	    !add_symbol_tables(filler, second, SHT_DYNSYM))
		return false;
	return ps_table_finish(filler->table, PS_FILE) &&
	       ps_plt_add(filler->table, runtime->elf, &filler->runtime, filler->mangled);
}

/* Reads the parts of the mapped file; the target's segments replace those of a debug file. */
static bool read_runtime(struct filler *filler, const struct ps_target *target,
			 struct ps_elf *runtime)
{
	struct ps_parts *parts = &filler->runtime;

	if (!ps_parts_init(parts, runtime->elf))
		return false;
	filler->is_placed = runtime->is_debug;
	if (!runtime->is_debug)
		return true;
	parts->n_segments = target->n_segments;
	if (target->n_segments)
		memcpy(parts->segments, target->segments,
		       target->n_segments * sizeof(*target->segments));
	return true;
}

bool ps_elf_add_symbols(const struct ps_target *target, struct ps_elf *syms,
			struct ps_elf *runtime)
{
	struct filler filler = {
		.table = target->table,
		.addresses = target->addresses,
		.mangled = target->mangled,
	};
	GElf_Ehdr header;
	bool ok;

	if (!gelf_getehdr(syms->elf, &header))
		return true;
	filler.machine = header.e_machine;
	ok = ps_parts_init(&filler.syms, syms->elf) && read_runtime(&filler, target, runtime) &&
	     fill_table(&filler, syms, runtime);
	ps_parts_deinit(&filler.syms);
	ps_parts_deinit(&filler.runtime);
	return ok;
}
