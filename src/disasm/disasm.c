#include "disasm.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static const struct name {
	uint16_t machine;
	bool is_64;
	const char *name;
} names[] = {
	{ EM_X86_64, true, "x86-64" }, { EM_386, false, "i386" },
	{ EM_AARCH64, true, "arm64" }, { EM_ARM, false, "arm" },
	{ EM_S390, true, "s390x" },    { EM_PPC64, true, "ppc64" },
	{ EM_RISCV, true, "riscv64" },
};

const char *pi_machine_name(const struct pi_machine *machine, char text[32])
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].machine == machine->machine && names[i].is_64 == machine->is_64)
			return names[i].name;
	snprintf(text, 32, "machine %u", machine->machine);
	return text;
}

#ifndef PERFLUA_CAPSTONE

const char *pi_version(void)
{
	return NULL;
}

struct pi_decoder *pi_decoder_create(const struct pi_machine *machine, const char **reason)
{
	(void)machine;
	*reason = "perflua was built without libcapstone";
	return NULL;
}

/* No decoder is ever made, and no code. */
void pi_decoder_destroy(struct pi_decoder *decoder)
{
	(void)decoder;
}

struct pi_code *pi_code_create(struct pi_decoder *decoder, const unsigned char *bytes,
			       size_t size, uint64_t address, const uint32_t *boundaries,
			       size_t n)
{
	(void)decoder, (void)bytes, (void)size, (void)address, (void)boundaries, (void)n;
	return NULL;
}

void pi_code_destroy(struct pi_code *code)
{
	(void)code;
}

size_t pi_code_size(const struct pi_code *code)
{
	(void)code;
	return 0;
}

const struct pi_instruction *pi_code_at(const struct pi_code *code, size_t i)
{
	(void)code, (void)i;
	return NULL;
}

size_t pi_code_unknown(const struct pi_code *code)
{
	(void)code;
	return 0;
}

size_t pi_code_find(const struct pi_code *code, uint32_t offset)
{
	(void)code, (void)offset;
	return 0;
}

void pi_code_text(const struct pi_code *code, size_t i, struct pi_text *text)
{
	(void)code, (void)i;
	*text = (struct pi_text){ 0 };
}

size_t pi_decode(struct pi_decoder *decoder, const unsigned char *bytes, size_t size,
		 uint64_t address, struct pi_text *text)
{
	(void)decoder, (void)bytes, (void)size, (void)address, (void)text;
	return 0;
}

#else

#include "internal.h"

struct pi_decoder {
	csh handle;
	cs_insn *scratch; /* the instruction that was decoded last */
	uint32_t step;	  /* size of each instruction; 0: they differ */
	bool is_x86_64;
};

struct pi_code {
	struct pi_decoder *decoder;
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
	struct pi_instruction *list; /* [n] */
	size_t n, room;
	size_t unknown;
	uint32_t *bounds; /* [n_bounds], ascending */
	size_t n_bounds, bounds_room;
};

struct mode {
	uint16_t machine;
	bool is_64;
	cs_arch arch;
	cs_mode mode;
	uint32_t step;
	bool has_order; /* code may be of either byte order */
};

static const struct mode modes[] = {
	{ EM_X86_64, true, CS_ARCH_X86, CS_MODE_64, 0, false },
	{ EM_X86_64, false, CS_ARCH_X86, CS_MODE_64, 0, false }, /* x32 */
	{ EM_386, false, CS_ARCH_X86, CS_MODE_32, 0, false },
	{ EM_AARCH64, true, CS_ARCH_ARM64, CS_MODE_ARM, 4, false },
	{ EM_ARM, false, CS_ARCH_ARM, CS_MODE_ARM, 4, false },
	{ EM_S390, true, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, 0, false },
	{ EM_PPC64, true, CS_ARCH_PPC, CS_MODE_64, 4, true },
#if CS_API_MAJOR >= 5
	{ EM_RISCV, true, CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC, 0, false },
#endif
};

const char *pi_version(void)
{
	/* of the headers: the library tells no more than major and minor number */
	return PI_VALUE(CS_VERSION_MAJOR) "." PI_VALUE(CS_VERSION_MINOR) "." PI_VALUE(
		CS_VERSION_EXTRA);
}

static const struct mode *find_mode(const struct pi_machine *machine)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (modes[i].machine == machine->machine && modes[i].is_64 == machine->is_64 &&
		    pi_capstone.support((int)modes[i].arch))
			return &modes[i];
	return NULL;
}

