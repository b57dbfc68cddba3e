/*
 * The fields of samples, by the part they lie in: see enum perf_event_sample_format and
 * perf_output_sample, kernel/events/core.c.
 */
#include "coder.h"
#include "event.h"
#include "rows.h"
#include "views.h"

/*
 * A sample without a recorded period stands for as many events as the fixed period of its
 * event.
 */
static void compute_period(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	const struct pd_event *event = pd_recorded_event(rec);
	const struct pd_attr *attr = event ? &event->attr : NULL;
	bool fixed = attr && !(attr->flags & PD_ATTR_FREQ) && attr->sample_period;

	(void)at;
	pd_set_uint(out, PD_UINT, fixed ? attr->sample_period : 1);
}

/* Fields of samples that stand for one counter value: see counters.h. */
static void compute_counter_id(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	pd_set_uint(out, PD_UINT, rec->counter);
}

static void compute_counter_period(const struct pd_record *rec, uint32_t at,
				   struct pd_value *out)
{
	(void)at;
	pd_set_uint(out, PD_UINT, rec->counted);
}

const struct pd_field pd_split_fields[] = {
	{ COMPUTED(UINT, "id", 0, compute_counter_id,
		   "Id of the counter that the sample stands for.") },
	{ COMPUTED(UINT, "period", 0, compute_counter_period,
		   "Events that the counter counted since its previous value.") },
	END_OF_FIELDS,
};

_Static_assert(sizeof(pd_split_fields) <= PD_MAX_SPLIT * sizeof(pd_split_fields[0]),
	       "too many fields of split samples");

/* Raw data and AUX data: a size in 4 or 8 bytes, then the data. */
static void compute_raw(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, 4) && pd_fits(rec, at + 4, pd_rec32(rec, at)))
		pd_set_bytes(out, PD_BLOB, rec->bytes + at + 4, pd_rec32(rec, at));
}

static void compute_aux(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, 8) && pd_fits(rec, at + 8, pd_rec64(rec, at)))
		pd_set_bytes(out, PD_BLOB, rec->bytes + at + 8, (size_t)pd_rec64(rec, at));
}

/*
 * A copy of the user stack. The size of its valid part follows the data, unless there is no
 * data.
 */
static void compute_stack_user(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	uint64_t size, valid = 0;

	if (!pd_fits(rec, at, 8))
		return;
	size = pd_rec64(rec, at);
	at += 8;
	if (!pd_fits(rec, at, size))
		return;
	if (size) {
		if (!pd_fits(rec, at + (uint32_t)size, 8))
			return;
		valid = pd_rec64(rec, at + (uint32_t)size);
	}
	pd_set_bytes(out, PD_BLOB, rec->bytes + at, (size_t)(valid < size ? valid : size));
}

/*
 * Loads the weight: one number, or three packed into it (*packed): see union
 * perf_sample_weight.
 */
static uint64_t load_weights(const struct pd_record *rec, uint32_t at, bool *packed)
{
	*packed = rec->layout->shape->sample_type & PD_SAMPLE_WEIGHT_STRUCT;
	return pd_rec64(rec, at);
}

static void compute_weight(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	bool packed;
	uint64_t w;

	if (!pd_fits(rec, at, 8))
		return;
	w = load_weights(rec, at, &packed);
	pd_set_uint(out, PD_UINT, packed ? (uint32_t)w : w);
}

static void compute_ins_lat(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	bool packed;
	uint64_t w;

	if (!pd_fits(rec, at, 8))
		return;
	w = load_weights(rec, at, &packed);
	if (packed)
		pd_set_uint(out, PD_UINT, w >> 32 & 0xffff);
}

static void compute_retire_lat(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	bool packed;
	uint64_t w;

	if (!pd_fits(rec, at, 8))
		return;
	w = load_weights(rec, at, &packed);
	if (packed)
		pd_set_uint(out, PD_UINT, w >> 48);
}

static void compute_socket(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	const struct pd_sockets *sockets = rec->layout->shape->sockets;
	uint32_t cpu = pd_fits(rec, at, 4) ? pd_rec32(rec, at) : UINT32_MAX;

	if (cpu >= sockets->n)
		return;
	out->type = PD_INT;
	out->i = sockets->list[cpu];
}

static void code_raw(struct pd_coder *c, const struct pd_field *field)
{
	pd_code_sized(c, field->name, 4);
}

static void code_aux(struct pd_coder *c, const struct pd_field *field)
{
	pd_code_sized(c, field->name, 8);
}

/* Codes the copy of the stack, and the size of its valid part if that is another. */
static void code_stack_user(struct pd_coder *c, const struct pd_field *field)
{
	uint64_t size = pd_code_sized(c, field->name, 8), valid = size;

	if (!size)
		return;
	if (!c->encodes)
		valid = pd_code_load(c, 8);
	if (c->encodes ? pd_code_find(c, "dyn_size") != NULL : valid != size)
		valid = pd_code_value(c, "dyn_size", valid, 8, PD_AS_UINT);
	if (c->encodes)
		pd_code_store(c, 8, valid);
}

