/*
 * The registers of a sample: an abi, then one u64 for each bit of the event's mask, which is
 * view.extra. See perf_output_sample_regs, kernel/events/core.c.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/views.h"

static void open_regs(const struct pd_record *rec, uint32_t at, uint64_t mask,
		      struct pd_value *out)
{
	uint32_t n = (uint32_t)__builtin_popcountll(mask);

	if (!pd_fits(rec, at, 8)) {
		out->type = PD_NIL;
		return;
	}
	if (pd_rec64(rec, at) ==
	    0) /* PERF_SAMPLE_REGS_ABI_NONE: no registers, as in a kernel thread */
		return;
	if (!pd_fits(rec, at + 8, 8 * n)) {
		out->type = PD_NIL;
		return;
	}
	out->view.count = n;
	out->view.extra = mask;
}

void pd_open_regs_user(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	open_regs(rec, at, rec->layout->shape->regs_user, out);
}

void pd_open_regs_intr(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	open_regs(rec, at, rec->layout->shape->regs_intr, out);
}

static const struct pd_member members[] = {
	{ PD_MEMBER(UINT, "abi",
		    "Registers of a 32-bit (1) or 64-bit (2) context; 0: none were "
		    "recorded.") },
	{ .name = NULL },
};

static void get_regs_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	(void)m;
	pd_set_uint(out, PD_UINT, pd_rec64(view->rec, view->at));
}

static void get_regs_item(const struct pd_view *view, uint32_t i, unsigned m,
			  struct pd_value *out)
{
	(void)m;
	pd_set_uint(out, PD_ADDR, pd_rec64(view->rec, view->at + 8 + 8 * i));
}

/*
 * Names for registers that the architecture's table does not name, or for all of an unknown
 * architecture.
 */
static const char unnamed[64][4] = {
	"r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",	 "r7",	"r8",  "r9",  "r10",
	"r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21",
	"r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31", "r32",
	"r33", "r34", "r35", "r36", "r37", "r38", "r39", "r40", "r41", "r42", "r43",
	"r44", "r45", "r46", "r47", "r48", "r49", "r50", "r51", "r52", "r53", "r54",
	"r55", "r56", "r57", "r58", "r59", "r60", "r61", "r62", "r63",
};

static const char *get_bit_name(const struct pd_shape *shape, unsigned bit)
{
	const char *name = shape->arch ? shape->arch->reg(bit) : NULL;

	return name ? name : unnamed[bit];
}

static const char *get_reg_name(const struct pd_view *view, uint32_t i)
{
	uint64_t mask = view->extra;

	for (; i; i--)
		mask &= mask - 1;
	return get_bit_name(view->rec->layout->shape, (unsigned)__builtin_ctzll(mask));
}

static void code_regs(struct pd_coder *c, const char *name, uint64_t mask)
{
	uint64_t abi;

	pd_code_begin(c, name);
	abi = pd_code_int(c, "abi", 8, PD_AS_UINT);
	for (; abi && mask; mask &= mask - 1)
		pd_code_int(c, get_bit_name(c->shape, (unsigned)__builtin_ctzll(mask)), 8,
			    PD_AS_HEX);
	pd_code_end(c);
}

static void code_regs_user(struct pd_coder *c, const char *name)
{
	code_regs(c, name, c->shape->regs_user);
}

static void code_regs_intr(struct pd_coder *c, const char *name)
{
	code_regs(c, name, c->shape->regs_intr);
}

#define REGS_VIEW(v, text)                        \
	const struct pd_view_desc pd_view_##v = { \
		.name = #v,                       \
		.doc = (text),                    \
		.members = members,               \
		.member = get_regs_member,        \
		.item = get_regs_item,            \
		.key = get_reg_name,              \
		.code = code_##v,                 \
	}

REGS_VIEW(regs_user, "Registers of the user context, by name in lower case.");
REGS_VIEW(regs_intr, "Registers where the event happened, by name in lower case.");
