/*
 * Where the segments of a program or library lie in its file, when only its debug file is
 * there.
 *
 * The program headers of a debug file have the addresses, sizes and flags of the segments, but
 * the offsets are often those of the debug file. The recorded mappings have the true offsets: a
 * loader maps a segment with its flags, from the page where the segment begins to the one where
 * it ends; and some loaders map the first segment with the length of all of them.
 */
#ifndef PERFLUA_SYMBOLS_ELF_PLACING_H
#define PERFLUA_SYMBOLS_ELF_PLACING_H

#include "symbols/dso.h"
#include "elf_parts.h"

/*
 * Finds the segments of `elf`, the debug file of `dso`, that a recorded mapping fits, and
 * writes them to dso->segments with their offsets in the mapped file. A segment is left out
 * where no mapping fits it, or two at different offsets, or where the mapping fits another
 * segment, too. So are writable ones: nothing says how much of them is in the file. False: no
 * memory.
 */
bool ps_place_segments(struct ps_dso *dso, Elf *elf);

/*
 * Returns whether a loader makes that mapping of the file of `parts`, which is no debug file,
 * on a machine of that architecture; NULL: not known.
 */
bool ps_mapping_fits(const struct ps_parts *parts, const struct ps_mapping *mapping,
		     const char *arch);

#endif
