/* The fields of lines: see all_output_options and output[], tools/perf/builtin-script.c. */
#include <string.h>

#include "line.h"

const char *const px_class_names[PX_CLASSES] = {
	"hw", "sw", "trace", "cache", "raw", "break", "other",
};

#define OF(class) (1u << PX_##class)
#define ALL	  ((1u << PX_CLASSES) - 1)
#define LOCATED	  (ALL & ~OF(TRACEPOINT)) /* classes whose lines show an address */
#define NO_TRACE  (ALL & ~OF(TRACEPOINT))

const struct px_field px_fields[] = {
	[PX_COMM] = { "comm", "name of the thread", ALL, 0, 0 },
	[PX_TID] = { "tid", "thread id", ALL, 0, PD_SAMPLE_TID },
	[PX_PID] = { "pid", "process id", 0, 0, PD_SAMPLE_TID },
	[PX_TIME] = { "time", "time in seconds", ALL, 0, PD_SAMPLE_TIME },
	[PX_CPU] = { "cpu", "processor", ALL, 0, PD_SAMPLE_CPU },
	[PX_EVENT] = { "event", "name of the event", ALL, 0, 0 },
	[PX_TRACE] = { "trace", "text of a tracepoint", OF(TRACEPOINT), NO_TRACE, 0 },
	[PX_IP] = { "ip", "address, or the call chain", LOCATED, 0, PD_SAMPLE_IP },
	[PX_SYM] = { "sym", "function at ip and at addr", LOCATED, 0, 0 },
	[PX_DSO] = { "dso", "binary at ip and at addr", LOCATED, 0, 0 },
	[PX_DSOFF] = { "dsoff", "binaries, with the address in them", 0, 0, 0 },
	[PX_ADDR] = { "addr", "address the event is about", OF(RAW), 0, PD_SAMPLE_ADDR },
	[PX_SYMOFF] = { "symoff", "offset in the function", LOCATED, 0, 0 },
	[PX_SRCLINE] = { "srcline", "source file and line of ip", 0, 0, 0 },
	[PX_PERIOD] = { "period", "events that the sample stands for", LOCATED, 0, 0 },
	[PX_IREGS] = { "iregs", "registers at the event", 0, 0, PD_SAMPLE_REGS_INTR },
	[PX_UREGS] = { "uregs", "registers of the user context", 0, 0, PD_SAMPLE_REGS_USER },
	[PX_BRSTACK] = { "brstack", "addresses of the last branches", 0, 0, 0 },
	[PX_BRSTACKSYM] = { "brstacksym", "functions of the last branches", 0, 0, 0 },
	[PX_DATA_SRC] = { "data_src", "where the access was served", OF(RAW), 0,
			  PD_SAMPLE_DATA_SRC },
	[PX_WEIGHT] = { "weight", "cost of the access", OF(RAW), 0,
			PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT },
	[PX_INS_LAT] = { "ins_lat", "latency of the instruction", OF(RAW), 0,
			 PD_SAMPLE_WEIGHT_STRUCT },
	[PX_BPF_OUTPUT] = { "bpf-output", "output of a BPF program", OF(SOFTWARE),
			    ALL & ~OF(SOFTWARE) & ~OF(TRACEPOINT), 0 },
	[PX_PHYS_ADDR] = { "phys_addr", "physical address of addr", OF(RAW), 0,
			   PD_SAMPLE_PHYS_ADDR },
	[PX_MISC] = { "misc", "cpumode: K kernel, U user", 0, 0, 0 },
	[PX_DATA_PAGE_SIZE] = { "data_page_size", "size of the page at addr", OF(RAW), 0,
				PD_SAMPLE_DATA_PAGE_SIZE },
	[PX_CODE_PAGE_SIZE] = { "code_page_size", "size of the page at ip", OF(RAW), 0,
				PD_SAMPLE_CODE_PAGE_SIZE },
	[PX_MACHINE_PID] = { "machine_pid", "process of the guest", 0, 0, 0 },
	[PX_VCPU] = { "vcpu", "virtual processor of the guest", 0, 0, 0 },
	[PX_CGROUP] = { "cgroup", "path of the control group", 0, 0, PD_SAMPLE_CGROUP },
	[PX_RETIRE_LAT] = { "retire_lat", "latency of the instruction's retirement", OF(RAW), 0,
			    PD_SAMPLE_WEIGHT_STRUCT },
	[PX_TOD] = { "tod", "time of day, local", 0, 0, PD_SAMPLE_TIME },
	[PX_INSN] = { "insn", "bytes of the instruction at ip", 0, 0, PD_SAMPLE_IP },
	[PX_INSNLEN] = { "insnlen", "number of these bytes", 0, 0, PD_SAMPLE_IP },
	[PX_DISASM] = { "disasm", "the instruction at ip", 0, 0, PD_SAMPLE_IP },
	[PX_SRCCODE] = { "srccode", "text of the source line of ip", 0, 0, PD_SAMPLE_IP },
	[PX_FIELDS] = { NULL, NULL, 0, 0, 0 },
};

