/* Internal to the module: the functions of libcapstone, and sizes that it does not know. */
#ifndef PERFLUA_DISASM_INTERNAL_H
#define PERFLUA_DISASM_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sizes of instructions of x86-64 with a VEX or EVEX prefix (AVX, AVX-512): libcapstone lacks
 * the newest of them, but their size follows from their form.
 */

/*
 * Returns the size in bytes of the instruction that `bytes` [n] begin with, in 64-bit mode; 0:
 * it has no such prefix, or is longer than `n` bytes.
 */
size_t pi_vex_size(const unsigned char *bytes, size_t n);

#ifdef PERFLUA_CAPSTONE

#include <capstone.h> /* without a folder, as pkg-config has it */

/*
 * The functions of libcapstone. It is opened when the first decoder is made: it would add 1 ms
 * and 3.4 MB to every start.
 */

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

#endif
