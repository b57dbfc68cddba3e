/*
 * The functions of libcapstone. It is opened when the first decoder is made: it would add 1 ms
 * and 3.4 MB to every start.
 */
#ifndef PERFLUA_DISASM_LIBRARY_H
#define PERFLUA_DISASM_LIBRARY_H

#include <capstone.h> /* without a folder, as pkg-config has it */
#include <stdbool.h>

#define PI_TEXT(x)  #x
#define PI_VALUE(x) PI_TEXT(x)
#define PI_LIBRARY  "libcapstone.so." PI_VALUE(CS_API_MAJOR)

struct pi_library {
	__typeof__(cs_support) *support;
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_insn_group) *insn_group;
	__typeof__(cs_disasm_iter) *disasm_iter;
};

extern struct pi_library pi_capstone;

/* Opens the library, once. Returns false if it is not there, or lacks a function. */
bool pi_library_open(void);

#endif