static void code_weights(struct pd_coder *c, const struct pd_field *field)
{
	uint64_t word;

	if (!(c->shape->sample_type & PD_SAMPLE_WEIGHT_STRUCT)) {
		pd_code_int(c, field->name, 8, PD_AS_UINT);
		return;
	}
	word = c->encodes ? 0 : pd_code_load(c, 8);
	word = pd_code_value(c, field->name, word & UINT32_MAX, 4, PD_AS_UINT) |
	       pd_code_value(c, "ins_lat", word >> 32 & UINT16_MAX, 2, PD_AS_UINT) << 32 |
	       pd_code_value(c, "retire_lat", word >> 48, 2, PD_AS_UINT) << 48;
	if (c->encodes)
		pd_code_store(c, 8, word);
}

const struct pd_field pd_sample_fields[] = {
	{ FIELD(X64, "ip", 0, "Address of the instruction."), .part = PD_PART_IP },
	{ FIELD(S32, "pid", 0, "Process id; -1 if it has none any more."),
	  .part = PD_PART_TID },
	{ FIELD(S32, "tid", 4, "Thread id; -1 if it has none any more."), .part = PD_PART_TID },
	{ FIELD(U64, "time", 0, "Nanoseconds of the recording's clock."), .part = PD_PART_TIME,
	  .is_time = true },
	{ FIELD(X64, "addr", 0,
		"Address that the event is about: that of the data, of the breakpoint …"),
	  .part = PD_PART_ADDR },
	{ FIELD(U64, "id", 0, "Id of the event."), .part = PD_PART_ID },
	{ FIELD(U64, "id", 0, "Id of the event."), .part = PD_PART_IDENTIFIER },
	{ FIELD(U64, "stream_id", 0, "Id of the event's instance."),
	  .part = PD_PART_STREAM_ID },
	{ FIELD(S32, "cpu", 0, "Processor."), .part = PD_PART_CPU },
	{ COMPUTED(INT, "socket", 0, compute_socket,
		   "Socket of the processor; nil if the recording does not tell."),
	  .part = PD_PART_CPU, .header = true },
	{ FIELD(U64, "period", 0,
		"Number of events that the sample stands for: the recorded one, else the "
		"event's sample_period if that is fixed, else 1."),
	  .part = PD_PART_PERIOD },
	{ COMPUTED(UINT, "period", 0, compute_period,
		   "Events the sample stands for: the event's sample_period if that is fixed, "
		   "else 1."),
	  .of_layout = true },
	{ FLAG("exact_ip", 14, "True if ip is exactly the instruction of the event.") },
	{ VIEWED(read, "read", 0, "Counters read with the sample."), .part = PD_PART_READ },
	{ VIEWED(callchain, "callchain", 0, "The call chain, callee first."),
	  .part = PD_PART_CALLCHAIN },
	{ COMPUTED(BLOB, "raw", 0, compute_raw,
		   "Raw data; those of a tracepoint are its fields."),
	  .part = PD_PART_RAW, .code = code_raw },
	{ VIEWED(branch_stack, "branch_stack", 0, "The latest taken branches, newest first."),
	  .part = PD_PART_BRANCH_STACK },
	{ VIEWED(regs_user, "regs_user", 0, "Registers of the user context."),
	  .part = PD_PART_REGS_USER },
	{ COMPUTED(BLOB, "stack_user", 0, compute_stack_user,
		   "The user stack from its pointer on."),
	  .part = PD_PART_STACK_USER, .code = code_stack_user },
	{ COMPUTED(UINT, "weight", 0, compute_weight,
		   "Cost of the access, mostly its latency in cycles."),
	  .part = PD_PART_WEIGHT, .code = code_weights },
	{ COMPUTED(UINT, "ins_lat", 0, compute_ins_lat,
		   "Latency of the instruction in cycles; nil if only one weight is recorded."),
	  .part = PD_PART_WEIGHT },
	{ COMPUTED(UINT, "retire_lat", 0, compute_retire_lat,
		   "Cycles from the previous instruction's retirement (x86) or of the "
		   "pipeline stage "
		   "(powerpc); nil if only one weight is recorded."),
	  .part = PD_PART_WEIGHT },
	{ VIEWED(data_src, "data_src", 0, "Description of the memory access."),
	  .part = PD_PART_DATA_SRC },
	{ FIELD(X64, "transaction", 0,
		"Hardware transaction: 1 elision, 2 transaction, 4 synchronous, 8 "
		"asynchronous, 0x10 "
		"retry, 0x20 conflict, 0x40 capacity of writes, 0x80 of reads; from bit 32 "
		"on the "
		"abort code."),
	  .part = PD_PART_TRANSACTION },
	{ VIEWED(regs_intr, "regs_intr", 0, "Registers where the event happened."),
	  .part = PD_PART_REGS_INTR },
	{ FIELD(X64, "phys_addr", 0, "Physical address of addr; 0 if it is not known."),
	  .part = PD_PART_PHYS_ADDR },
	{ FIELD(U64, "cgroup", 0, "Id of the control group."), .part = PD_PART_CGROUP },
	{ OF_SYSTEM(STR, "cgroup_path", CGROUP_PATH, "Path of the control group."),
	  .part = PD_PART_CGROUP },
	{ FIELD(U64, "data_page_size", 0, "Bytes of the page at addr; 0 if unknown."),
	  .part = PD_PART_DATA_PAGE_SIZE },
	{ FIELD(U64, "code_page_size", 0, "Bytes of the page at ip; 0 if unknown."),
	  .part = PD_PART_CODE_PAGE_SIZE },
	{ COMPUTED(BLOB, "aux", 0, compute_aux, "A piece of the AUX area."),
	  .part = PD_PART_AUX, .code = code_aux },
	{ OF_SYSTEM(STR, "symbol", SYMBOL, "Function at ip; nil if it is not known."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(UINT, "symoff", SYMOFF, "Bytes from the start of the function to ip."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "dso", DSO, "Binary that was mapped at ip, as perf names it."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "srcline", SRCLINE,
		    "Source file and line of ip; nil without debug information."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "srcfile", SRCFILE,
		    "Source file of ip; nil without debug information."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(UINT, "symbol_size", SYMBOL_SIZE, "Bytes of the function at ip."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(UINT, "dso_size", DSO_SIZE,
		    "Bytes that are mapped at ip; of a kernel whose kallsyms was found, those "
		    "from its first symbol to the end of the last one, as in perf report."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "parent", PARENT,
		    "First function of the call chain, callee first, that is named sys_* or "
		    "do_page_fault*, as in perf report; \"[other]\" if there is none."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "comm_nodigit", COMM_NODIGIT,
		    "Name of the thread with <N> for the numbers in it."),
	  .part = PD_PART_TID },
	{ OF_SYSTEM(VIEW, "map", MAP, "The mapping that covered ip then."), .part = PD_PART_IP,
	  .view = &pd_view_map },
	{ OF_SYSTEM(STR, "symbol_daddr", SYMBOL_DADDR,
		    "Symbol at addr; nil if it is not known."),
	  .part = PD_PART_ADDR },
	{ OF_SYSTEM(UINT, "symoff_daddr", SYMOFF_DADDR,
		    "Bytes from the start of that symbol to addr."),
	  .part = PD_PART_ADDR },
	{ OF_SYSTEM(STR, "dso_daddr", DSO_DADDR, "Binary that was mapped at addr."),
	  .part = PD_PART_ADDR },
	{ OF_SYSTEM(STR, "stack", STACK,
		    "The call chain in one string: functions, caller first, joined by \";\"."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "annotated_stack", ANNOTATED_STACK,
		    "The text of stack with _[k] after the names of kernel frames and _[j] "
		    "after those of code made at run time, as flame graph tools take it."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "frames", FRAMES,
		    "The call chain as text, a line for each frame, callee first: level, "
		    "binary, tab, function; "
		    "or tab, address."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(ADDR, "unresolved", UNRESOLVED,
		    "Address of ip in its binary, if no function is known there; else nil."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "insn", INSN,
		    "Bytes of the instruction at ip, in hex; nil if the code is not there."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(UINT, "insnlen", INSNLEN, "Number of these bytes."), .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "disasm", DISASM,
		    "The instruction at ip as text, as perflua annotate has it."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(STR, "srccode", SRCCODE,
		    "Text of the source line of ip; nil if the file is not there."),
	  .part = PD_PART_IP },
	{ OF_SYSTEM(UINT, "machine_pid", MACHINE_PID,
		    "Process id of the guest's virtual machine; nil if the sample is not of a "
		    "guest.") },
	{ OF_SYSTEM(UINT, "vcpu", VCPU,
		    "Virtual processor of the guest; nil if the sample is not of a guest.") },
	{ VIEWED(args, "args", 0, "A tracepoint's fields by name."), .part = PD_PART_RAW },
	{ COMPUTED(STR, "syscall", 0, pd_field_syscall,
		   "Name of the system call of a sample of raw_syscalls:* or syscalls:*; "
		   "nil if it has none."),
	  .part = PD_PART_RAW, .is_interned = true },
	{ COMPUTED(STR, "errno", 0, pd_field_errno,
		   "Name of the error that the system call returned, in samples of "
		   "sys_exit*; nil if it returned none."),
	  .part = PD_PART_RAW, .is_interned = true },
	{ OF_SYSTEM(STR, "message", MESSAGE,
		    "A tracepoint's formatted text, as perf script shows it."),
	  .part = PD_PART_RAW },
	{ OF_SYSTEM(STR, "raw_message", RAW_MESSAGE,
		    "The fields of a tracepoint, name=value, as perf report --raw-trace shows "
		    "them."),
	  .part = PD_PART_RAW },
	END_OF_FIELDS,
};

_Static_assert(sizeof(pd_sample_fields) <= PD_MAX_FIELDS * sizeof(pd_sample_fields[0]),
	       "too many fields of samples");
