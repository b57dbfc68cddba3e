/* The machine code of functions: which file has it, and its bytes. */
#ifndef PERFLUA_SYMBOLS_CODE_H
#define PERFLUA_SYMBOLS_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_dso;
struct ps_symbol;

struct ps_code {
	unsigned char *bytes; /* [size] */
	size_t size;	      /* less than the function's if the file ends before it */
	uint64_t address;     /* of the first byte, as the file has it: nm shows it */
	/* what the ELF header says: EM_…; 0: the file does not say it */
	uint16_t machine;
	bool is_64, is_big;
	const char *path; /* of the file; the store's */
	int64_t written;  /* when the file was last written, in s; 0: it is not known */
};

/*
 * Reads the code of a function of `dso`, or without a name that of the range, which may be of
 * several sections. The caller frees it with ps_code_deinit(). Takes bytes from proven files
 * alone, as symbols are. Returns false and sets *reason to a constant string if there are none.
 */
bool ps_dso_code(struct ps_dso *dso, const struct ps_symbol *symbol, struct ps_code *code,
		 const char **reason);
void ps_code_deinit(struct ps_code *code);

#endif
