/*
 * The source of a memory access's data, and perf's texts for it: see union perf_mem_data_src,
 * include/uapi/linux/perf_event.h, and perf_script__meminfo_scnprintf,
 * tools/perf/util/mem-events.c.
 */
#include <stdio.h>

#include "perfdata/format/coder.h"
#include "perfdata/format/perf_text.h"
#include "perfdata/format/views.h"

void pd_open_data_src(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, 8))
		out->view.extra = pd_rec64(rec, at);
	else
		out->type = PD_NIL;
}

/* A text in a buffer of fixed size; what does not fit is cut off. */
struct text {
	char *p;
	size_t n, size;
};

static void append_string(struct text *t, const char *s)
{
	while (*s && t->n + 1 < t->size)
		t->p[t->n++] = *s++;
	t->p[t->n] = '\0';
}

/* Appends the names of the bits set in `v`, joined by " or ". */
static void add_bits(struct text *t, unsigned v, const char *const *names, unsigned n)
{
	size_t start = t->n;

	for (unsigned i = 0; i < n; i++) {
		if (!(v >> i & 1) || !names[i])
			continue;
		if (t->n > start)
			append_string(t, " or ");
		append_string(t, names[i]);
	}
}

static unsigned get_bits(uint64_t v, unsigned at, unsigned width)
{
	return (unsigned)(v >> at & ((1u << width) - 1));
}

#define OP(v)	   get_bits(v, 0, 5)
#define LVL(v)	   get_bits(v, 5, 14)
#define SNOOP(v)   get_bits(v, 19, 5)
#define LOCK(v)	   get_bits(v, 24, 2)
#define DTLB(v)	   get_bits(v, 26, 7)
#define LVL_NUM(v) get_bits(v, 33, 4)
#define REMOTE(v)  get_bits(v, 37, 1)
#define SNOOPX(v)  get_bits(v, 38, 2)
#define BLK(v)	   get_bits(v, 40, 3)
#define HOPS(v)	   get_bits(v, 43, 3)
#define REGION(v)  get_bits(v, 46, 5)

/* the same two bits in lvl and dtlb */
#define NA   1u
#define HIT  2u
#define MISS 4u

#define LVL_NUM_NA    15
#define LVL_NUM_DIGIT 8 /* perf 6.1 has no names up to this level */