int px_field_find(const char *name)
{
	for (int i = 0; px_fields[i].name; i++)
		if (strcmp(px_fields[i].name, name) == 0)
			return i;
	return -1;
}

/*
 * In the order of a line: see process_event. px_compile() chooses the step of ip, and those
 * that write several fields.
 */
static const struct {
	uint64_t field;
	px_step *step;
} steps[] = {
	{ PX_MACHINE_PID, px_machine_pid },
	{ PX_VCPU, px_vcpu },
	{ PX_COMM, px_thread },
	{ PX_PID, px_thread },
	{ PX_TID, px_thread },
	{ PX_CPU, px_cpu },
	{ PX_MISC, px_misc },
	{ PX_TOD, px_tod },
	{ PX_TIME, px_time },
	{ PX_PERIOD, px_period },
	{ PX_EVENT, px_event_name },
	{ PX_TRACE, px_trace },
	{ PX_ADDR, px_addr },
	{ PX_DATA_SRC, px_data_src },
	{ PX_WEIGHT, px_weight },
	{ PX_INS_LAT, px_ins_lat },
	{ PX_RETIRE_LAT, px_retire_lat },
	{ PX_CGROUP, px_cgroup },
	{ PX_IP, px_ip },
	{ PX_IREGS, px_iregs },
	{ PX_UREGS, px_uregs },
	{ PX_BRSTACK, px_brstack },
	{ PX_BRSTACKSYM, px_brstacksym },
	{ PX_BPF_OUTPUT, px_bpf_output },
	{ PX_INSNLEN, px_insnlen },
	{ PX_INSN, px_insn },
	{ PX_DISASM, px_disasm },
	{ PX_PHYS_ADDR, px_phys_addr },
	{ PX_DATA_PAGE_SIZE, px_data_page_size },
	{ PX_CODE_PAGE_SIZE, px_code_page_size },
	{ PX_SRCCODE, px_srccode },
};

void px_compile(struct px_event *event)
{
	uint64_t fields = event->fields, counted = PX_BIT(PX_PERIOD) | PX_BIT(PX_EVENT);

	if (fields & PX_BIT(PX_BRSTACK))
		fields &= ~PX_BIT(PX_BRSTACKSYM);
	for (unsigned i = PX_COMM; i <= PX_PID; i++)
		event->thread_form |= (uint8_t)(fields & PX_BIT(i));
	event->thread_form |= (uint8_t)(event->in_chain << (PX_PID + 1));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		px_step *step = steps[i].step;

		if (!(fields & PX_BIT(steps[i].field)))
			continue;
		if (steps[i].field == PX_IP && event->in_chain)
			step = px_callchain;
		else if ((fields & counted) == counted && steps[i].field == PX_PERIOD)
			step = px_period_event;
		else if ((fields & counted) == counted && steps[i].field == PX_EVENT)
			continue;
		if (event->n && event->steps[event->n - 1] == step)
			continue; /* it writes that field, too */
		event->steps[event->n++] = step;
	}
}
