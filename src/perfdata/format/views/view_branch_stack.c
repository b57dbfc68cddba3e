/*
 * The branch stack of a sample: the latest taken branches, newest first. See struct
 * perf_branch_entry, include/uapi/linux/perf_event.h.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/sample.h"
#include "perfdata/format/fields.h"
#include "perfdata/format/views.h"

/* view.extra: whether there is a hw_idx, and the offset of the counters */
#define HAS_HW_IDX (UINT64_C(1) << 32)

void pd_open_branch_stack(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	struct pd_branches b;

	if (!pd_branches_read(rec, at, &b)) {
		out->type = PD_NIL;
		return;
	}
	out->view.at = b.entries;
	out->view.count = b.count;
	out->view.extra = b.counters | (b.has_hw_idx ? HAS_HW_IDX : 0);
}

static const struct pd_member members[] = {
	{ PD_MEMBER(INT, "hw_idx",
		    "Position of the newest entry in the hardware's own buffer, by which "
		    "stacks are joined; -1 if it is not known.") },
	{ .name = NULL },
};

static void get_branch_stack_member(const struct pd_view *view, unsigned m,
				    struct pd_value *out)
{
	(void)m;
	out->type = PD_NIL;
	if (view->extra & HAS_HW_IDX)
		pd_set_int(out, (int64_t)pd_rec64(view->rec, view->at - 8));
}

enum {
	FROM,
	TO,
	MISPRED,
	PREDICTED,
	IN_TX,
	ABORT,
	CYCLES,
	TYPE,
	SPEC,
	NEW_TYPE,
	PRIV,
	NOT_TAKEN,
	COUNTERS,
	SYMBOL_FROM,
	SYMBOL_TO,
	DSO_FROM,
	DSO_TO,
};

static const struct pd_member items[] = {
	[FROM] = { PD_MEMBER(ADDR, "from", "Address of the branch instruction.") },
	[TO] = { PD_MEMBER(ADDR, "to", "Address that the branch went to.") },
	[MISPRED] = { PD_MEMBER(BOOL, "mispred", "True if the target was predicted wrongly.") },
	[PREDICTED] = { PD_MEMBER(
		BOOL, "predicted",
		"True if the target was predicted rightly; if mispred is false, too, the "
		"hardware does not tell.") },
	[IN_TX] = { PD_MEMBER(BOOL, "in_tx",
			      "True if the branch ran inside a hardware transaction.") },
	[ABORT] = { PD_MEMBER(BOOL, "abort",
			      "True if the branch was the abort of a hardware transaction.") },
	[CYCLES] = { PD_MEMBER(UINT, "cycles",
			       "Cycles since the previous branch; 0 if not measured.") },
	[TYPE] = { PD_MEMBER(
		STR, "type",
		"Kind of branch as perf names it: \"COND\", \"CALL\", \"RET\" …; nil if not "
		"recorded.") },
	[SPEC] = { PD_MEMBER(
		STR, "spec",
		"Outcome of speculation: \"SPEC_WRONG_PATH\", \"NON_SPEC_CORRECT_PATH\" or "
		"\"SPEC_CORRECT_PATH\"; nil if not recorded.") },
	[NEW_TYPE] = { PD_MEMBER(
		STR, "new_type",
		"Kind of branch when type is \"EXTEND_ABI\": \"FAULT_ALGN\", \"FAULT_DATA\", "
		"\"FAULT_INST\", \"ARCH_1\" …") },
	[PRIV] = { PD_MEMBER(
		STR, "priv",
		"Privilege that the branch ran with: \"user\", \"kernel\" or \"hv\"; nil "
		"if it was not recorded.") },
	[NOT_TAKEN] = { PD_MEMBER(
		BOOL, "not_taken",
		"True if the branch was not taken, so that `to` is the next instruction.") },
	[COUNTERS] = { PD_MEMBER(
		ADDR, "counters",
		"Occurrences of the group's events since the previous branch, packed as the "
		"PMU's branch_counter_width says.") },
	[SYMBOL_FROM] = { PD_MEMBER(STR, "symbol_from",
				    "Function at from; nil if it is not known."),
			  .of_system = true },
	[SYMBOL_TO] = { PD_MEMBER(STR, "symbol_to", "Function at to; nil if it is not known."),
			.of_system = true },
	[DSO_FROM] = { PD_MEMBER(STR, "dso_from", "Binary that was mapped at from."),
		       .of_system = true },
	[DSO_TO] = { PD_MEMBER(STR, "dso_to", "Binary that was mapped at to."),
		     .of_system = true },
	{ .name = NULL },
};

static const char *const types[16] = {
	NULL,	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
	"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", "EXTEND_ABI",
};
static const char *const new_types[16] = {
	"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
	"ARCH_2",     "ARCH_3",	    "ARCH_4",	  "ARCH_5",
};

const char *pd_branch_type_name(unsigned type, unsigned new_type)
{
	bool is_new = type == 15 && new_types[new_type & 15];

	return is_new ? new_types[new_type & 15] : types[type & 15];
}

static const char *const specs[4] = {
	NULL,
	"SPEC_WRONG_PATH",
	"NON_SPEC_CORRECT_PATH",
	"SPEC_CORRECT_PATH",
};
static const char *const privs[8] = { NULL, "user", "kernel", "hv" };

#define EXTEND_ABI 15

/* The bit-fields of the flags word, at their little-endian positions. */
static const struct {
	uint8_t at, width;
	const char *const *names; /* NULL: it is a number or, with one bit, a boolean */
} flags[] = {
	[MISPRED] = { 0, 1, NULL }, [PREDICTED] = { 1, 1, NULL },
	[IN_TX] = { 2, 1, NULL },   [ABORT] = { 3, 1, NULL },
	[CYCLES] = { 4, 16, NULL }, [TYPE] = { 20, 4, types },
	[SPEC] = { 24, 2, specs },  [NEW_TYPE] = { 26, 4, new_types },
	[PRIV] = { 30, 3, privs },  [NOT_TAKEN] = { 33, 1, NULL },
};