static const char *const lvl_names[14] = {
	"N/A",
	NULL,
	NULL,
	"L1",
	"LFB/MAB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};
static const char *const lvl_num_names[16] = {
	NULL,	"L1",	    "L2",  "L3",  "L4",	       "L2 MHB",  "Memory-side Cache",
	"L0",	"Uncached", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM",
	"PMEM", "N/A",
};
static const char *const hops_names[8] = {
	NULL, "core, same node", "node, same socket", "socket, same board", "board",
};
static const char *const snoop_names[5] = { "N/A", "None", "Hit", "Miss", "HitM" };
static const char *const snoopx_names[2] = { "Fwd", "Peer" };
static const char *const dtlb_names[7] = { "N/A", NULL, NULL, "L1", "L2", "Walker", "Fault" };
static const char *const region_names[32] = {
	NULL,
	"Reserved",
	"Local CA shared cache",
	"Local CA non-shared cache",
	"Other CA IO agent",
	"Other CA shared cache",
	"Other CA non-shared cache",
	"MMIO",
	"Memory region 0",
	"Memory region 1",
	"Memory region 2",
	"Memory region 3",
	"Memory region 4",
	"Memory region 5",
	"Memory region 6",
	"Memory region 7",
};

static void add_op(struct text *t, uint64_t v)
{
	static const char *const names[5] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
	unsigned op = OP(v);

	append_string(t, op ? names[__builtin_ctz(op)] :
			      "No"); /* perf shows the lowest bit only */
}

/* Appends how far away the level is, or the older mask, and the numbered level. */
static void add_both_levels(struct text *t, uint64_t v)
{
	unsigned lvl = LVL(v), num = LVL_NUM(v);
	const char *hops = hops_names[HOPS(v)];
	char number[] = { 'L', (char)('0' + num), '\0' };
	size_t start;

	append_string(t, REMOTE(v) ? "Remote " : "");
	append_string(t, hops ? hops : "");
	append_string(t, HOPS(v) ? " " : "");
	start = t->n;
	if (!HOPS(v))
		add_bits(t, lvl & ~(HIT | MISS), lvl_names, 14);
	if (num) {
		append_string(t, t->n > start ? " or " : "");
		append_string(t, num <= LVL_NUM_DIGIT ? number : lvl_num_names[num]);
	}
	if (!t->n)
		append_string(t, "N/A");
	append_string(t, lvl & HIT ? " hit" : "");
	append_string(t, lvl & MISS ? " miss" : "");
}

/* Appends the numbered level if there is one, otherwise the older mask, as perf does. */
static void add_lvl(struct text *t, uint64_t v)
{
	unsigned lvl = LVL(v), num = LVL_NUM(v);
	size_t start = t->n;

	if (num && num != LVL_NUM_NA) {
		const char *hops = hops_names[HOPS(v)];

		append_string(t, REMOTE(v) ? "Remote " : "");
		append_string(t, hops ? hops : "");
		append_string(t, hops ? " " : "");
		append_string(t, lvl_num_names[num]);
	} else {
		add_bits(t, lvl & ~(NA | HIT | MISS), lvl_names, 14);
	}
	if (t->n == start)
		append_string(t, "N/A");
	else
		append_string(t, lvl & HIT ? " hit" : lvl & MISS ? " miss" : "");
}

/*
 * Appends the level as a column of a line: perf adds a space after a known level if neither
 * hit nor miss is known.
 */
static void add_lvl_column(struct text *t, uint64_t v)
{
	unsigned num = LVL_NUM(v);

	add_lvl(t, v);
	if (!(LVL(v) & (HIT | MISS)) && ((num && num != LVL_NUM_NA) || (LVL(v) & ~NA)))
		append_string(t, " ");
}

static void add_snoop(struct text *t, uint64_t v)
{
	size_t start = t->n;

	add_bits(t, SNOOP(v), snoop_names, 5);
	if (t->n > start && SNOOPX(v))
		append_string(t, " or ");
	add_bits(t, SNOOPX(v), snoopx_names, 2);
	if (t->n == start)
		append_string(t, "N/A");
}

static void add_dtlb(struct text *t, uint64_t v)
{
	unsigned dtlb = DTLB(v);
	size_t start = t->n;

	add_bits(t, dtlb, dtlb_names, 7);
	if (t->n == start)
		append_string(t, "N/A");
	append_string(t, dtlb & HIT ? " hit" : "");
	append_string(t, dtlb & MISS ? " miss" : "");
}

static void add_lock(struct text *t, uint64_t v)
{
	append_string(t, LOCK(v) & 1 ? "N/A" : LOCK(v) & 2 ? "Yes" : "No");
}

static void add_blk(struct text *t, uint64_t v)
{
	static const char *const names[8] = {
		"N/A", "N/A", "Data", "N/A", "Addr", "N/A", "Data Addr", "N/A",
	};

	append_string(t, names[BLK(v)]);
}

static void add_snoopx(struct text *t, uint64_t v)
{
	add_bits(t, SNOOPX(v), snoopx_names, 2);
}

static void add_known_name(struct text *t, const char *name)
{
	append_string(t, name ? name : "");
}

static void add_lvl_num(struct text *t, uint64_t v)
{
	add_known_name(t, lvl_num_names[LVL_NUM(v)]);
}

static void add_remote(struct text *t, uint64_t v)
{
	append_string(t, REMOTE(v) ? "Remote" : "");
}

static void add_hops(struct text *t, uint64_t v)
{
	add_known_name(t, hops_names[HOPS(v)]);
}

static void add_region(struct text *t, uint64_t v)
{
	add_known_name(t, region_names[REGION(v)]);
}

static const struct pd_member members[] = {
	{ PD_MEMBER(ADDR, "value", "All fields as recorded, in one integer.") },
	{ PD_MEMBER(STR, "op",
		    "Kind of access: \"LOAD\", \"STORE\", \"PFETCH\", \"EXEC\", \"N/A\".") },
	{ PD_MEMBER(STR, "lvl",
		    "Level that served it, hit or missed, as perf shows it: \"L1 hit\".") },
	{ PD_MEMBER(STR, "lvl_num",
		    "Level by number alone: \"L1\" … \"L4\", \"RAM\", \"PMEM\", \"CXL\" …; nil "
		    "if none.") },
	{ PD_MEMBER(STR, "remote",
		    "\"Remote\" when the level is another socket's or core's; else nil.") },
	{ PD_MEMBER(STR, "snoop",
		    "Snoop results joined by \" or \": \"None\", \"Hit\", \"Miss\", \"HitM\", "
		    "\"Fwd\", \"Peer\", \"N/A\".") },
	{ PD_MEMBER(STR, "snoopx",
		    "Extended snoop result alone: \"Fwd\", \"Peer\"; nil if none.") },
	{ PD_MEMBER(STR, "lock",
		    "\"Yes\" if the access was locked, \"No\" if not, or \"N/A\".") },
	{ PD_MEMBER(STR, "dtlb",
		    "Data TLB access: \"L1 or L2 hit\", \"Walker miss\" …, \"N/A\".") },
	{ PD_MEMBER(STR, "blk",
		    "Reason why the access was blocked: \"Data\", \"Addr\", \"N/A\".") },
	{ PD_MEMBER(
		STR, "hops",
		"Distance of the level: \"core, same node\" …; nil if it was not recorded.") },
	{ PD_MEMBER(STR, "region",
		    "Cache or memory region: \"MMIO\", \"Memory region 0\" …; nil if not "
		    "recorded.") },
	{ .name = NULL },
};

/* In the order of members[]. */
static void (*const texts[])(struct text *t, uint64_t v) = {
	NULL,	    add_op,   add_lvl,	add_lvl_num, add_remote, add_snoop,
	add_snoopx, add_lock, add_dtlb, add_blk,     add_hops,	 add_region,
};

static void get_data_src_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	struct text t = { out->text, 0, sizeof(out->text) };

	out->type = PD_NIL;
	if (!texts[m]) {
		pd_set_uint(out, PD_ADDR, view->extra);
		return;
	}
	texts[m](&t, view->extra);
	if (t.n)
		pd_set_bytes(out, PD_STR, out->text, t.n);
}

