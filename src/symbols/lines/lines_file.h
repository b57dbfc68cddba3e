/*
 * The open file with the debug information of a binary, and images of such files in memory,
 * made ready for libdw.
 *
 * libdw reads names without looking for the end of their section. So zeros follow what was
 * read, into which a name without an end runs. The file itself may change or go meanwhile.
 */
#ifndef PERFLUA_SYMBOLS_LINES_FILE_H
#define PERFLUA_SYMBOLS_LINES_FILE_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct ps_unpacked; /* A section that was compressed. */

/* A file with debug information, in memory. */
struct ps_image {
	/* mapped memory of the file's size, of which only the needed parts were read */
	char *bytes;
	size_t mapped;
	Elf *elf;
	Dwarf *dwarf;  /* NULL: nothing is open */
	uint64_t size; /* bytes of the debug information */
	struct ps_unpacked *unpacked;
	char *path;
	/* The file into which dwz put shared parts: its path (NULL: none) and build-id. */
	const char *shared;
	struct ps_build_id shared_id;
};

/*
 * Opens the debug information of a file, as ps_file_open() does with the same `root`. Returns
 * false if it cannot be read, or the file does not have build-id *wanted (size 0: any).
 */
bool ps_image_open(struct ps_image *image, const char *root, const char *path,
		   const struct ps_build_id *wanted);
void ps_image_close(struct ps_image *image);

/* Returns true if ps_image_open() would try to read that file. Does not read it. */
bool ps_image_fits(const char *root, const char *path, const struct ps_build_id *wanted);

/* Returns true if libdw may read a .dwo file as it is. */
bool ps_split_fits(const char *path);

/*
 * Address of a module's code in its debug information. It is not 0, where the linker puts what
 * it dropped.
 */
#define PS_MODULE_BASE UINT64_C(0x10000000)

/* Returns true if relocation needs a section besides those with debug information. */
bool ps_relocate_needs(uint32_t type, const char *name);

/*
 * Fills in the addresses as if the module's code lay at PS_MODULE_BASE, in the order in which
 * the kernel loads it. Returns false if the machine is not supported, or the relocations make
 * no sense.
 */
bool ps_relocate(Elf *elf);

/* The debug file of a binary, which is open. */
struct ps_debug {
	struct ps_image image;
	/* the part that several debug files share (dwz); may be closed */
	struct ps_image shared;
	struct ps_dso *dso;
	struct ps_elf runtime; /* for programs and libraries: has the program headers */
	/* addresses of the dso are offsets in `runtime`, or go by dso->segments */
	bool offsets;
	uint64_t bias; /* unless `offsets`: address in the file + bias = address in the dso */
	uint64_t size; /* bytes of all debug information */
};

/*
 * Finds and opens the debug file of `dso`. Returns false if there is none; nothing stays open
 * then.
 */
bool ps_debug_open(struct ps_debug *debug, struct ps_dso *dso);
void ps_debug_close(struct ps_debug *debug);

/*
 * Turns an address of the dso into that of the debug information. Returns false if it has none
 * for it.
 */
bool ps_debug_address(struct ps_debug *debug, uint64_t address, uint64_t *file_address);

#endif
