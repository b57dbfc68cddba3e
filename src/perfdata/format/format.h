/*
 * On-disk constants of perf.data. They are ours, as system headers may be older than the
 * recordings. See include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h,
 * tools/perf/util/header.h.
 */
#ifndef PERFLUA_PERFDATA_FORMAT_H
#define PERFLUA_PERFDATA_FORMAT_H

/* enum perf_event_type and enum perf_user_event_type */
enum pd_record_type {
	PD_RECORD_MMAP = 1,
	PD_RECORD_LOST = 2,
	PD_RECORD_COMM = 3,
	PD_RECORD_EXIT = 4,
	PD_RECORD_THROTTLE = 5,
	PD_RECORD_UNTHROTTLE = 6,
	PD_RECORD_FORK = 7,
	PD_RECORD_READ = 8,
	PD_RECORD_SAMPLE = 9,
	PD_RECORD_MMAP2 = 10,
	PD_RECORD_AUX = 11,
	PD_RECORD_ITRACE_START = 12,
	PD_RECORD_LOST_SAMPLES = 13,
	PD_RECORD_SWITCH = 14,
	PD_RECORD_SWITCH_CPU_WIDE = 15,
	PD_RECORD_NAMESPACES = 16,
	PD_RECORD_KSYMBOL = 17,
	PD_RECORD_BPF_EVENT = 18,
	PD_RECORD_CGROUP = 19,
	PD_RECORD_TEXT_POKE = 20,
	PD_RECORD_AUX_OUTPUT_HW_ID = 21,
	PD_RECORD_CALLCHAIN_DEFERRED = 22,
	PD_RECORD_USER = 64, /* types from here on are written by perf, not by the kernel */
	PD_RECORD_HEADER_ATTR = 64,
	PD_RECORD_EVENT_TYPE = 65,
	PD_RECORD_TRACING_DATA = 66,
	PD_RECORD_BUILD_ID = 67,
	PD_RECORD_FINISHED_ROUND = 68,
	PD_RECORD_ID_INDEX = 69,
	PD_RECORD_AUXTRACE_INFO = 70,
	PD_RECORD_AUXTRACE = 71,
	PD_RECORD_AUXTRACE_ERROR = 72,
	PD_RECORD_THREAD_MAP = 73,
	PD_RECORD_CPU_MAP = 74,
	PD_RECORD_STAT_CONFIG = 75,
	PD_RECORD_STAT = 76,
	PD_RECORD_STAT_ROUND = 77,
	PD_RECORD_EVENT_UPDATE = 78,
	PD_RECORD_TIME_CONV = 79,
	PD_RECORD_HEADER_FEATURE = 80,
	PD_RECORD_COMPRESSED = 81,
	PD_RECORD_FINISHED_INIT = 82,
	PD_RECORD_COMPRESSED2 = 83,
	PD_RECORD_BPF_METADATA = 84,
	PD_RECORD_SCHEDSTAT_CPU = 85,
	PD_RECORD_SCHEDSTAT_DOMAIN = 86,
	PD_RECORD_TYPES = 87, /* all known types are below */
	/* the first of the record types of Android's simpleperf */
	PD_RECORD_SIMPLEPERF = 32768,
	/* how many numbers these may take; types above are not simpleperf's */
	PD_SIMPLEPERF_TYPES = 64,
};

/* enum perf_event_sample_format: bits of attr.sample_type */
#define PD_SAMPLE_IP		 (UINT64_C(1) << 0)
#define PD_SAMPLE_TID		 (UINT64_C(1) << 1)
#define PD_SAMPLE_TIME		 (UINT64_C(1) << 2)
#define PD_SAMPLE_ADDR		 (UINT64_C(1) << 3)
#define PD_SAMPLE_READ		 (UINT64_C(1) << 4)
#define PD_SAMPLE_CALLCHAIN	 (UINT64_C(1) << 5)
#define PD_SAMPLE_ID		 (UINT64_C(1) << 6)
#define PD_SAMPLE_CPU		 (UINT64_C(1) << 7)
#define PD_SAMPLE_PERIOD	 (UINT64_C(1) << 8)
#define PD_SAMPLE_STREAM_ID	 (UINT64_C(1) << 9)
#define PD_SAMPLE_RAW		 (UINT64_C(1) << 10)
#define PD_SAMPLE_BRANCH_STACK	 (UINT64_C(1) << 11)
#define PD_SAMPLE_REGS_USER	 (UINT64_C(1) << 12)
#define PD_SAMPLE_STACK_USER	 (UINT64_C(1) << 13)
#define PD_SAMPLE_WEIGHT	 (UINT64_C(1) << 14)
#define PD_SAMPLE_DATA_SRC	 (UINT64_C(1) << 15)
#define PD_SAMPLE_IDENTIFIER	 (UINT64_C(1) << 16)
#define PD_SAMPLE_TRANSACTION	 (UINT64_C(1) << 17)
#define PD_SAMPLE_REGS_INTR	 (UINT64_C(1) << 18)
#define PD_SAMPLE_PHYS_ADDR	 (UINT64_C(1) << 19)
#define PD_SAMPLE_AUX		 (UINT64_C(1) << 20)
#define PD_SAMPLE_CGROUP	 (UINT64_C(1) << 21)
#define PD_SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define PD_SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define PD_SAMPLE_WEIGHT_STRUCT	 (UINT64_C(1) << 24)
#define PD_SAMPLE_KNOWN		 ((UINT64_C(1) << 25) - 1)

