/*
 * The call chain of a sample: a u64 count, then addresses, callee first. Among them context
 * markers say in which cpumode the following addresses ran. See perf_callchain_user,
 * kernel/events/callchain.c.
 *
 * To find a frame without walking the chain, view.extra holds the indices of the first three
 * markers (16 bits each), their number, and whether more follow.
 */
#include "perfdata/format/coder.h"
#include "perfdata/format/fields.h"
#include "perfdata/format/views.h"

#define MAX_MARKERS 3
#define MORE	    (UINT64_C(1) << 52) /* there are more markers than extra holds */
#define DEFERRED    (UINT64_C(1) << 53) /* the chain ends with a marker and a cookie */

#define CONTEXT_MAX	      ((uint64_t)-4095) /* values from here on are markers */
#define CONTEXT_HV	      ((uint64_t)-32)
#define CONTEXT_KERNEL	      ((uint64_t)-128)
#define CONTEXT_USER	      ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define CONTEXT_GUEST_KERNEL  ((uint64_t)-2176)
#define CONTEXT_GUEST_USER    ((uint64_t)-2560)

/* The markers by name, as descriptions write them. */
static const struct {
	uint64_t marker;
	const char *name;
	enum pd_cpumode mode;
} markers[] = {
	{ CONTEXT_HV, "hypervisor", PD_CPUMODE_HYPERVISOR },
	{ CONTEXT_KERNEL, "kernel", PD_CPUMODE_KERNEL },
	{ CONTEXT_USER, "user", PD_CPUMODE_USER },
	{ CONTEXT_USER_DEFERRED, "user_deferred", PD_CPUMODE_USER },
	{ CONTEXT_GUEST_KERNEL, "guest_kernel", PD_CPUMODE_GUEST_KERNEL },
	{ CONTEXT_GUEST_USER, "guest_user", PD_CPUMODE_GUEST_USER },
};

#define N_MARKERS (sizeof(markers) / sizeof(markers[0]))

static enum pd_cpumode get_marker_mode(uint64_t marker)
{
	for (size_t i = 0; i < N_MARKERS; i++)
		if (markers[i].marker == marker)
			return markers[i].mode;
	return PD_CPUMODE_UNKNOWN;
}

/* Codes an entry: an address, or the name of a marker. */
static void code_entry(struct pd_coder *c)
{
	const struct pd_node *node = pd_code_next(c);
	uint64_t value = c->encodes ? 0 : pd_code_load(c, 8);
	size_t i = 0;

	if (!c->encodes) {
		while (i < N_MARKERS && markers[i].marker != value)
			i++;
		if (i < N_MARKERS)
			pd_code_name(c, NULL, markers[i].name);
		else
			pd_code_value(c, NULL, value, 8, PD_AS_HEX);
		return;
	}
	while (i < N_MARKERS && node && !pd_node_is(node, markers[i].name))
		i++;
	if (i < N_MARKERS && node) {
		pd_code_skip(c);
		pd_code_store(c, 8, markers[i].marker);
	} else {
		pd_code_int(c, NULL, 8, PD_AS_HEX);
	}
}

static void code_callchain(struct pd_coder *c, const char *name)
{
	uint32_t n = pd_code_count(c, name, 8, 8);

	for (uint32_t i = 0; i < n; i++)
		code_entry(c);
	pd_code_end(c);
}

static uint32_t get_marker(uint64_t extra, unsigned k)
{
	return extra >> (16 * k) & 0xffff;
}

static unsigned count_markers(uint64_t extra)
{
	return extra >> 48 & 3;
}

/* Returns entry `r` of the chain as recorded. */
static uint64_t load_entry(const struct pd_view *view, uint32_t r)
{
	return pd_rec64(view->rec, view->at + 8 + 8 * r);
}

/*
 * Returns the number of entries that are frames or their markers: all but the two that announce
 * a deferred user part.
 */
static uint32_t count_chain_entries(const struct pd_view *view)
{
	uint32_t n = (uint32_t)pd_rec64(view->rec, view->at);

	return view->extra & DEFERRED ? n - 2 : n;
}

void pd_open_callchain(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	struct pd_view *view = &out->view;
	uint32_t n;

	pd_open_counted(rec, at, 8, out);
	if (out->type == PD_NIL)
		return;
	n = view->count;
	view->at = at;
	if (rec->layout->shape->defer && n >= 2 &&
	    load_entry(view, n - 2) == CONTEXT_USER_DEFERRED) {
		view->extra = DEFERRED;
		n -= 2;
	}
	view->count = 0;
	for (uint32_t r = 0; r < n; r++) {
		unsigned k = count_markers(view->extra);

		if (load_entry(view, r) < CONTEXT_MAX)
			view->count++;
		else if (k == MAX_MARKERS || r > 0xffff)
			view->extra |= MORE;
		else
			view->extra = (view->extra | (uint64_t)r << (16 * k)) +
				      (UINT64_C(1) << 48);
	}
}

void pd_frames_init(struct pd_frames *frames, const struct pd_view *view)
{
	frames->rec = view->rec;
	frames->at = view->at + 8;
	frames->end = frames->at + 8 * count_chain_entries(view);
	frames->mode = PD_CPUMODE_USER; /* until a marker says otherwise, as in perf */
}