/*
 * Returns a bit-field of a flags word. A big-endian recorder's compiler allocates them from the
 * other end.
 */
static unsigned get_branch_flag(const struct pd_view *view, uint64_t word, unsigned m)
{
	unsigned at = flags[m].at;

	if (view->rec->layout->shape->big)
		at = 64 - at - flags[m].width;
	return (unsigned)(word >> at & ((1u << flags[m].width) - 1));
}

/*
 * Asks for what is at the address of a branch, the word at `at`: branches enter and leave the
 * kernel, whatever mode the sample was taken in.
 */
static void ask_place(struct pd_value *out, uint32_t field, const struct pd_record *rec,
		      uint32_t at)
{
	pd_ask(out, field, pd_rec64(rec, at), rec->misc & PD_MISC_CPUMODE);
	out->asked.is_implied = true;
}

static void get_branch(const struct pd_view *view, uint32_t i, unsigned m, struct pd_value *out)
{
	const struct pd_record *rec = view->rec;
	uint32_t at = view->at + 24 * i, counters = (uint32_t)view->extra;
	uint64_t word = pd_rec64(rec, at + 16);

	out->type = PD_NIL;
	if (m == FROM || m == TO)
		pd_set_uint(out, PD_ADDR, pd_rec64(rec, at + (m == TO ? 8 : 0)));
	else if (m > COUNTERS)
		ask_place(out, m == DSO_FROM || m == DSO_TO ? PD_SYS_DSO : PD_SYS_SYMBOL, rec,
			  at + (m == SYMBOL_TO || m == DSO_TO ? 8 : 0));
	else if (m == COUNTERS && counters)
		pd_set_uint(out, PD_ADDR, pd_rec64(rec, counters + 8 * i));
	else if (m == COUNTERS ||
		 (m == NEW_TYPE && get_branch_flag(view, word, TYPE) != EXTEND_ABI))
		return;
	else if (flags[m].names)
		pd_set_name(out, flags[m].names[get_branch_flag(view, word, m)]);
	else
		pd_set_uint(out, flags[m].width == 1 ? PD_BOOL : PD_UINT,
			    get_branch_flag(view, word, m));
}

/* Returns where the bit-field of a member lies: see get_branch_flag(). */
static unsigned find_flag(const struct pd_coder *c, unsigned m)
{
	return c->shape->big ? 64u - flags[m].at - flags[m].width : flags[m].at;
}

/* Describes the flags of a branch: those that are set. */
static void describe_flags(struct pd_coder *c)
{
	uint64_t word = pd_code_load(c, 8), left = word, value;

	for (unsigned m = MISPRED; m <= NOT_TAKEN; m++) {
		uint64_t mask = (UINT64_C(1) << flags[m].width) - 1;

		value = word >> find_flag(c, m) & mask;
		left &= ~(mask << find_flag(c, m));
		if (!value)
			continue;
		if (flags[m].width == 1)
			pd_code_bool(c, items[m].name, true);
		else
			pd_code_value(c, items[m].name, value, 2, PD_AS_UINT);
	}
	if (left)
		pd_code_value(c, "flags", left, 8, PD_AS_HEX);
}

static void encode_flags(struct pd_coder *c)
{
	uint64_t word = pd_code_value(c, "flags", 0, 8, PD_AS_HEX), value;

	for (unsigned m = MISPRED; m <= NOT_TAKEN; m++) {
		struct pd_node *node = pd_code_find(c, items[m].name);

		if (!node)
			continue;
		if (flags[m].width == 1)
			value = pd_code_bool(c, items[m].name, false);
		else
			value = pd_code_value(c, items[m].name, 0, 2, PD_AS_UINT);
		if (value >> flags[m].width)
			pd_code_fail(c, node, items[m].name, "a smaller number");
		word |= value << find_flag(c, m);
	}
	pd_code_store(c, 8, word);
}

static void code_branch(struct pd_coder *c)
{
	pd_code_begin(c, NULL);
	pd_code_int(c, items[FROM].name, 8, PD_AS_HEX);
	pd_code_int(c, items[TO].name, 8, PD_AS_HEX);
	if (c->encodes)
		encode_flags(c);
	else
		describe_flags(c);
	pd_code_end(c);
}

static void code_branch_stack(struct pd_coder *c, const char *name)
{
	struct pd_branches b = { 0 };
	uint32_t n;
	bool has_hw_idx;

	if (!c->encodes && !pd_branches_read(c->rec, c->at, &b))
		c->failed = true;
	n = pd_code_count(c, name, 8, 24);
	has_hw_idx = c->encodes ? c->shape->branch_sample_type & PD_BRANCH_HW_INDEX &&
					  (n || pd_code_find(c, members[0].name)) :
				  b.has_hw_idx;
	if (has_hw_idx)
		pd_code_int(c, members[0].name, 8, PD_AS_INT);
	for (uint32_t i = 0; i < n; i++)
		code_branch(c);
	if (c->shape->counters) {
		pd_code_begin(c, items[COUNTERS].name);
		for (uint32_t i = 0; i < n; i++)
			pd_code_int(c, NULL, 8, PD_AS_HEX);
		pd_code_end(c);
	}
	pd_code_end(c);
}

const struct pd_view_desc pd_view_branch_stack = {
	.name = "branch_stack",
	.doc = "The latest taken branches, newest first.",
	.members = members,
	.items = items,
	.member = get_branch_stack_member,
	.item = get_branch,
	.code = code_branch_stack,
};
