/*
 * Code of any machine: the first byte chooses it, the second says how many boundaries follow,
 * of two bytes each; the rest is the code.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/disasm.h"
#include "common.h"

static const struct pi_machine machines[] = {
	{ EM_X86_64, true, false }, { EM_386, false, false },  { EM_AARCH64, true, false },
	{ EM_ARM, false, false },   { EM_S390, true, true },   { EM_PPC64, true, false },
	{ EM_PPC64, true, true },   { EM_RISCV, true, false }, { EM_SPARC, false, true },
};

#define N_MACHINES (sizeof(machines) / sizeof(*machines))

static void check_text(const struct pi_code *code, size_t i)
{
	struct pi_text text;

	pi_code_text(code, i, &text);
	FUZZ_CHECK(memchr(text.name, '\0', sizeof(text.name)) && *text.name);
	FUZZ_CHECK(memchr(text.operands, '\0', sizeof(text.operands)));
}

/* Instructions follow one another, and what cannot be decoded ends at a boundary. */
static void check_code(const struct pi_code *code, size_t size, const uint32_t *bounds,
		       size_t n)
{
	size_t unknown = 0, end = 0;

	for (size_t i = 0; i < pi_code_size(code); i++) {
		const struct pi_instruction *insn = pi_code_at(code, i);

		FUZZ_CHECK(insn->offset == end && insn->size);
		end += insn->size;
		FUZZ_CHECK(pi_code_find(code, insn->offset) == i);
		FUZZ_CHECK(pi_code_find(code, insn->offset + insn->size - 1) == i);
		check_text(code, i);
		if (insn->has_target) {
			const struct pi_instruction *to =
				pi_code_at(code, pi_code_find(code, insn->target));

			FUZZ_CHECK(insn->target < size);
			FUZZ_CHECK(insn->kind != PI_JUMP || to->is_target ||
				   to->offset != insn->target);
		}
		if (insn->kind != PI_UNKNOWN)
			continue;
		unknown += insn->size;
		for (size_t k = 0; k < n; k++)
			FUZZ_CHECK(bounds[k] <= insn->offset || bounds[k] >= end);
	}
	FUZZ_CHECK(end == size);
	FUZZ_CHECK(pi_code_unknown(code) == unknown);
}

static int compare_numbers(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
	uint32_t bounds[256];
	struct pi_decoder *decoder;
	struct pi_code *code;
	struct pi_text text;
	const char *reason = NULL;
	uint8_t *bytes;
	size_t n_bounds, size;

	if (n < 2)
		return 0;
	n_bounds = input[1] < (n - 2) / 2 ? input[1] : (n - 2) / 2;
	size = n - 2 - 2 * n_bounds;
	for (size_t i = 0; i < n_bounds; i++)
		bounds[i] = size ? pb_load16(input + 2 + 2 * i, false) % (uint32_t)size : 0;
	qsort(bounds, n_bounds, sizeof(*bounds), compare_numbers);
	decoder = pi_decoder_create(&machines[input[0] % N_MACHINES], &reason);
	if (!decoder) {
		FUZZ_CHECK(reason && *reason);
		return 0;
	}
	bytes = malloc(size ? size : 1); /* of exactly that size */
	FUZZ_CHECK(bytes);
	memcpy(bytes, input + 2 + 2 * n_bounds, size);
	code = pi_code_create(decoder, bytes, size, UINT64_C(0x401000), bounds, n_bounds);
	FUZZ_CHECK(code);
	check_code(code, size, bounds, n_bounds);
	FUZZ_CHECK(pi_decode(decoder, bytes, size, 0, &text) <= size);
	pi_code_destroy(code);
	pi_decoder_destroy(decoder);
	free(bytes);
	return 0;
}
