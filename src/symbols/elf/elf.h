/*
 * ELF files and their symbols, through libelf. Files are hostile input, too: one that cannot be
 * read gives a reason.
 */
#ifndef PERFLUA_SYMBOLS_ELF_H
#define PERFLUA_SYMBOLS_ELF_H

#include <libelf.h>

#include "build_id.h"
#include "elf_parts.h"
#include "table.h"

/* An open file. A compressed one (modules: .gz, .xz, .zst) is read unpacked. */
struct ps_elf {
	int fd;
	Elf *elf;
	struct ps_build_id build_id; /* size 0: none */
	bool symtab, dynsym, opd;    /* sections that the file has */
	bool relocatable;	     /* a module: ET_REL */
	bool is_debug;		     /* a debug file: its sections with code have no bytes */
};

/*
 * Opens a file as ps_file_open() does, with the same `root`. Returns false and sets *reason to
 * a constant string: "No such file or directory", "not an ELF file" ….
 */
bool ps_elf_open(struct ps_elf *elf, const char *root, const char *path, const char **reason);
/*
 * Opens the ELF file in section .gnu_debugdata of `elf`. Returns false if it has none that can
 * be read.
 */
bool ps_elf_open_debugdata(struct ps_elf *inner, struct ps_elf *elf);
void ps_elf_close(struct ps_elf *elf);

/* Writes the name in .gnu_debuglink to path[size]. Returns false if there is none. */
bool ps_elf_debuglink(struct ps_elf *elf, char *path, size_t size);

/* How addresses of symbols become those of the table. */
enum ps_addresses {
	PS_FILE_OFFSETS, /* for programs and libraries: by the segments of the mapped file */
	/* for modules: from the start of their code as loaded */
	PS_MODULE_OFFSETS,
	PS_VIRTUAL, /* for vmlinux: as in the file */
};

/* Receives the symbols of an ELF file. */
struct ps_target {
	struct ps_table *table;
	enum ps_addresses addresses;
	bool mangled; /* do not demangle names */
	/* Segments of a debug file that stands for the mapped one: see ps_place_segments(). */
	const struct ps_segment *segments; /* [n_segments] */
	size_t n_segments;
};

/*
 * Adds the symbols of functions and data that perf takes to target->table. `syms` has the
 * symbol table, `runtime` is the file that was mapped; they may be the same. For
 * PS_FILE_OFFSETS `runtime` gives the segments and the entries of its .plt (name@plt); if it is
 * a debug file, the segments are the target's. Returns false without memory.
 */
bool ps_elf_add_symbols(const struct ps_target *target, struct ps_elf *syms,
			struct ps_elf *runtime);

/*
 * Sets *address to the address of a symbol in the file. Returns false if it has none of that
 * name.
 */
bool ps_elf_symbol_address(struct ps_elf *elf, const char *name, uint64_t *address);

/*
 * Turns an offset in the mapped file into the address that its headers give it. Returns false
 * if no segment holds it.
 */
bool ps_elf_address(struct ps_elf *elf, uint64_t offset, uint64_t *address);

#endif
