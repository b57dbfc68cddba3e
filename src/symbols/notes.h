/* Build-ids in the notes that the running kernel shows of itself and of its modules. */
#ifndef PERFLUA_SYMBOLS_NOTES_H
#define PERFLUA_SYMBOLS_NOTES_H

#include "symbols/elf/build_id.h"

#define PS_KERNEL_NOTES "/sys/kernel/notes"

/* Reads the build-id among the notes in a file. Returns false if there is none. */
bool ps_read_notes(const char *path, struct ps_build_id *id);

#endif