bool pd_frames_next(struct pd_frames *frames, uint64_t *ip)
{
	for (; frames->at < frames->end; frames->at += 8) {
		uint64_t v = pd_rec64(frames->rec, frames->at);

		if (v < CONTEXT_MAX) {
			*ip = v;
			frames->at += 8;
			return true;
		}
		frames->mode = get_marker_mode(v);
	}
	return false;
}

bool pd_is_chain_marker(uint64_t entry)
{
	return entry >= CONTEXT_MAX;
}

bool pd_frames_are_known(const struct pd_view *view)
{
	struct pd_frames frames;
	uint64_t ip;

	pd_frames_init(&frames, view);
	while (pd_frames_next(&frames, &ip) && frames.mode != PD_CPUMODE_UNKNOWN)
		;
	return frames.mode != PD_CPUMODE_UNKNOWN;
}

bool pd_frames_cookie(const struct pd_view *view, uint64_t *cookie)
{
	if (view->extra & DEFERRED)
		*cookie = load_entry(view, count_chain_entries(view) + 1);
	return view->extra & DEFERRED;
}

/* Returns frame `i`, which must be < count, and sets *mode. */
static uint64_t find_frame(const struct pd_view *view, uint32_t i, enum pd_cpumode *mode)
{
	struct pd_frames frames;
	uint64_t ip = 0;
	unsigned k;

	if (view->frames) {
		*mode = (enum pd_cpumode)view->frames[i].mode;
		return view->frames[i].ip;
	}
	pd_frames_init(&frames, view);
	for (k = 0; k < count_markers(view->extra) && get_marker(view->extra, k) <= i + k; k++)
		frames.mode = get_marker_mode(load_entry(view, get_marker(view->extra, k)));
	if (k < count_markers(view->extra) || !(view->extra & MORE)) {
		ip = load_entry(view, i + k);
	} else {
		/* after the last marker in extra: walk on from there */
		uint32_t r = k ? get_marker(view->extra, k - 1) + 1 : 0;

		frames.at += 8 * r;
		for (uint32_t left = i + k - r + 1; left; left--)
			pd_frames_next(&frames, &ip);
	}
	*mode = frames.mode;
	return ip;
}

static const struct pd_member members[] = {
	{ PD_MEMBER(VIEW, "ips", "The chain as recorded, context markers included.") },
	{ PD_MEMBER(UINT, "cookie",
		    "Number of the callchain_deferred record that has the user part; nil if "
		    "none is to come.") },
	{ .name = NULL },
};

static void get_callchain_member(const struct pd_view *view, unsigned m, struct pd_value *out)
{
	uint64_t cookie;

	out->type = PD_NIL;
	if (m == 0) {
		out->type = PD_VIEW;
		out->view = (struct pd_view){ .desc = &pd_view_ips, .rec = view->rec };
		pd_open_ips(view->rec, view->at, out);
	} else if (pd_frames_cookie(view, &cookie)) {
		pd_set_uint(out, PD_UINT, cookie);
	}
}

static const struct pd_member items[] = {
	{ PD_MEMBER(ADDR, "ip",
		    "Address of the instruction in the first frame, return address in the "
		    "others.") },
	{ PD_MEMBER(STR, "cpumode",
		    "Context that the frame ran in: \"kernel\", \"user\", \"hypervisor\" …") },
	{ PD_MEMBER(STR, "symbol", "Function at ip; nil if it is not known."),
	  .of_system = true },
	{ PD_MEMBER(UINT, "symoff", "Bytes from the start of the function to ip."),
	  .of_system = true },
	{ PD_MEMBER(STR, "dso", "Binary that was mapped at ip, as perf names it."),
	  .of_system = true },
	{ PD_MEMBER(STR, "srcline",
		    "Source file and line of ip; nil without debug information."),
	  .of_system = true },
	{ PD_MEMBER(VIEW, "inlined",
		    "Array of {symbol, srcline} of the functions inlined at ip, innermost "
		    "first; nil if there "
		    "are none."),
	  .of_system = true },
	{ .name = NULL },
};

static void get_callchain_item(const struct pd_view *view, uint32_t i, unsigned m,
			       struct pd_value *out)
{
	static const uint8_t asked[] = {
		0, 0, PD_SYS_SYMBOL, PD_SYS_SYMOFF, PD_SYS_DSO, PD_SYS_SRCLINE, PD_SYS_INLINED
	};
	enum pd_cpumode mode;
	uint64_t ip = find_frame(view, i, &mode);

	if (m == 0)
		pd_set_uint(out, PD_ADDR, ip);
	else if (m == 1)
		pd_set_name(out, pd_cpumode_name(mode));
	else
		pd_ask(out, asked[m], ip, mode);
}

const struct pd_view_desc pd_view_callchain = {
	.name = "callchain",
	.doc = "The frames of a call chain, callee first; context markers are consumed.",
	.members = members,
	.items = items,
	.member = get_callchain_member,
	.item = get_callchain_item,
	.code = code_callchain,
};
