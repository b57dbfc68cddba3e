/*
 * Sections and segments of an ELF file, which lead from a symbol to where it lies; symbols for
 * the entries of its linkage tables (elf_plt.c).
 */
#ifndef PERFLUA_SYMBOLS_ELF_PARTS_H
#define PERFLUA_SYMBOLS_ELF_PARTS_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct ps_section {
	uint64_t address, offset, size;
	uint64_t placed; /* for code of a module: offset from its start, as loaded */
	uint32_t type;
	bool loaded, executable, named_text, named_data;
	bool is_placed;
};

struct ps_segment {
	uint64_t address, offset, size; /* size: in memory, or in the file if that is larger */
	uint32_t flags;			/* PF_… */
};

/* No linker makes more segments; further ones are ignored. */
#define PS_MAX_SEGMENTS 128

struct ps_parts {
	struct ps_section *sections; /* [n_sections], by index */
	size_t n_sections;
	struct ps_segment segments[PS_MAX_SEGMENTS]; /* loaded ones */
	size_t n_segments;
};

/* Reads the parts of `elf`; unreadable ones are left out. Returns false without memory. */
bool ps_parts_init(struct ps_parts *parts, Elf *elf);
void ps_parts_deinit(struct ps_parts *parts);

/* Turns an address into an offset in the file. Returns false if no segment holds it. */
bool ps_parts_offset(const struct ps_parts *parts, uint64_t address, uint64_t *offset);

/*
 * Turns an offset in the file into an address. Returns false if none of `n` segments holds it.
 */
bool ps_segments_address(const struct ps_segment *segments, size_t n, uint64_t offset,
			 uint64_t *address);

/* Returns true if `elf` is a debug file: it has sections with code, but not their bytes. */
bool ps_elf_lacks_code(Elf *elf);

/*
 * Sets *header to the header of a section, of type SHT_NULL if it cannot be read. Returns its
 * name, "" if it has none.
 */
const char *ps_elf_header(Elf *elf, Elf_Scn *section, GElf_Shdr *header);

/* Returns the first section of that type and name (NULL: any), and sets *header. NULL: none. */
Elf_Scn *ps_elf_section(Elf *elf, uint32_t type, const char *name, GElf_Shdr *header);

/* Returns the whole data of a section; NULL: it cannot be read. */
const Elf_Data *ps_elf_data(Elf_Scn *section);

/*
 * Returns the string at `at` in a table, and sets *length. NULL: it does not end in the table,
 * or is too long for a name.
 */
const char *ps_elf_string(const Elf_Data *strings, size_t at, size_t *length);

/*
 * Adds the entries of linkage tables to a finished table of symbols: as "name@plt", and as
 * ".plt" if no function is known. Returns false without memory.
 */
bool ps_plt_add(struct ps_table *table, Elf *elf, const struct ps_parts *parts, bool mangled);

#endif
