/*
 * Names for events that have none, as `perf report` and `perf script` derive them from the
 * attr. See evsel__name and the functions it calls, tools/perf/util/evsel.c.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "attr.h"
#include "format.h"
#include "perf_text.h"

struct text {
	char *at;
	size_t left; /* NUL included */
	unsigned as; /* enum pd_perf_text */
};

static __attribute__((format(printf, 2, 3))) void append(struct text *t, const char *format,
							 ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0 || !t->left)
		return;
	if ((size_t)n >= t->left)
		n = (int)t->left - 1;
	t->at += n;
	t->left -= (size_t)n;
}

/* enum perf_hw_id */
static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* enum perf_sw_ids */
static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

/* enum perf_hw_cache_op_id: the name of an operation, and of its accesses */
static const struct {
	const char *singular, *plural;
} cache_ops[] = { { "load", "loads" }, { "store", "stores" }, { "prefetch", "prefetches" } };

#define LOADS	   (1u << 0)
#define STORES	   (1u << 1)
#define PREFETCHES (1u << 2)

/* enum perf_hw_cache_id, and the operations that each can count */
static const struct {
	const char *name;
	unsigned ops;
} caches[] = {
	{ "L1-dcache", LOADS | STORES | PREFETCHES },
	{ "L1-icache", LOADS | PREFETCHES },
	{ "LLC", LOADS | STORES | PREFETCHES },
	{ "dTLB", LOADS | STORES | PREFETCHES },
	{ "iTLB", LOADS },
	{ "branch", LOADS },
	{ "node", LOADS | STORES | PREFETCHES },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void name_hardware(struct text *t, const struct pd_attr *attr, const char *pmu)
{
	/* the upper half selects the PMU of a hybrid system */
	uint32_t id = (uint32_t)attr->config;

	(void)pmu;
	append(t, "%s", id < COUNT(hardware_names) ? hardware_names[id] : "unknown-hardware");
}

static void name_software(struct text *t, const struct pd_attr *attr, const char *pmu)
{
	uint64_t id = attr->config;

	(void)pmu;
	append(t, "%s", id < COUNT(software_names) ? software_names[id] : "unknown-software");
}

static void name_tracepoint(struct text *t, const struct pd_attr *attr, const char *pmu)
{
	(void)pmu;
	if (t->as & PD_TEXT_UNKNOWN_EVENTS)
		append(t, "unknown tracepoint id=%#" PRIx64, attr->config);
	else
		append(t, "unknown tracepoint");
}

static void name_cache(struct text *t, const struct pd_attr *attr, const char *pmu)
{
	unsigned cache = attr->config & 0xff, op = attr->config >> 8 & 0xff;
	unsigned miss = attr->config >> 16 & 0xff;

	(void)pmu;
	if (cache >= COUNT(caches))
		append(t, "unknown-ext-hardware-cache-type");
	else if (op >= COUNT(cache_ops))
		append(t, "unknown-ext-hardware-cache-op");
	else if (miss > 1)
		append(t, "unknown-ext-hardware-cache-result");
	else if (!(caches[cache].ops & 1u << op))
		append(t, "invalid-cache");
	else if (miss)
		append(t, "%s-%s-misses", caches[cache].name, cache_ops[op].singular);
	else
		append(t, "%s-%s", caches[cache].name, cache_ops[op].plural);
}

static void name_raw(struct text *t, const struct pd_attr *attr, const char *pmu)
{
	(void)pmu;
	append(t, "raw %#" PRIx64, attr->config);
}

static void name_breakpoint(struct text *t, const struct pd_attr *attr, const char *pmu)
{
	(void)pmu;
	append(t, "mem:%#" PRIx64 ":%s%s%s", attr->config1, attr->bp_type & 1 ? "r" : "",
	       attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
}

/*
 * Writes the name in the syntax of `perf record -e`, so that it says how to count the event
 * again.
 */
static void name_of_pmu(struct text *t, const struct pd_attr *attr, const char *pmu)
{
	const uint64_t more[] = { attr->config1, attr->config2, attr->config3, attr->config4 };

	if (!pmu && !(t->as & PD_TEXT_UNKNOWN_EVENTS)) {
		append(t, "unknown attr type: %" PRIu32, attr->type);
		return;
	}
	if (!pmu) {
		append(t, "unknown event PMU=%" PRIu32 " config=%#" PRIx64, attr->type,
		       attr->config);
		return;
	}
	append(t, "%s/config=%#" PRIx64, pmu, attr->config);
	for (unsigned i = 0; i < COUNT(more); i++)
		if (more[i])
			append(t, ",config%u=%#" PRIx64, i + 1, more[i]);
	append(t, "/");
}

/*
 * Returns whether the letters of host and guests are shown: they are if either is excluded.
 * Older perfs took guests for excluded if and only if a mode or a precision is asked for. See
 * evsel__add_modifiers, tools/perf/util/evsel.c.
 */
static bool shows_guests(unsigned as, uint64_t flags, bool asked)
{
	bool without = (flags & PD_ATTR_EXCLUDE_GUEST) != 0;

	return (flags & PD_ATTR_EXCLUDE_HOST) ||
	       (as & PD_TEXT_PLAIN_MODIFIERS ? without : without == asked);
}

/*
 * Writes a letter for each mode that is counted, if any is excluded; "p" for each level of
 * precision; "HG" for host and guests.
 */
static void add_modifiers(struct text *t, uint64_t flags, const char *colon)
{
	const uint64_t modes = PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_KERNEL |
			       PD_ATTR_EXCLUDE_HV;
	unsigned precise = PD_ATTR_PRECISE_IP(flags);
	bool guests = shows_guests(t->as, flags, (flags & modes) || precise);
	const struct {
		bool shown;
		uint64_t excluded;
		char letter;
	} letters[] = {
		{ flags & modes, PD_ATTR_EXCLUDE_KERNEL, 'k' },
		{ flags & modes, PD_ATTR_EXCLUDE_USER, 'u' },
		{ flags & modes, PD_ATTR_EXCLUDE_HV, 'h' },
		{ precise > 0, 0, 'p' },
		{ precise > 1, 0, 'p' },
		{ precise > 2, 0, 'p' },
		{ guests, PD_ATTR_EXCLUDE_HOST, 'H' },
		{ guests, PD_ATTR_EXCLUDE_GUEST, 'G' },
	};

	for (unsigned i = 0; i < COUNT(letters); i++) {
		if (!letters[i].shown || (flags & letters[i].excluded))
			continue;
		append(t, "%s%c", colon, letters[i].letter);
		colon = "";
	}
}

static const struct {
	void (*name)(struct text *t, const struct pd_attr *attr, const char *pmu);
	bool modifiers;
} types[] = {
	[PD_TYPE_HARDWARE] = { name_hardware, true },
	[PD_TYPE_SOFTWARE] = { name_software, true },
	[PD_TYPE_TRACEPOINT] = { name_tracepoint, false },
	[PD_TYPE_HW_CACHE] = { name_cache, true },
	[PD_TYPE_RAW] = { name_raw, true },
	[PD_TYPE_BREAKPOINT] = { name_breakpoint, true },
};

uint32_t pd_event_pmu(const struct pd_attr *attr)
{
	bool extended = attr->type == PD_TYPE_HARDWARE || attr->type == PD_TYPE_HW_CACHE;

	return extended && attr->config >> 32 ? (uint32_t)(attr->config >> 32) : attr->type;
}

void pd_event_name(const struct pd_attr *attr, const char *pmu, unsigned text, char *name,
		   size_t size)
{
	struct text t = { name, size, text };
	bool of_core = pmu && pd_event_pmu(attr) != attr->type;

	if (!size)
		return;
	name[0] = '\0';
	if (attr->type >= COUNT(types)) {
		name_of_pmu(&t, attr, pmu);
		if (pmu)
			add_modifiers(&t, attr->flags, "");
		return;
	}
	if (of_core)
		append(&t, "%s/", pmu);
	types[attr->type].name(&t, attr, pmu);
	if (of_core)
		append(&t, "/");
	if (types[attr->type].modifiers)
		add_modifiers(&t, attr->flags, of_core ? "" : ":");
}
