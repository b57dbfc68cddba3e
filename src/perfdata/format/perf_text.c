/*
 * The table of differences between the texts of perf's versions. 6.1, 6.12, 7.2 and 7.3 were
 * compared on the same recordings; `since` is the first of these with the difference.
 */
#include "perf_text.h"

#include <stddef.h>
#include <stdlib.h>

#define ALWAYS PD_PERF_OLDEST
#define STILL  UINT32_MAX

const struct pd_perf_difference pd_perf_differences[] = {
	{ "wide_ids", "pid and tid are seven columns wide, not five", PD_TEXT_WIDE_IDS,
	  PD_PERF(6, 12), STILL },
	{ "recorded_addresses",
	  "user addresses of call chains are as recorded, not relative to the binary",
	  PD_TEXT_RECORDED_ADDRESSES, PD_PERF(6, 12), STILL },
	{ "forgets_exited", "script has no name for a thread that has exited (\":TID\")",
	  PD_TEXT_FORGETS_EXITED, PD_PERF(6, 12), STILL },
	{ "one_level", "data_src has the level of an access once, not by mask and number",
	  PD_TEXT_ONE_LEVEL, PD_PERF(6, 12), STILL },
	{ "retire_lat", "lines of raw events have the retire latency", PD_TEXT_RETIRE_LAT,
	  PD_PERF(6, 12), STILL },
	{ "branch_speculation", "branches end with what became of their speculation",
	  PD_TEXT_BRANCH_SPECULATION, PD_PERF(6, 12), STILL },
	{ "branch_dso_apart", "a space is between a branch's address and its binary",
	  PD_TEXT_BRANCH_DSO_APART, PD_PERF(6, 12), STILL },
	{ "branch_not_taken", "branches that were not taken are marked N",
	  PD_TEXT_BRANCH_NOT_TAKEN, PD_PERF(7, 2), STILL },
	{ "plain_modifiers",
	  "an event without a name is \"cycles\" if nothing is excluded, not \"cycles:HG\"",
	  PD_TEXT_PLAIN_MODIFIERS, PD_PERF(7, 2), STILL },
	{ "unknown_events", "the name of an event of an unknown type has its config",
	  PD_TEXT_UNKNOWN_EVENTS, PD_PERF(7, 2), STILL },
	{ "read_by_thread", "counters in samples of inherited events are counted by thread",
	  PD_TEXT_READ_BY_THREAD, PD_PERF(7, 2), STILL },
	{ "inlined_always",
	  "inlined functions are in all call chains, not only in those of unwound stacks",
	  PD_TEXT_INLINED_ALWAYS, PD_PERF(7, 2), STILL },
	{ "outermost_line",
	  "the line of an address outside call chains is that of the function that others were "
	  "inlined into",
	  PD_TEXT_OUTERMOST_LINE, PD_PERF(7, 2), STILL },
	{ "code_frames", "copied stacks end where they lead to memory without code",
	  PD_TEXT_CODE_FRAMES, PD_PERF(7, 2), STILL },
	{ "array_as_kernel",
	  "__print_array() of a tracepoint's text is {0x1,0x2}, as the kernel prints it, not "
	  "1 2",
	  PD_TEXT_ARRAY_AS_KERNEL, PD_PERF(6, 12), STILL },
	{ "conversions",
	  "%c of a tracepoint's text is a character, not \">c<\", and %zu has 64 bits, not 32",
	  PD_TEXT_CONVERSIONS, PD_PERF(6, 12), STILL },
	{ "skips_empty",
	  "report has no columns of events without samples that were recorded in groups",
	  PD_TEXT_SKIPS_EMPTY, PD_PERF(6, 12), STILL },
	{ "wide_counts", "names in report --stats are 20 columns wide, not 16",
	  PD_TEXT_WIDE_COUNTS, PD_PERF(6, 12), STILL },
	{ "task_order",
	  "report --tasks lists threads in the order of their numbers, below swapper",
	  PD_TEXT_TASK_ORDER, PD_PERF(6, 12), STILL },
	{ "average_weights",
	  "weight, ins_lat, p_stage_cyc and retire_lat of report --fields are averages",
	  PD_TEXT_AVERAGE_WEIGHTS, PD_PERF(6, 12), STILL },
	{ "shows_latency",
	  "report shows latencies of recordings with the switches of threads, if threads ran "
	  "beside one another",
	  PD_TEXT_SHOWS_LATENCY, PD_PERF(7, 2), STILL },
	{ "exact_shares", "report shows no share beside those that --sort names",
	  PD_TEXT_EXACT_SHARES, PD_PERF(7, 2), STILL },
	{ "branch_columns", "report --branch-history has columns of the branches", 0,
	  PD_PERF(7, 2), STILL },
	{ "coverage_of_ends",
	  "IPC Coverage of report --branch-stack counts the instructions that end blocks, not "
	  "those in blocks",
	  0, PD_PERF(6, 12), STILL },
	{ "split_shares",
	  "op, cache, memory, snoop and dtlb of report --mem-mode --fields split shares",
	  PD_TEXT_SPLIT_SHARES, PD_PERF(7, 2), STILL },
	{ "plugin_texts",
	  "texts of some tracepoints are those of libtraceevent's plugins, if it has them", 0,
	  PD_PERF(6, 12), STILL },
	{ "unread_formats", "texts of some tracepoints are [FAILED TO PARSE]", 0, ALWAYS,
	  PD_PERF(6, 12) },
	{ "few_plt_names", "few entries of procedure linkage tables have names", 0, ALWAYS,
	  PD_PERF(6, 12) },
	{ "inner_labels",
	  "symbols without a size have the addresses after them inside functions, too", 0,
	  ALWAYS, STILL },
	{ "parameters",
	  "names of C++ functions have the types of their parameters, as Debian builds it", 0,
	  PD_PERF(6, 12), STILL },
	{ "rust_as_cxx", "names of Rust are demangled as those of C++, or not at all", 0,
	  PD_PERF(6, 12), PD_PERF(7, 2) },
	{ "inlined_outermost",
	  "a function that others were inlined into may be marked as inlined", 0, ALWAYS,
	  PD_PERF(7, 2) },
	{ "no_frame", "a user stack may end with a frame at -1, where it cannot be followed", 0,
	  ALWAYS, STILL },
	{ "lbr_leaf", "call stacks of branches begin with the sample's address",
	  PD_TEXT_LBR_LEAF, PD_PERF(7, 2), STILL },
	{ "line_zero", "an address that the compiler gave no line is in line 0 of its file", 0,
	  PD_PERF(7, 2), STILL },
	{ "clamped_cpu", "a cpu that the recording's machine, or this one, does not have is 0",
	  0, PD_PERF(7, 2), STILL },
	{ "deferred_late", "a sample comes when its deferred call chain does", 0, PD_PERF(7, 2),
	  STILL },
	{ "callers_without_level",
	  "report marks callers in the kernel [.], as it met them first", 0, PD_PERF(7, 2),
	  STILL },
	{ "hierarchy_addresses",
	  "report --hierarchy shows the addresses of callers, not their functions", 0,
	  PD_PERF(6, 12), STILL },
	{ "hierarchy_children",
	  "report --hierarchy has the column Children, with 0 in rows above others", 0,
	  PD_PERF(7, 2), STILL },
	{ "running_kernel",
	  "functions of a kernel are those of /proc/kallsyms, whichever kernel was recorded", 0,
	  PD_PERF(7, 2), STILL },
	{ "kernel_code_size",
	  "dso_size of a kernel whose file was found is the size of the file's .text", 0,
	  ALWAYS, STILL },
	{ "unnamed_errors", "trace does not name the errors of system calls", 0, PD_PERF(7, 2),
	  STILL },
	{ "preempted_delays",
	  "sched timehist counts what preempted threads wait for a processor as delay", 0,
	  PD_PERF(6, 12), STILL },
	{ NULL, NULL, 0, 0, 0 },
};

unsigned pd_perf_text_of(unsigned version)
{
	unsigned text = 0;

	for (const struct pd_perf_difference *d = pd_perf_differences; d->name; d++)
		if (d->since <= version && version < d->before)
			text |= d->bit;
	return text;
}

/* Reads "6.12" before *end, which it sets. Returns 0 if the text begins with no version. */
static unsigned parse_version(const char *text, char **end)
{
	unsigned long major, minor;

	major = strtoul(text, end, 10);
	if (*end == text || **end != '.' || major > UINT16_MAX)
		return 0;
	text = *end + 1;
	minor = strtoul(text, end, 10);
	return *end == text || minor > UINT16_MAX ? 0 : PD_PERF(major, minor);
}

unsigned pd_perf_version(const char *text)
{
	char *end;
	unsigned version = parse_version(text, &end);

	return *end && *end != '.' ? 0 : version;
}

unsigned pd_perf_closest(const char *text)
{
	char *end;
	unsigned version = parse_version(text, &end);

	if (!version || version > PD_PERF_NEWEST)
		return PD_PERF_NEWEST;
	return version < PD_PERF_OLDEST ? PD_PERF_OLDEST : version;
}
