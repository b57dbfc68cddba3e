/*
 * Names of registers in samples, by architecture: perf's names in lower case, without the "$"
 * and "%" that some carry. See arch/…/include/uapi/asm/perf_regs.h of the kernel.
 */
#include "layout.h"

#include <stddef.h>
#include <string.h>

#define NAMED(names, bit) ((bit) < sizeof(names) / sizeof((names)[0]) ? (names)[bit] : NULL)

/* A 128-bit XMM register takes two bits of the mask, its low half first. */
static const char *const x86[] = {
	"ax",	       "bx",	     "cx",    "dx",	    "si",    "di",
	"bp",	       "sp",	     "ip",    "flags",	    "cs",    "ss",
	"ds",	       "es",	     "fs",    "gs",	    "r8",    "r9",
	"r10",	       "r11",	     "r12",   "r13",	    "r14",   "r15",
	[32] = "xmm0", "xmm0_high",  "xmm1",  "xmm1_high",  "xmm2",  "xmm2_high",
	"xmm3",	       "xmm3_high",  "xmm4",  "xmm4_high",  "xmm5",  "xmm5_high",
	"xmm6",	       "xmm6_high",  "xmm7",  "xmm7_high",  "xmm8",  "xmm8_high",
	"xmm9",	       "xmm9_high",  "xmm10", "xmm10_high", "xmm11", "xmm11_high",
	"xmm12",       "xmm12_high", "xmm13", "xmm13_high", "xmm14", "xmm14_high",
	"xmm15",       "xmm15_high",
};
static const char *const arm64[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	       "x7",  "x8",
	"x9",  "x10", "x11", "x12", "x13", "x14", "x15",       "x16", "x17",
	"x18", "x19", "x20", "x21", "x22", "x23", "x24",       "x25", "x26",
	"x27", "x28", "x29", "lr",  "sp",  "pc",  [46] = "vg",
};
static const char *const arm[] = {
	"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
	"r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
};
static const char *const riscv[] = {
	"pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
	"a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
	"s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static const char *const powerpc[] = {
	"r0",	 "r1",	  "r2",	   "r3",    "r4",    "r5",    "r6",    "r7",	  "r8",
	"r9",	 "r10",	  "r11",   "r12",   "r13",   "r14",   "r15",   "r16",	  "r17",
	"r18",	 "r19",	  "r20",   "r21",   "r22",   "r23",   "r24",   "r25",	  "r26",
	"r27",	 "r28",	  "r29",   "r30",   "r31",   "nip",   "msr",   "orig_r3", "ctr",
	"link",	 "xer",	  "ccr",   "softe", "trap",  "dar",   "dsisr", "sier",	  "mmcra",
	"mmcr0", "mmcr1", "mmcr2", "mmcr3", "sier2", "sier3", "pmc1",  "pmc2",	  "pmc3",
	"pmc4",	 "pmc5",  "pmc6",  "sdar",  "siar",
};
static const char *const s390[] = {
	"r0",	"r1",	"r2",	"r3",	"r4",	"r5",	"r6",  "r7",  "r8",
	"r9",	"r10",	"r11",	"r12",	"r13",	"r14",	"r15", "fp0", "fp1",
	"fp2",	"fp3",	"fp4",	"fp5",	"fp6",	"fp7",	"fp8", "fp9", "fp10",
	"fp11", "fp12", "fp13", "fp14", "fp15", "mask", "pc",
};
/* for loongarch and mips */
static const char *const pc_r31[] = {
	"pc",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",	 "r7",	"r8",  "r9",  "r10",
	"r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21",
	"r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31",
};
static const char *const csky[] = {
	"tls",	   "lr",      "pc",	  "sr",	      "sp",	  "orig_a0",  "a0",
	"a1",	   "a2",      "a3",	  "regs0",    "regs1",	  "regs2",    "regs3",
	"regs4",   "regs5",   "regs6",	  "regs7",    "regs8",	  "regs9",    "exregs0",
	"exregs1", "exregs2", "exregs3",  "exregs4",  "exregs5",  "exregs6",  "exregs7",
	"exregs8", "exregs9", "exregs10", "exregs11", "exregs12", "exregs13", "exregs14",
	"hi",	   "lo",      "dcsr",
};
static const char *const parisc[] = {
	"r0",	 "r1",	  "r2",	   "r3",    "r4",  "r5",  "r6",	 "r7",	"r8",	"r9",
	"r10",	 "r11",	  "r12",   "r13",   "r14", "r15", "r16", "r17", "r18",	"r19",
	"r20",	 "r21",	  "r22",   "r23",   "r24", "r25", "r26", "r27", "r28",	"r29",
	"r30",	 "r31",	  "sr0",   "sr1",   "sr2", "sr3", "sr4", "sr5", "sr6",	"sr7",
	"iaoq0", "iaoq1", "iasq0", "iasq1", "sar", "iir", "isr", "ior", "ipsw",
};

#define REG(table)                                   \
	static const char *table##_reg(unsigned bit) \
	{                                            \
		return NAMED(table, bit);            \
	}

REG(x86)
REG(arm64)
REG(arm)
REG(riscv)
REG(powerpc)
REG(s390)
REG(pc_r31)
REG(csky)
REG(parisc)

/*
 * The row whose pattern matches the beginning of a machine's name is used; '?' stands for any
 * character. arm64 comes before arm.
 */
static const struct {
	struct pd_arch arch;
	const char *names[3];
	uint32_t machines[2];
} archs[] = {
	{ { "x86", x86_reg }, { "x86", "i?86", "amd64" }, { 62, 3 } },
	{ { "arm64", arm64_reg }, { "aarch64", "arm64", NULL }, { 183, 0 } },
	{ { "arm", arm_reg }, { "arm", NULL, NULL }, { 40, 0 } },
	{ { "riscv", riscv_reg }, { "riscv", NULL, NULL }, { 243, 0 } },
	{ { "powerpc", powerpc_reg }, { "ppc", "powerpc", NULL }, { 21, 20 } },
	{ { "s390", s390_reg }, { "s390", NULL, NULL }, { 22, 0 } },
	{ { "loongarch", pc_r31_reg }, { "loongarch", NULL, NULL }, { 258, 0 } },
	{ { "mips", pc_r31_reg }, { "mips", NULL, NULL }, { 8, 10 } },
	{ { "csky", csky_reg }, { "csky", NULL, NULL }, { 252, 0 } },
	{ { "parisc", parisc_reg }, { "parisc", "hppa", NULL }, { 15, 0 } },
};

#define ARCHS (sizeof(archs) / sizeof(archs[0]))

static bool begins_with(const char *s, const char *prefix)
{
	for (; *prefix; s++, prefix++)
		if (!*s || (*prefix != '?' && *s != *prefix))
			return false;
	return true;
}

const struct pd_arch *pd_arch_find(const char *arch_name, uint32_t e_machine)
{
	for (size_t i = 0; e_machine && i < ARCHS; i++)
		if (archs[i].machines[0] == e_machine || archs[i].machines[1] == e_machine)
			return &archs[i].arch;
	for (size_t i = 0; arch_name && i < ARCHS; i++)
		for (size_t k = 0; k < 3 && archs[i].names[k]; k++)
			if (begins_with(arch_name, archs[i].names[k]))
				return &archs[i].arch;
	return NULL;
}
