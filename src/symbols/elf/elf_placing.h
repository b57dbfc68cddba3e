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

#include "elf_parts.h"

/* A mapping that a loader made of a part of a file. */
struct ps_mapping {
	uint64_t pgoff, len; /* bytes */
	uint32_t prot;	     /* PROT_…; 0: not recorded */
	bool executable;     /* mapped executable, as far as is known */
};

/*
 * Finds the segments of `elf`, a debug file, that one of `n_mappings` recorded mappings fits,
 * and stores them with their offsets in the mapped file in *segments, which the caller frees,
 * and their number in *n_segments. A segment is left out where no mapping fits it, or two at
 * different offsets, or where the mapping fits another segment, too. So are writable ones:
 * nothing says how much of them is in the file. `arch` is the architecture of the machine;
 * NULL: not known. Returns false without memory.
 */
bool ps_place_segments(Elf *elf, const struct ps_mapping *mappings, size_t n_mappings,
		       const char *arch, struct ps_segment **segments, size_t *n_segments);

/*
 * Returns true if a loader on a machine of architecture `arch` (NULL: not known) makes that
 * mapping of the file of `parts`, which is not a debug file.
 */
bool ps_mapping_fits(const struct ps_parts *parts, const struct ps_mapping *mapping,
		     const char *arch);

#endif