/* Opens the disassembler of a decoder. */
static bool open_handle(struct pi_decoder *decoder, const struct mode *mode, bool is_big)
{
	unsigned bits = (unsigned)mode->mode;

	if (mode->has_order && is_big)
		bits |= (unsigned)CS_MODE_BIG_ENDIAN;
	if (pi_capstone.open(mode->arch, (cs_mode)bits, &decoder->handle) != CS_ERR_OK)
		return false;
	pi_capstone.option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (mode->arch == CS_ARCH_X86)
		pi_capstone.option(decoder->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	decoder->step = mode->step;
	decoder->is_x86_64 = mode->machine == EM_X86_64;
	decoder->scratch = pi_capstone.malloc(decoder->handle);
	return decoder->scratch;
}

struct pi_decoder *pi_decoder_create(const struct pi_machine *machine, const char **reason)
{
	const struct mode *mode;
	struct pi_decoder *decoder;

	if (!pi_library_open()) {
		*reason = PI_LIBRARY " is not installed";
		return NULL;
	}
	mode = find_mode(machine);
	if (!mode) {
		*reason = "libcapstone does not know the code of this machine";
		return NULL;
	}
	*reason = "libcapstone cannot be opened";
	decoder = calloc(1, sizeof(*decoder));
	if (decoder && open_handle(decoder, mode, machine->is_big))
		return decoder;
	pi_decoder_destroy(decoder);
	return NULL;
}

void pi_decoder_destroy(struct pi_decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->scratch)
		pi_capstone.free(decoder->scratch, 1);
	if (decoder->handle)
		pi_capstone.close(&decoder->handle);
	free(decoder);
}

/*
 * Sets *target to the address that is the last operand, if that is a constant: "0x1230",
 * "w0, #3, #0x1230"; "*0x2fe2(%rip)" and "*0x1230" are not.
 */
static bool parse_target(const char *operands, uint64_t *target)
{
	const char *comma = strrchr(operands, ','), *at = comma ? comma + 1 : operands;
	char *end;

	at += strspn(at, " #");
	if (*at < '0' || *at > '9')
		return false;
	*target = strtoull(at, &end, 0);
	return !*end;
}

static enum pi_kind kind_of(const struct pi_decoder *decoder)
{
	const cs_insn *insn = decoder->scratch;

	if (pi_capstone.insn_group(decoder->handle, insn, CS_GRP_CALL))
		return PI_CALL;
	if (pi_capstone.insn_group(decoder->handle, insn, CS_GRP_RET))
		return PI_RETURN;
	return pi_capstone.insn_group(decoder->handle, insn, CS_GRP_JUMP) ? PI_JUMP : PI_PLAIN;
}

