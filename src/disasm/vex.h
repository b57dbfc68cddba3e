/*
 * Sizes of instructions of x86-64 with a VEX or EVEX prefix (AVX, AVX-512): libcapstone lacks
 * the newest of them, but their size follows from their form.
 */
#ifndef PERFLUA_DISASM_VEX_H
#define PERFLUA_DISASM_VEX_H

#include <stddef.h>

/*
 * Returns the size in bytes of the instruction that `bytes` [n] begin with, in 64-bit mode; 0:
 * it has no such prefix, or is longer than `n` bytes.
 */
size_t pi_vex_size(const unsigned char *bytes, size_t n);

#endif
