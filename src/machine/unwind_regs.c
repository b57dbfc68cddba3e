#include "unwind.h"

#include <elf.h>
#include <string.h>

#define ABI_32 1
#define ABI_64 2

static const struct {
	const char *names[2]; /* see struct pd_arch */
	uint64_t abi;
	struct pm_unwind_arch arch;
} archs[] = {
	{ { "x86", NULL },
	  ABI_64,
	  { .elf_machine = EM_X86_64,
	    .word = 8,
	    .sp = 7,
	    .fp = 6,
	    .n = 16,
	    .pc = 8,
	    .of = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23 } } },
	{ { "x86", NULL },
	  ABI_32,
	  { .elf_machine = EM_386,
	    .word = 4,
	    .sp = 4,
	    .fp = 5,
	    .n = 8,
	    .pc = 8,
	    .of = { 0, 2, 3, 1, 7, 6, 4, 5 } } },
	{ { "arm64", NULL },
	  ABI_64,
	  { .elf_machine = EM_AARCH64,
	    .word = 8,
	    .sp = 31,
	    .fp = 29,
	    .n = 32,
	    .pc = 32,
	    .of = { 0,	1,  2,	3,  4,	5,  6,	7,  8,	9,  10, 11, 12, 13, 14, 15,
		    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } } },
	{ { "arm", "arm64" },
	  ABI_32,
	  { .elf_machine = EM_ARM,
	    .word = 4,
	    .sp = 13,
	    .fp = 11,
	    .n = 15,
	    .pc = 15,
	    .of = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } } },
	/* only the first frame is found for these, as no file is for EM_NONE */
	{ { "s390", NULL }, ABI_64, { .word = 8, .sp = 0, .n = 1, .pc = 33, .of = { 15 } } },
	{ { "riscv", NULL }, ABI_64, { .word = 8, .sp = 0, .n = 1, .pc = 0, .of = { 2 } } },
	{ { "powerpc", NULL }, ABI_64, { .word = 8, .sp = 0, .n = 1, .pc = 32, .of = { 1 } } },
	{ { "loongarch", NULL }, ABI_64, { .word = 8, .sp = 0, .n = 1, .pc = 0, .of = { 3 } } },
	{ { "mips", NULL }, ABI_64, { .word = 8, .sp = 0, .n = 1, .pc = 0, .of = { 29 } } },
};

#define ARCHS (sizeof(archs) / sizeof(archs[0]))

/*
 * Returns the name of the architecture. A piped recording may lack it: then the set of
 * registers that perf records to unwind gives it away.
 */
static const char *find_arch_name(const struct pd_shape *shape)
{
	if (shape->arch)
		return shape->arch->name;
	if (shape->big)
		return NULL;
	return shape->regs_user == 0xff0fff    ? "x86" :
	       shape->regs_user == 0x1ffffffff ? "arm64" :
						 NULL;
}

const struct pm_unwind_arch *pm_unwind_arch(const struct pd_shape *shape, uint64_t abi)
{
	const char *name = find_arch_name(shape);

	for (size_t i = 0; name && i < ARCHS; i++)
		for (size_t k = 0; k < 2 && archs[i].names[k]; k++)
			if (archs[i].abi == abi && !(shape->big && archs[i].arch.elf_machine) &&
			    strcmp(archs[i].names[k], name) == 0)
				return &archs[i].arch;
	return NULL;
}

/*
 * Reads the register at `bit` of the mask. Its value follows those of the lower bits that are
 * set.
 */
static bool read_register(const struct pd_record *rec, uint32_t at, unsigned bit, uint64_t *out)
{
	uint64_t mask = rec->layout->shape->regs_user;
	uint64_t before = mask & ((UINT64_C(1) << bit) - 1);

	if (!(mask >> bit & 1))
		return false;
	*out = pd_rec64(rec, at + 8 * (uint32_t)__builtin_popcountll(before));
	return true;
}

bool pm_regs_read(struct pm_regs *regs, const struct pm_unwind_arch *arch,
		  const struct pd_record *rec, uint32_t at)
{
	uint64_t v;

	regs->known = 0;
	for (unsigned reg = 0; reg < arch->n; reg++)
		if (read_register(rec, at, arch->of[reg], &v))
			pm_regs_set(regs, reg, v);
	return read_register(rec, at, arch->pc, &regs->pc) && pm_regs_get(regs, arch->sp, &v);
}
