/*
 * ELF files, as far as their symbols go: through libelf. Files are hostile too; one that cannot
 * be read is said so.
 */
#ifndef PERFLUA_SYMBOLS_ELF_H
#define PERFLUA_SYMBOLS_ELF_H

#include <libelf.h>

#include "build_id.h"
#include "elf_parts.h"
#include "table.h"

/* An open one. Compressed ones (modules: .gz, .xz, .zst) are read as what they hold. */
struct ps_elf {
	int fd;
	Elf *elf;
	struct ps_build_id build_id; /* size 0: it has none */
	bool symtab, dynsym, opd;    /* has sections of these */
	bool relocatable;	     /* a module: ET_REL */
	bool is_debug;		     /* a debug file: its sections with code have no bytes */
};

/*
 * Opens a file as ps_file_open does, with the same `root`. False: *reason says why ("No such
 * file or directory", "not an ELF file" …): a constant string.
 */
bool ps_elf_open(struct ps_elf *elf, const char *root, const char *path, const char **reason);
/*
 * What its section .gnu_debugdata holds, an ELF file of its own; false: it has none that can be
 * read.
 */
bool ps_elf_open_debugdata(struct ps_elf *inner, struct ps_elf *elf);
void ps_elf_close(struct ps_elf *elf);

/* The name in .gnu_debuglink, into path[size]; false: there is none. */
bool ps_elf_debuglink(struct ps_elf *elf, char *path, size_t size);

/* How addresses of symbols become those of the table. */
enum ps_addresses {
	PS_FILE_OFFSETS, /* of programs and libraries: by the segments of what was mapped */
	/* of modules: from the start of their code, as they lie once loaded */
	PS_MODULE_OFFSETS,
	PS_VIRTUAL, /* as they stand in the file: vmlinux */
};

/* Where symbols of an ELF file go. */
struct ps_target {
	struct ps_table *table;
	enum ps_addresses addresses;
	bool mangled; /* names stay as the file has them */
	/* of a debug file in the place of what was mapped: see ps_place_segments() */
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

/* The address of a symbol of that name, in the file; false: it has none. */
bool ps_elf_symbol_address(struct ps_elf *elf, const char *name, uint64_t *address);

/*
 * Turns an offset in the file that was mapped into the address that its headers give it; false:
 * no segment holds it.
 */
bool ps_elf_address(struct ps_elf *elf, uint64_t offset, uint64_t *address);

#endif
