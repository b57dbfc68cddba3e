/*
 * Machine code as instructions, by libcapstone. Knows neither files nor records.
 *
 *	struct pi_decoder *decoder = pi_decoder_create(&machine, &reason);
 *	struct pi_code *code = pi_code_create(decoder, bytes, size, address, NULL, 0);
 *
 *	for (size_t i = 0; i < pi_code_size(code); i++)
 *		pi_code_text(code, i, &text);
 *
 * Decoding goes from the first byte to the last. Bytes that cannot be decoded are one item, up
 * to the next boundary: one that the caller knows, or the target of a jump. Where the size of
 * an instruction is known nevertheless, as on machines that have one only, they are an item
 * each.
 */
#ifndef PERFLUA_DISASM_DISASM_H
#define PERFLUA_DISASM_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The machine that code is for: what an ELF header says of it. */
struct pi_machine {
	uint16_t machine; /* EM_… */
	bool is_64, is_big;
};

enum pi_kind {
	PI_PLAIN,
	PI_JUMP,
	PI_CALL,
	PI_RETURN,
	PI_UNKNOWN, /* bytes that cannot be decoded */
};

/* An instruction. 16 bytes, as a function may have millions. */
struct pi_instruction {
	uint32_t offset, size; /* in the code */
	/* for a jump or call to a constant address inside of the code: its offset there */
	uint32_t target;
	uint8_t kind; /* enum pi_kind */
	bool has_target;
	bool is_target; /* a jump goes here */
};

struct pi_decoder;
struct pi_code;

/* Returns the version of libcapstone, "4.0.2"; NULL: perflua was built without it. */
const char *pi_version(void);

/* Returns the name of a machine: "x86-64", "machine 62" if it has none here. */
const char *pi_machine_name(const struct pi_machine *machine, char text[32]);

/*
 * Creates a decoder for the code of a machine, which one thread may use at a time. Returns NULL
 * and sets *reason, to a constant string, without libcapstone, if it does not know the machine,
 * or without memory.
 */
struct pi_decoder *pi_decoder_create(const struct pi_machine *machine, const char **reason);
void pi_decoder_destroy(struct pi_decoder *decoder);

/*
 * Decodes `size` bytes at `address`. Decoder and bytes are borrowed until pi_code_destroy().
 * `boundaries` [n] are offsets in ascending order at which an instruction is known to begin, or
 * sampled. If `address` or `size` are too large, nothing is decoded. Returns NULL without
 * memory.
 */
struct pi_code *pi_code_create(struct pi_decoder *decoder, const unsigned char *bytes,
			       size_t size, uint64_t address, const uint32_t *boundaries,
			       size_t n);
void pi_code_destroy(struct pi_code *code);

/* Return the number of instructions, and instruction `i` of them. */
size_t pi_code_size(const struct pi_code *code);
const struct pi_instruction *pi_code_at(const struct pi_code *code, size_t i);

/* Returns how many bytes could not be decoded. */
size_t pi_code_unknown(const struct pi_code *code);

/*
 * Returns the number of the instruction that covers `offset`, which is below the size of the
 * code.
 */
size_t pi_code_find(const struct pi_code *code, uint32_t offset);

/*
 * An instruction as text, in the syntax of the GNU tools: "add", "$1, %eax". `target` is the
 * address that a jump or call to a constant goes to, inside or outside of the code.
 */
struct pi_text {
	char name[32], operands[160];
	bool has_target;
	uint64_t target;
};
void pi_code_text(const struct pi_code *code, size_t i, struct pi_text *text);

/*
 * Decodes the one instruction that `size` bytes at `address` begin with. Returns its size; 0:
 * it cannot be decoded, and *text is untouched.
 */
size_t pi_decode(struct pi_decoder *decoder, const unsigned char *bytes, size_t size,
		 uint64_t address, struct pi_text *text);

#endif
