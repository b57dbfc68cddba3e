/*
 * A file's debug information in memory, made ready for libdw.
 *
 * libdw reads names without a look for the end of their section, so zeros follow here what was
 * read: a name without an end runs into them, at the latest. The file itself may change or go
 * meanwhile.
 */
#ifndef PERFLUA_SYMBOLS_LINES_IMAGE_H
#define PERFLUA_SYMBOLS_LINES_IMAGE_H

#include <elfutils/libdw.h>

#include "symbols/elf/elf.h"

struct ps_unpacked; /* a section that was compressed */

struct ps_image {
	char *bytes; /* mapped: the file, of which only what is needed was read */
	size_t mapped;
	Elf *elf;
	Dwarf *dwarf;  /* NULL: nothing is open */
	uint64_t size; /* of the debug information */
	struct ps_unpacked *unpacked;
	char *path;
	/*
	 * the file in which dwz put the parts that several share: its path (NULL: none) and
	 * build-id
	 */
	const char *shared;
	struct ps_build_id shared_id;
};

/*
 * Opens the debug information of a file, as ps_file_open does with the same `root`. False:
 * there is none that can be read, or the file does not have that build-id; size 0: any will do.
 */
bool ps_image_open(struct ps_image *image, const char *root, const char *path,
		   const struct ps_build_id *wanted);
void ps_image_close(struct ps_image *image);

/* Returns whether ps_image_open() would try to read that file, which is not read for that. */
bool ps_image_fits(const char *root, const char *path, const struct ps_build_id *wanted);

/* May libdw read a .dwo file as it lies there? */
bool ps_split_fits(const char *path);

#endif
