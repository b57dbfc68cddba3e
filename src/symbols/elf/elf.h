/*
 * ELF files, as far as their symbols go: through libelf. Files are hostile too; one that cannot be read is said so.
 */
#ifndef PERFLUA_SYMBOLS_ELF_H
#define PERFLUA_SYMBOLS_ELF_H

#include <libelf.h>

#include "symbols/dso.h"

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
 * Opens a file as ps_file_open does, with the same `root`. False: *reason says why ("No such file or directory", "not
 * an ELF file" …): a constant string.
 */
bool ps_elf_open(struct ps_elf *elf, const char *root, const char *path, const char **reason);
/* What its section .gnu_debugdata holds, an ELF file of its own; false: it has none that can be read. */
bool ps_elf_open_debugdata(struct ps_elf *inner, struct ps_elf *elf);
void ps_elf_close(struct ps_elf *elf);

/* The name in .gnu_debuglink, into path[size]; false: there is none. */
bool ps_elf_debuglink(struct ps_elf *elf, char *path, size_t size);

/* How addresses of symbols become those of the table. */
enum ps_addresses {
	PS_FILE_OFFSETS,   /* of programs and libraries: by the segments of what was mapped */
	PS_MODULE_OFFSETS, /* of modules: from the start of their code, as they lie once loaded */
	PS_VIRTUAL,	   /* as they stand in the file: vmlinux */
};

/*
 * Adds symbols of functions and data to dso->table, those that perf takes; demangled unless the
 * store says otherwise. `syms` has the symbol table, `runtime` is what was mapped; they may be
 * the same file. For PS_FILE_OFFSETS `runtime` gives the segments and the entries of its .plt
 * (name@plt); if it is a debug file, dso->segments are the segments. dso->table.n says how many
 * were added. False: no memory.
 */
bool ps_elf_add_symbols(struct ps_dso *dso, struct ps_elf *syms, struct ps_elf *runtime,
			enum ps_addresses addresses);

/* The address of a symbol of that name, in the file; false: it has none. */
bool ps_elf_symbol_address(struct ps_elf *elf, const char *name, uint64_t *address);

/* Turns an offset in the file that was mapped into the address that its headers give it; false: no segment holds it. */
bool ps_elf_address(struct ps_elf *elf, uint64_t offset, uint64_t *address);

#endif
