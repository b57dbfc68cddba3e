/* Shared by the steps of a line. A step writes one field of a sample. */
#ifndef PERFLUA_SCRIPT_LINE_H
#define PERFLUA_SCRIPT_LINE_H

#include <time.h>

#include "base/string_builder.h"
#include "script.h"

/* Numbers in px_fields[]. */
enum {
	PX_COMM,
	PX_TID,
	PX_PID,
	PX_TIME,
	PX_CPU,
	PX_EVENT,
	PX_TRACE,
	PX_IP,
	PX_SYM,
	PX_DSO,
	PX_DSOFF,
	PX_ADDR,
	PX_SYMOFF,
	PX_SRCLINE,
	PX_PERIOD,
	PX_IREGS,
	PX_UREGS,
	PX_BRSTACK,
	PX_BRSTACKSYM,
	PX_DATA_SRC,
	PX_WEIGHT,
	PX_INS_LAT,
	PX_BPF_OUTPUT,
	PX_PHYS_ADDR,
	PX_MISC,
	PX_DATA_PAGE_SIZE,
	PX_CODE_PAGE_SIZE,
	PX_MACHINE_PID,
	PX_VCPU,
	PX_CGROUP,
	PX_RETIRE_LAT,
	PX_TOD,
	PX_INSN,
	PX_INSNLEN,
	PX_DISASM,
	PX_SRCCODE,
	PX_FIELDS
};

#define PX_BIT(field) (UINT64_C(1) << (field))

/* Numbers of field names (perfdata's names.h). */
struct px_field_ids {
	unsigned pid, tid, time, cpu, period, ip, addr, weight, ins_lat, retire_lat, phys_addr,
		data_src;
	unsigned data_page_size, code_page_size, callchain, branch_stack, regs_user, regs_intr;
	unsigned raw;
};

struct px_line;
typedef void px_step(struct px_line *line);

#define PX_PERIOD_MOST 21 /* characters of a period, and the blank after it */

/* The text of a period with the name of its event, as last written. */
struct px_counted {
	uint64_t period;
	size_t n; /* 0: it is not kept */
	char text[64];
};

/* The text of the second, of a time, that was last written. */
struct px_second {
	uint64_t from; /* ns */
	size_t n;      /* 0: none yet */
	char text[24];
};

#define PX_THREAD_BITS 8 /* texts that are kept, as a power of two */

/* The text of a thread: the fields that px_thread() writes. */
struct px_thread_text {
	uint64_t taken;		    /* revision of the system, plus 1; 0: free */
	struct pd_time_range times; /* at which it is right */
	int64_t pid, tid;
	uint16_t source; /* number of the recording */
	uint8_t form;	 /* see px_event */
	uint8_t n;
	char text[64];
};

struct px_event {
	const struct pd_event *event;
	uint64_t fields;
	struct pb_string name; /* with its padding and colon */
	bool in_chain;	       /* ip shows a call chain */
	bool data_addr;	       /* addr is an address of data */
	bool unwound;	       /* user frames of call chains are found by unwinding */
	uint8_t thread_form;   /* events whose threads are written alike have the same */
	struct px_counted counted;
	unsigned n;
	px_step *steps[PX_FIELDS];
};

struct px_script {
	struct px_options options;
	struct px_field_ids ids;
	struct px_event **events; /* [n_events], by number; NULL: not met yet */
	size_t n_events;
	bool begun;	      /* the following is decided */
	bool use_callchains;  /* some event has them, and they are shown */
	size_t name_width;    /* width of the longest name of an event */
	size_t data_src_size; /* size of the longest data_src so far */
	struct px_located *located;
	unsigned text;	   /* enum pd_perf_text */
	unsigned id_width; /* width of pid and tid */
	bool timed;	   /* a line with a time was written: */
	uint64_t since;	   /* ns: that time from which the next one counts; see times */
	time_t day_second; /* time of day_text in s; 0: none */
	char day_text[32]; /* "2026-11-20 12:28:18" */
	struct px_second second;
	struct px_thread_text threads[1 << PX_THREAD_BITS];
	struct px_sources *sources; /* see code.c; NULL: not needed yet */
};

#define PX_UNASKED UINT64_MAX /* for px_line.numbers */

/* The sample that is being written. */
struct px_line {
	struct px_script *script;
	struct px_event *event;
	struct pd_print *out;
	const struct pd_record *rec;
	struct pm_addr_context context;
	bool context_known; /* `context` is set */
	bool by_time;	    /* what was looked up is of that time only */
	/* of the mappings at addresses of users, and of the kernel: px_located_number() */
	uint64_t numbers[2];
	enum {
		PX_NO,
		PX_YES,
		PX_UNKNOWN
	} maps_lost; /* see has_lost_maps() */
};

/* Returns an integer of the sample; `fallback`, perf's value for it, if it was not recorded. */
static inline int64_t px_integer(const struct px_line *line, unsigned id, int64_t fallback)
{
	int64_t v;

	return pm_integer(line->rec, id, &v) ? v : fallback;
}

/*
 * Find what is at an address of data, and at an end of a branch, which is looked up in the mode
 * that the address implies.
 */
void px_find_data_location(struct px_line *line, uint64_t address,
			   struct pm_location *location);
void px_find_branch_location(struct px_line *line, uint64_t address,
			     struct pm_location *location);

/* Writes "name+0x12", "name" or "[unknown]". */
void px_print_symbol(struct pd_print *out, const struct pm_location *location, bool offset);
/* Writes "(dso)". */
void px_print_dso(struct px_line *line, const struct pm_location *location);

px_step px_thread, px_cpu, px_misc, px_tod, px_time, px_period, px_event_name, px_period_event,
	px_trace;
px_step px_machine_pid, px_vcpu;
px_step px_addr, px_data_src, px_weight, px_ins_lat, px_retire_lat, px_cgroup;
px_step px_ip, px_callchain;
px_step px_iregs, px_uregs, px_brstack, px_brstacksym, px_bpf_output;
px_step px_phys_addr, px_data_page_size, px_code_page_size;
px_step px_insn, px_insnlen, px_disasm, px_srccode;

/* Frees what px_srccode() remembers. */
void px_sources_destroy(struct px_sources *sources);

/* Sets the steps of an event, whose fields are set. */
void px_compile(struct px_event *event);

#endif