/* enum perf_event_read_format: bits of attr.read_format */
#define PD_READ_TOTAL_TIME_ENABLED (1u << 0)
#define PD_READ_TOTAL_TIME_RUNNING (1u << 1)
#define PD_READ_ID		   (1u << 2)
#define PD_READ_GROUP		   (1u << 3)
#define PD_READ_LOST		   (1u << 4)
#define PD_READ_KNOWN		   ((1u << 5) - 1)

/* bits of attr.branch_sample_type that change the layout of a sample */
#define PD_BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define PD_BRANCH_COUNTERS (UINT64_C(1) << 19)
#define PD_BRANCH_KNOWN	   ((UINT64_C(1) << 20) - 1)

/* enum perf_type_id: attr.type */
enum pd_event_type {
	PD_TYPE_HARDWARE = 0,
	PD_TYPE_SOFTWARE = 1,
	PD_TYPE_TRACEPOINT = 2,
	PD_TYPE_HW_CACHE = 3,
	PD_TYPE_RAW = 4,
	PD_TYPE_BREAKPOINT = 5,
};

/* record header: misc */
#define PD_MISC_CPUMODE	       7u
#define PD_MISC_MMAP_DATA      (1u << 13)
#define PD_MISC_COMM_EXEC      (1u << 13)
#define PD_MISC_FORK_EXEC      (1u << 13)
#define PD_MISC_SWITCH_OUT     (1u << 13)
#define PD_MISC_EXACT_IP       (1u << 14)
#define PD_MISC_SWITCH_PREEMPT (1u << 14)
#define PD_MISC_MMAP_BUILD_ID  (1u << 14)
#define PD_MISC_BUILD_ID_SIZE  (1u << 15)
#define PD_MISC_LOST_BPF       (1u << 15)

enum pd_cpumode {
	PD_CPUMODE_UNKNOWN,
	PD_CPUMODE_KERNEL,
	PD_CPUMODE_USER,
	PD_CPUMODE_HYPERVISOR,
	PD_CPUMODE_GUEST_KERNEL,
	PD_CPUMODE_GUEST_USER,
};

/* The header features that perflua itself needs; feature.c has the table of all. */
enum pd_feature_bit {
	PD_FEATURE_TRACING_DATA = 1,
	PD_FEATURE_BUILD_ID = 2,
	PD_FEATURE_HOSTNAME = 3,
	PD_FEATURE_OSRELEASE = 4,
	PD_FEATURE_VERSION = 5,
	PD_FEATURE_ARCH = 6,
	PD_FEATURE_NRCPUS = 7,
	PD_FEATURE_CPUDESC = 8,
	PD_FEATURE_CPUID = 9,
	PD_FEATURE_CMDLINE = 11,
	PD_FEATURE_EVENT_DESC = 12,
	PD_FEATURE_CPU_TOPOLOGY = 13,
	PD_FEATURE_BRANCH_STACK = 15,
	PD_FEATURE_PMU_MAPPINGS = 16,
	PD_FEATURE_GROUP_DESC = 17,
	PD_FEATURE_AUXTRACE = 18,
	PD_FEATURE_STAT = 19,
	PD_FEATURE_SAMPLE_TIME = 21,
	PD_FEATURE_CLOCKID = 23,
	PD_FEATURE_DIR_FORMAT = 24,
	PD_FEATURE_BPF_PROG_INFO = 25,
	PD_FEATURE_BPF_BTF = 26,
	PD_FEATURE_COMPRESSED = 27,
	PD_FEATURE_CLOCK_DATA = 29,
	PD_FEATURE_E_MACHINE = 33,
	PD_FEATURE_KNOWN = 34,	 /* the last of perf's; simpleperf and hiperf have others */
	PD_FEATURE_BUNDLE = 250, /* of perflua pack: symbols/bundle.h */
};

#endif
