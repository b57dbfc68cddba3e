/*
 * The parts of an ELF file that lead from a symbol to where it lies: sections and segments.
 */
#ifndef PERFLUA_SYMBOLS_ELF_PARTS_H
#define PERFLUA_SYMBOLS_ELF_PARTS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_section {
	uint64_t address, offset, size;
	uint64_t placed; /* of a module's code: where it lies, from the start of all of it */
	uint32_t type;
	bool loaded, executable, named_text, named_data;
	bool is_placed;
};

struct ps_segment {
	uint64_t address, offset, size; /* size: in memory, or in the file if that is larger */
	uint32_t flags;			/* PF_… */
};

/* More segments than this no linker makes; the rest of such a file is not looked at. */
#define PS_MAX_SEGMENTS 128

struct ps_parts {
	struct ps_section *sections; /* [n_sections], by their index */
	size_t n_sections;
	struct ps_segment segments[PS_MAX_SEGMENTS]; /* those that are loaded */
	size_t n_segments;
};

/* False: no memory. What cannot be read is left out. */
bool ps_parts_init(struct ps_parts *parts, Elf *elf);
void ps_parts_deinit(struct ps_parts *parts);

/* Turns an address into an offset in the file; false: no segment holds it. */
bool ps_parts_offset(const struct ps_parts *parts, uint64_t address, uint64_t *offset);

/* Turns an offset in the file into an address; false: none of n segments holds it. */
bool ps_segments_address(const struct ps_segment *segments, size_t n, uint64_t offset,
			 uint64_t *address);

/* Returns whether `elf` has sections with code, but not their bytes: it is a debug file. */
bool ps_elf_lacks_code(Elf *elf);

/*
 * The header of a section, of type SHT_NULL if it cannot be read; and its name, "" if it has
 * none.
 */
const char *ps_elf_header(Elf *elf, Elf_Scn *section, GElf_Shdr *header);

/* The first section of that type, and of that name unless it is NULL; NULL: there is none. */
Elf_Scn *ps_elf_section(Elf *elf, uint32_t type, const char *name, GElf_Shdr *header);

/* What a section holds, whole; NULL: nothing that can be read. */
const Elf_Data *ps_elf_data(Elf_Scn *section);

/*
 * A string of a table that holds `strings`, and its length; NULL: not a whole one, or too long
 * to be a name.
 */
const char *ps_elf_string(const Elf_Data *strings, size_t at, size_t *length);

#endif
