#include "rules.h"

#define D   (1u << PV_DROP)
#define K   (1u << PV_KEEP)
#define DK  (D | K)
#define DHK (D | 1u << PV_HASH | K)
#define ALL (DHK | 1u << PV_BASE)

const char *const pv_actions[PV_ACTIONS] = {
	[PV_DROP] = "drop",	    [PV_HASH] = "hash", [PV_BASE] = "base",
	[PV_RELATIVE] = "relative", [PV_KEEP] = "keep",
};

const struct pv_kind_desc pv_kinds[PV_KINDS] = {
	[PV_COMM] = { "comm", "names of threads", DHK, PV_HASH, PV_HASH },
	[PV_BINARY] = { "binary", "names of binaries and other mapped files, their inodes", ALL,
			PV_BASE, PV_HASH },
	[PV_FUNCTION] = { "function", "names of functions that the recording itself has", DHK,
			  PV_KEEP, PV_HASH },
	[PV_PATH] = { "path", "file names among the arguments of tracepoints", ALL, PV_HASH,
		      PV_HASH },
	[PV_STRING] = { "string", "other strings, bytes and socket addresses among these", DHK,
			PV_DROP, PV_DROP },
	[PV_RAW] = { "raw", "raw data of samples whose format is not known", DK, PV_DROP,
		     PV_DROP },
	[PV_EVENT] = { "event", "names of events that perf and the kernel gave, their formats",
		       K, PV_KEEP, PV_KEEP },
	[PV_ALIAS] = { "alias", "other names of events, as those of PMUs", DK, PV_KEEP,
		       PV_DROP },
	[PV_PROBE] = { "probe", "names of probes and of their arguments", DHK, PV_HASH,
		       PV_HASH },
	[PV_CMDLINE] = { "cmdline", "command line of the recorder", DK, PV_DROP, PV_DROP },
	[PV_HOST] = { "host", "name of the machine", DHK, PV_DROP, PV_DROP },
	[PV_KERNEL] = { "kernel", "release of the kernel, version of perf to the letter", DHK,
			PV_KEEP, PV_DROP },
	[PV_CPU] = { "cpu", "model of the processor", DHK, PV_KEEP, PV_DROP },
	[PV_HARDWARE] = { "hardware", "memory, caches, topology, PMUs", DK, PV_KEEP, PV_DROP },
	[PV_CLOCK] = { "clock", "time of day of the recording", DK, PV_KEEP, PV_DROP },
	[PV_CGROUP] = { "cgroup", "paths of control groups", ALL, PV_HASH, PV_HASH },
	[PV_NAMESPACE] = { "namespace", "namespaces of threads", DK, PV_DROP, PV_DROP },
	[PV_BUILDID] = { "buildid", "build-ids of binaries", DHK, PV_KEEP, PV_HASH },
	[PV_BPF] = { "bpf", "BPF programs, their names, tags and types", DK, PV_DROP, PV_DROP },
	[PV_CODE] = { "code", "bytes of code", DK, PV_DROP, PV_DROP },
	[PV_SOURCE] = { "source", "names of source files", ALL, PV_BASE, PV_HASH },
	[PV_TEXT] = { "text", "text of source lines", DK, PV_DROP, PV_DROP },
	[PV_REGISTERS] = { "registers", "values of registers", DK, PV_DROP, PV_DROP },
	[PV_STACKS] = { "stacks", "copies of stacks", DK, PV_DROP, PV_DROP },
	[PV_AUX] = { "aux", "AUX areas: traces of instructions", DK, PV_DROP, PV_DROP },
	[PV_ADDRESSES] = { "addresses", "addresses of code and data", 1u << PV_RELATIVE | K,
			   PV_KEEP, PV_KEEP },
	[PV_BASICS] = { "basics", "architecture, version of perf, number of processors, clocks",
			K, PV_KEEP, PV_KEEP },
	[PV_UNKNOWN] = { "unknown", "records and features that perflua does not know", D,
			 PV_DROP, PV_DROP },
};