/* Returns the first boundary after `offset`. */
static uint32_t next_bound(const struct pi_code *code, uint32_t offset)
{
	size_t low = 0, high = code->n_bounds;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->bounds[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->n_bounds ? code->bounds[low] : (uint32_t)code->size;
}

/* Decodes the instruction at `offset`. Returns false if that is not possible. */
static bool decode_at(const struct pi_code *code, uint32_t offset)
{
	const uint8_t *at = code->bytes + offset;
	size_t left = code->size - offset;
	uint64_t address = code->address + offset;

	return pi_capstone.disasm_iter(code->decoder->handle, &at, &left, &address,
				       code->decoder->scratch);
}

/* Returns the size of what cannot be decoded at `offset`. */
static uint32_t unknown_size(const struct pi_code *code, uint32_t offset)
{
	const struct pi_decoder *decoder = code->decoder;
	uint32_t size = next_bound(code, offset) - offset;
	size_t own = decoder->step;

	if (decoder->is_x86_64)
		own = pi_vex_size(code->bytes + offset, code->size - offset);
	return own && own < size ? (uint32_t)own : size;
}

static void describe_instruction(const struct pi_code *code, struct pi_instruction *insn)
{
	const struct pi_decoder *decoder = code->decoder;
	uint64_t target;

	insn->kind = PI_UNKNOWN;
	if (!decode_at(code, insn->offset)) {
		insn->size = unknown_size(code, insn->offset);
		return;
	}
	insn->size = decoder->scratch->size;
	insn->kind = (uint8_t)kind_of(decoder);
	if ((insn->kind == PI_JUMP || insn->kind == PI_CALL) &&
	    parse_target(decoder->scratch->op_str, &target) &&
	    target - code->address < code->size) {
		insn->target = (uint32_t)(target - code->address);
		insn->has_target = true;
	}
}

/* Decodes all code. Returns false without memory. */
static bool decode_all(struct pi_code *code)
{
	uint32_t offset = 0;

	code->n = code->unknown = 0;
	while (offset < code->size) {
		struct pi_instruction *insn;

		if (!pb_reserve(code->list, code->n, code->room))
			return false;
		insn = &code->list[code->n++];
		*insn = (struct pi_instruction){ .offset = offset };
		describe_instruction(code, insn);
		if (insn->kind == PI_UNKNOWN)
			code->unknown += insn->size;
		offset += insn->size;
	}
	return true;
}

static int compare_bounds(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* Adds the targets of jumps to the boundaries. Returns false without memory. */
static bool add_targets(struct pi_code *code)
{
	for (size_t i = 0; i < code->n; i++) {
		if (!code->list[i].has_target)
			continue;
		if (!pb_reserve(code->bounds, code->n_bounds, code->bounds_room))
			return false;
		code->bounds[code->n_bounds++] = code->list[i].target;
	}
	if (code->n_bounds)
		qsort(code->bounds, code->n_bounds, sizeof(*code->bounds), compare_bounds);
	return true;
}

/* Marks the instructions that jumps go to. Some jumps go past the prefix of an instruction. */
static void mark_targets(struct pi_code *code)
{
	for (size_t i = 0; i < code->n; i++) {
		const struct pi_instruction *insn = &code->list[i];
		struct pi_instruction *to;

		if (!insn->has_target || insn->kind != PI_JUMP)
			continue;
		to = &code->list[pi_code_find(code, insn->target)];
		to->is_target |= to->offset == insn->target;
	}
}

struct pi_code *pi_code_create(struct pi_decoder *decoder, const unsigned char *bytes,
			       size_t size, uint64_t address, const uint32_t *boundaries,
			       size_t n)
{
	struct pi_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->decoder = decoder;
	code->bytes = bytes;
	code->address = address;
	code->size = size < UINT32_MAX && size <= UINT64_MAX - address ? size : 0;
	if (n && pb_reserve_more(code->bounds, 0, n, code->bounds_room)) {
		memcpy(code->bounds, boundaries, n * sizeof(*boundaries));
		code->n_bounds = n;
	}
	/* jumps that come later may lead into bytes that were passed over */
	if (code->n_bounds != n || !decode_all(code) ||
	    (code->unknown && !(add_targets(code) && decode_all(code)))) {
		pi_code_destroy(code);
		return NULL;
	}
	mark_targets(code);
	return code;
}

void pi_code_destroy(struct pi_code *code)
{
	if (!code)
		return;
	free(code->list);
	free(code->bounds);
	free(code);
}

size_t pi_code_size(const struct pi_code *code)
{
	return code->n;
}

const struct pi_instruction *pi_code_at(const struct pi_code *code, size_t i)
{
	return &code->list[i];
}

size_t pi_code_unknown(const struct pi_code *code)
{
	return code->unknown;
}

size_t pi_code_find(const struct pi_code *code, uint32_t offset)
{
	size_t low = 0, high = code->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (code->list[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

#define MOST_SHOWN 16u /* bytes of a .byte */

static void write_bytes(const unsigned char *bytes, size_t size, struct pi_text *text)
{
	size_t n = 0;

	*text = (struct pi_text){ 0 };
	snprintf(text->name, sizeof(text->name), ".byte");
	for (size_t i = 0; i < size && i < MOST_SHOWN; i++)
		n += (size_t)snprintf(text->operands + n, sizeof(text->operands) - n,
				      i ? ", 0x%02x" : "0x%02x", bytes[i]);
	if (size > MOST_SHOWN)
		snprintf(text->operands + n, sizeof(text->operands) - n, ", ... (%zu bytes)",
			 size);
}

/* Sets *text to that of the instruction that was decoded last. */
static void write_decoded(const struct pi_decoder *decoder, struct pi_text *text)
{
	const cs_insn *decoded = decoder->scratch;
	enum pi_kind kind = kind_of(decoder);

	*text = (struct pi_text){ 0 };
	snprintf(text->name, sizeof(text->name), "%s", decoded->mnemonic);
	snprintf(text->operands, sizeof(text->operands), "%.159s", decoded->op_str);
	if (kind == PI_JUMP || kind == PI_CALL)
		text->has_target = parse_target(decoded->op_str, &text->target);
}

void pi_code_text(const struct pi_code *code, size_t i, struct pi_text *text)
{
	const struct pi_instruction *insn = &code->list[i];

	if (insn->kind != PI_UNKNOWN && decode_at(code, insn->offset))
		write_decoded(code->decoder, text);
	else
		write_bytes(code->bytes + insn->offset, insn->size, text);
}

size_t pi_decode(struct pi_decoder *decoder, const unsigned char *bytes, size_t size,
		 uint64_t address, struct pi_text *text)
{
	const uint8_t *at = bytes;
	size_t left = size;

	if (pi_capstone.disasm_iter(decoder->handle, &at, &left, &address, decoder->scratch)) {
		write_decoded(decoder, text);
		return decoder->scratch->size;
	}
	size = decoder->is_x86_64 ? pi_vex_size(bytes, size) : 0;
	if (size)
		write_bytes(bytes, size, text);
	return size;
}

#endif