void pd_data_src_print_part(enum pd_data_src_part part, uint64_t value, char *text, size_t size)
{
	static void (*const add[])(struct text * t, uint64_t v) = {
		[PD_SRC_LEVEL] = add_lvl,   [PD_SRC_LEVELS] = add_both_levels,
		[PD_SRC_SNOOP] = add_snoop, [PD_SRC_DTLB] = add_dtlb,
		[PD_SRC_LOCK] = add_lock,   [PD_SRC_BLK] = add_blk,
	};
	struct text t = { text, 0, size };

	text[0] = '\0';
	add[part](&t, value);
}

void pd_data_src_print(const struct pd_view *view, unsigned as, char *text, size_t size)
{
	const struct {
		const char *title;
		void (*add)(struct text *t, uint64_t v);
	} columns[] = {
		{ " |OP ", add_op },
		{ "|LVL ", as & PD_TEXT_ONE_LEVEL ? add_lvl_column : add_both_levels },
		{ "|SNP ", add_snoop },
		{ "|TLB ", add_dtlb },
		{ "|LCK ", add_lock },
		{ "|BLK  ", add_blk },
	};
	struct text t = { text, 0, size };
	char hex[17];

	if (!size)
		return;
	snprintf(hex, sizeof(hex), "%llx", (unsigned long long)view->extra);
	append_string(&t, hex);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		append_string(&t, columns[i].title);
		columns[i].add(&t, view->extra);
	}
}

static void print_data_src(const struct pd_view *view, char *text, size_t size)
{
	pd_data_src_print(view, pd_perf_text_of(PD_PERF_NEWEST), text, size);
}

static void code_data_src(struct pd_coder *c, const char *name)
{
	pd_code_int(c, name, 8, PD_AS_HEX);
}

const struct pd_view_desc pd_view_data_src = {
	.name = "data_src",
	.doc = "A memory access, and the level that served it; as a string, the text of "
	       "perf script -F data_src.",
	.members = members,
	.member = get_data_src_member,
	.print = print_data_src,
	.code = code_data_src,
};
