#include "notes.h"

#include <elf.h>
#include <stdlib.h>

#include "symbols/elf/text.h"

/* The note has type 3 (NT_GNU_BUILD_ID) and the owner "GNU", as in ELF files. */
bool ps_read_notes(const char *path, struct ps_build_id *id)
{
	const char *reason;
	size_t size, at = 0;
	char *notes = ps_text_read(path, &size, &reason);
	bool found = false;
	Elf64_Nhdr note;

	while (notes && !found && size - at >= sizeof(note)) {
		size_t name, desc;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (size - at < name || size - at - name < note.n_descsz)
			break;
		found = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			memcmp(notes + at, "GNU", 4) == 0 && note.n_descsz <= PS_MAX_BUILD_ID;
		if (found) {
			id->size = (uint8_t)note.n_descsz;
			memcpy(id->bytes, notes + at + name, note.n_descsz);
		}
		at = size - at - name < desc ? size : at + name + desc;
	}
	free(notes);
	return found;
}
