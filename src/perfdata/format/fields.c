/*
 * The types of the kernel's records, with their fields: see enum perf_event_type,
 * include/uapi/linux/perf_event.h. Those that perf writes itself are in fields_user.c.
 */
#include "fields.h"

#include <string.h>

#include "coder.h"
#include "event.h"
#include "rows.h"
#include "views.h"

static void compute_old_bytes(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, 16, 4) && pd_fits(rec, at, pd_rec16(rec, 16)))
		pd_set_bytes(out, PD_BLOB, rec->bytes + at, pd_rec16(rec, 16));
}

static void compute_new_bytes(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (!pd_fits(rec, 16, 4))
		return;
	at += pd_rec16(rec, 16);
	if (pd_fits(rec, at, pd_rec16(rec, 18)))
		pd_set_bytes(out, PD_BLOB, rec->bytes + at, pd_rec16(rec, 18));
}

static void compute_unregister(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (pd_fits(rec, at, 2))
		pd_set_uint(out, PD_BOOL, pd_rec16(rec, at) & 1);
}

static void compute_restated(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	(void)at;
	if (pd_record_restated(rec))
		pd_set_uint(out, PD_BOOL, 1);
}

/* A field of the types whose body begins with a pid, and which perf also writes itself. */
#define RESTATED                                                                             \
	{                                                                                    \
		COMPUTED(BOOL, "restated", 8, compute_restated,                              \
			 "True if perf found it when it began to record a part of a merged " \
			 "recording: time is that beginning; else nil.")                     \
	}

#define MMAP2_INODE 40
#define MMAP2_PROT  64

/*
 * The flag alone does not say that a build-id is there: while one recorder asks for build-ids,
 * Linux 6.18 sets it in the records of others, too (perf_event_mmap_output(),
 * kernel/events/core.c, changes the header that all of them get). So the bytes must be a size
 * of at most 20, three zeros, the build-id, and zeros up to 20 bytes; and short build-ids,
 * which may be a device and an inode, are believed only if the event asked for them.
 */
bool pd_mmap2_has_build_id(const struct pd_record *rec)
{
	static const uint8_t zeros[20];
	const uint8_t *p = rec->bytes + MMAP2_INODE;

	if (!(rec->misc & PD_MISC_MMAP_BUILD_ID) || !pd_fits(rec, MMAP2_INODE, 24))
		return false;
	if (p[0] < 16 && !(rec->event && rec->event->attr.flags & PD_ATTR_BUILD_ID))
		return false;
	return p[0] <= sizeof(zeros) && memcmp(p + 1, zeros, 3) == 0 &&
	       memcmp(p + 4 + p[0], zeros, sizeof(zeros) - p[0]) == 0;
}

static void compute_mmap2_build_id(const struct pd_record *rec, uint32_t at,
				   struct pd_value *out)
{
	if (pd_mmap2_has_build_id(rec) && rec->bytes[at])
		pd_set_bytes(out, PD_HEX, rec->bytes + at + 4, rec->bytes[at]);
}

static void compute_mmap2_device(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (!pd_mmap2_has_build_id(rec) && pd_fits(rec, at, 4))
		pd_set_uint(out, PD_UINT, pd_rec32(rec, at));
}

static void compute_mmap2_inode(const struct pd_record *rec, uint32_t at, struct pd_value *out)
{
	if (!pd_mmap2_has_build_id(rec) && pd_fits(rec, at, 8))
		pd_set_uint(out, PD_UINT, pd_rec64(rec, at));
}

/* Codes what identifies the file: device and inode, or a build-id. */
static void code_mmap2_file(struct pd_coder *c, const struct pd_field *field)
{
	uint32_t end = c->at + 24;
	bool has_build_id = c->encodes ? pd_code_find(c, "build_id") != NULL :
					 pd_mmap2_has_build_id(c->rec);
	uint32_t size;

	(void)field;
	if (!has_build_id) {
		pd_code_int(c, "maj", 4, PD_AS_UINT);
		pd_code_int(c, "min", 4, PD_AS_UINT);
		pd_code_int(c, "ino", 8, PD_AS_UINT);
		pd_code_int(c, "ino_generation", 8, PD_AS_UINT);
		return;
	}
	if (c->encodes) {
		size = pd_code_size(c, "build_id", 20);
		c->misc |= PD_MISC_MMAP_BUILD_ID;
		pd_code_store(c, 1, size);
	} else {
		size = (uint32_t)pd_code_load(c, 1);
	}
	pd_code_pad(c, 3);
	pd_code_bytes(c, "build_id", size);
	if (c->at < end)
		pd_code_pad(c, end - c->at);
}

/*
 * Returns whether the record has prot and flags. Linux 3.12 to 3.15 wrote the filename at their
 * offset. No field says so, but a name has more than two bytes, and prot is a small number; in
 * records of perf inject --jit it is a file's mode, see jit_repipe_code_load,
 * tools/perf/util/jitdump.c.
 */
static bool mmap2_has_protection(const struct pd_record *rec)
{
	return pd_fits(rec, MMAP2_PROT, 8) && pd_rec32(rec, MMAP2_PROT) <= UINT16_MAX;
}

static void compute_mmap2_protection(const struct pd_record *rec, uint32_t at,
				     struct pd_value *out)
{
	if (mmap2_has_protection(rec))
		pd_set_uint(out, PD_ADDR, pd_rec32(rec, at));
}

static void compute_mmap2_filename(const struct pd_record *rec, uint32_t at,
				   struct pd_value *out)
{
	at += mmap2_has_protection(rec) ? 8 : 0;
	if (pd_fits(rec, at, 1))
		pd_set_text(out, rec->bytes + at, pd_body_end(rec) - at);
}

/* Codes the protection, and the name after it. */
static void code_mmap2_protection(struct pd_coder *c, const struct pd_field *field)
{
	(void)field;
	if (c->encodes || mmap2_has_protection(c->rec)) {
		pd_code_int(c, "prot", 4, PD_AS_HEX);
		pd_code_int(c, "flags", 4, PD_AS_HEX);
	}
	pd_code_text(c, "filename", 0, 8);
}

static uint32_t measure_mmap2_end(const struct pd_record *rec)
{
	uint32_t at = mmap2_has_protection(rec) ? 8 : 0;
	uint32_t text = pd_measure_text(rec, MMAP2_PROT + at);

	return text == UINT32_MAX ? text : at + text;
}

static uint32_t measure_code(const struct pd_record *rec)
{
	return pd_fits(rec, 16, 4) ? pd_rec16(rec, 16) + pd_rec16(rec, 18) : UINT32_MAX;
}

#define MMAP_FIELDS                                                                   \
	{ FIELD(S32, "pid", 8, "Process that has the mapping; -1 for the kernel.") }, \
		{ FIELD(S32, "tid", 12, "Thread that made the mapping.") },           \
		{ FIELD(X64, "addr", 16, "Address of its first byte.") },             \
		{ FIELD(U64, "len", 24, "Its length in bytes.") },                    \
	{                                                                             \
		FIELD(X64, "pgoff", 32,                                               \
		      "Offset in the file, in bytes, that is mapped at addr.")        \
	}

#define MMAP_DATA(n)                                                        \
	{                                                                   \
		FLAG(n, 13, "True if the mapping has no right to execute.") \
	}

static const struct pd_field mmap_fields[] = {
	MMAP_FIELDS,
	{ FIELD(CSTR, "filename", 40, "The file, or a name like \"[vdso]\" or \"//anon\".") },
	MMAP_DATA("data"),
	RESTATED,
	END_OF_FIELDS,
};

static const struct pd_field mmap2_fields[] = {
	MMAP_FIELDS,
	{ COMPUTED(UINT, "maj", MMAP2_INODE, compute_mmap2_device,
		   "Major device number of the file; nil when build_id is recorded."),
	  .code = code_mmap2_file },
	{ COMPUTED(UINT, "min", MMAP2_INODE + 4, compute_mmap2_device,
		   "Minor device number of the file; nil when build_id is recorded.") },
	{ COMPUTED(UINT, "ino", MMAP2_INODE + 8, compute_mmap2_inode,
		   "Inode of the file; nil when build_id is recorded.") },
	{ COMPUTED(UINT, "ino_generation", MMAP2_INODE + 16, compute_mmap2_inode,
		   "Generation of the inode; nil when build_id is recorded.") },
	{ COMPUTED(HEX, "build_id", MMAP2_INODE, compute_mmap2_build_id,
		   "Build-id of the file in hex; nil when its inode is recorded.") },
	{ COMPUTED(ADDR, "prot", MMAP2_PROT, compute_mmap2_protection,
		   "Protection: 1 read, 2 write, 4 execute; nil before Linux 3.16."),
	  .code = code_mmap2_protection },
	{ COMPUTED(ADDR, "flags", MMAP2_PROT + 4, compute_mmap2_protection,
		   "MAP_* flags: 1 shared, 2 private …; nil before Linux 3.16.") },
	{ COMPUTED(STR, "filename", MMAP2_PROT, compute_mmap2_filename,
		   "The file, or a name like \"[vdso]\" or \"//anon\".") },
	MMAP_DATA("data"),
	RESTATED,
	END_OF_FIELDS,
};

static const struct pd_field lost_fields[] = {
	{ FIELD(U64, "id", 8, "Id of the event that noticed."), .zero_is_absent = true },
	{ FIELD(U64, "lost", 16,
		"Number of records that the ring buffer had no room for since the last "
		"such record.") },
	END_OF_FIELDS,
};

static const struct pd_field comm_fields[] = {
	{ FIELD(S32, "pid", 8, "Process whose thread is named.") },
	{ FIELD(S32, "tid", 12, "Thread that is named.") },
	{ FIELD(CSTR, "comm", 16, "The new name.") },
	{ FLAG("exec", 13, "True if exec() named the thread.") },
	RESTATED,
	END_OF_FIELDS,
};

#define TASK_FIELDS                                                              \
	{ FIELD(S32, "pid", 8, "Process of the thread.") },                      \
		{ FIELD(S32, "ppid", 12, "Process of the thread's parent.") },   \
		{ FIELD(S32, "tid", 16, "The thread.") },                        \
		{ FIELD(S32, "ptid", 20, "The thread's parent.") },              \
	{                                                                        \
		FIELD(U64, "time", 24, "Nanoseconds of the recording's clock."), \
			.is_time = true, .zero_is_absent = true                  \
	}

static const struct pd_field exit_fields[] = {
	TASK_FIELDS,
	END_OF_FIELDS,
};

static const struct pd_field fork_fields[] = {
	TASK_FIELDS,
	{ FLAG("exec", 13,
	       "True if perf wrote the record for a thread that it found, whose mappings "
	       "follow.") },
	RESTATED,
	END_OF_FIELDS,
};

static const struct pd_field throttle_fields[] = {
	{ FIELD(U64, "time", 8, "Nanoseconds of the recording's clock."), .is_time = true,
	  .zero_is_absent = true },
	{ FIELD(U64, "id", 16, "Id of the event."), .zero_is_absent = true },
	{ FIELD(U64, "stream_id", 24, "Id of the event's instance."), .zero_is_absent = true },
	END_OF_FIELDS,
};

static const struct pd_field read_fields[] = {
	{ FIELD(S32, "pid", 8, "Process that was counted.") },
	{ FIELD(S32, "tid", 12, "Thread that was counted.") },
	{ VIEWED(read, "read", 16, "The counters of the thread at its exit.") },
	END_OF_FIELDS,
};

static const struct pd_field aux_fields[] = {
	{ FIELD(X64, "aux_offset", 8, "Offset of the data in the AUX area, in bytes.") },
	{ FIELD(U64, "aux_size", 16, "Bytes of data.") },
	{ FIELD(X64, "flags", 24,
		"1 truncated, 2 overwritten, 4 has gaps, 8 collided; bits 8 to 15: the PMU's "
		"format.") },
	END_OF_FIELDS,
};

static const struct pd_field itrace_start_fields[] = {
	{ FIELD(S32, "pid", 8, "Process that is traced.") },
	{ FIELD(S32, "tid", 12, "Thread that is traced.") },
	END_OF_FIELDS,
};

static const struct pd_field lost_samples_fields[] = {
	{ FIELD(U64, "lost", 8, "Number of lost samples.") },
	{ FLAG("bpf", 15, "True if a BPF filter dropped the samples.") },
	END_OF_FIELDS,
};

#define SWITCH_FIELDS                                                                      \
	{ FLAG("out", 13,                                                                  \
	       "True if the thread was switched out, false if it was switched in.") },     \
	{                                                                                  \
		FLAG("preempt", 14,                                                        \
		     "True if the thread was switched out although it could have run on.") \
	}

static const struct pd_field switch_fields[] = {
	SWITCH_FIELDS,
	END_OF_FIELDS,
};

static const struct pd_field switch_cpu_wide_fields[] = {
	{ FIELD(S32, "next_prev_pid", 8,
		"Process of the thread that runs next, or ran before.") },
	{ FIELD(S32, "next_prev_tid", 12, "Thread that runs next (out), or ran before (in).") },
	SWITCH_FIELDS,
	END_OF_FIELDS,
};

static const struct pd_field namespaces_fields[] = {
	{ FIELD(S32, "pid", 8, "Process of the thread.") },
	{ FIELD(S32, "tid", 12, "The thread.") },
	{ VIEWED(namespaces, "namespaces", 16, "The namespaces it is in.") },
	RESTATED,
	END_OF_FIELDS,
};

static const struct pd_field ksymbol_fields[] = {
	{ FIELD(X64, "addr", 8, "Address of the code.") },
	{ FIELD(U32, "len", 16, "Its length in bytes; 0 if it is not compiled.") },
	{ FIELD(U16, "ksym_type", 20,
		"1 BPF program, 2 out-of-line code of kprobes or ftrace.") },
	{ FIELD(U16, "flags", 22, "1: the code was removed.") },
	{ COMPUTED(BOOL, "unregister", 22, compute_unregister,
		   "True if the code was removed, false if it was added.") },
	{ FIELD(CSTR, "name", 24, "Name of the symbol.") },
	END_OF_FIELDS,
};

static const struct pd_field bpf_event_fields[] = {
	{ FIELD(U16, "bpf_type", 8, "1: a program was loaded, 2: one was unloaded.") },
	{ FIELD(U16, "flags", 10, "Not used yet.") },
	{ FIELD(U32, "prog_id", 12, "Id of the program.") },
	{ BYTES(HEX, "tag", 16, 8, "Tag of the program: a hash of its instructions, in hex.") },
	END_OF_FIELDS,
};

static const struct pd_field cgroup_fields[] = {
	{ FIELD(U64, "cgroup_id", 8, "Id of the group, as samples carry it.") },
	{ FIELD(CSTR, "path", 16, "Path of the group from the root of the hierarchy.") },
	END_OF_FIELDS,
};

/* Codes both texts, with their sizes before them. */
static void code_poke(struct pd_coder *c, const struct pd_field *field)
{
	uint32_t sizes[2];

	(void)field;
	c->at -= 4;
	for (int i = 0; i < 2; i++) {
		if (c->encodes) {
			sizes[i] = pd_code_size(c, i ? "new" : "old", UINT16_MAX);
			pd_code_store(c, 2, sizes[i]);
		} else {
			sizes[i] = (uint32_t)pd_code_load(c, 2);
		}
	}
	pd_code_bytes(c, "old", sizes[0]);
	pd_code_bytes(c, "new", sizes[1]);
}

static const struct pd_field text_poke_fields[] = {
	{ FIELD(X64, "addr", 8, "Address of the kernel code that changed.") },
	{ FIELD(U16, "old_len", 16, "Bytes of old."), .derived = true },
	{ FIELD(U16, "new_len", 18, "Bytes of new."), .derived = true },
	{ COMPUTED(BLOB, "old", 20, compute_old_bytes, "The code before."), .code = code_poke },
	{ COMPUTED(BLOB, "new", 20, compute_new_bytes, "The code after.") },
	END_OF_FIELDS,
};

static const struct pd_field aux_output_hw_id_fields[] = {
	{ FIELD(X64, "hw_id", 8, "The number of the event in the AUX data.") },
	END_OF_FIELDS,
};

static const struct pd_field callchain_deferred_fields[] = {
	{ FIELD(U64, "cookie", 8,
		"Number that the samples of the same thread have whose chains this record "
		"ends.") },
	{ VIEWED(ips, "ips", 16, "The user part of their call chains, callee first.") },
	END_OF_FIELDS,
};

/* A record type; the traits of the row come last. */
#define RECORD(id, n, table, text, ...)  \
	[id] = { .type = (id),           \
		 .name = (n),            \
		 .doc = (text),          \
		 .fields = TABLE(table), \
		 .trailer = true,        \
		 __VA_ARGS__ }

static const struct pd_record_desc records[] = {
	RECORD(PD_RECORD_MMAP, "mmap", mmap_fields, "A file or memory was mapped.",
	       .sideband = PD_SB_MAPPING, TEXT_FROM(40)),
	RECORD(PD_RECORD_LOST, "lost", lost_fields,
	       "The ring buffer was full, and records were lost.", .loss = PD_LOSS_RECORDS,
	       ENDS_AT(24)),
	RECORD(PD_RECORD_COMM, "comm", comm_fields, "A thread got a name.",
	       .sideband = PD_SB_THREAD_NAME, TEXT_FROM(16)),
	RECORD(PD_RECORD_EXIT, "exit", exit_fields, "A thread ended.",
	       .sideband = PD_SB_THREAD_END, ENDS_AT(32)),
	RECORD(PD_RECORD_THROTTLE, "throttle", throttle_fields,
	       "An event fired so often that it was stopped for a while.", ENDS_AT(32)),
	RECORD(PD_RECORD_UNTHROTTLE, "unthrottle", throttle_fields, "A stopped event goes on.",
	       ENDS_AT(32)),
	RECORD(PD_RECORD_FORK, "fork", fork_fields, "A thread started.",
	       .sideband = PD_SB_THREAD_START, ENDS_AT(32)),
	RECORD(PD_RECORD_READ, "read", read_fields, "The counters of a thread at its exit.",
	       VARIES_FROM(16, pd_measure_read)),
	[PD_RECORD_SAMPLE] = { .type = PD_RECORD_SAMPLE,
			       .name = "sample",
			       .doc = "An event happened; the event's sample_type decides "
				      "which fields a sample has.",
			       .fields = pd_sample_fields },
	RECORD(PD_RECORD_MMAP2, "mmap2", mmap2_fields,
	       "A file or memory was mapped; the record identifies the file.",
	       .sideband = PD_SB_MAPPING, VARIES_FROM(MMAP2_PROT, measure_mmap2_end)),
	RECORD(PD_RECORD_AUX, "aux", aux_fields, "Data came into the AUX area.", ENDS_AT(32)),
	RECORD(PD_RECORD_ITRACE_START, "itrace_start", itrace_start_fields,
	       "Instruction tracing began.", ENDS_AT(16)),
	RECORD(PD_RECORD_LOST_SAMPLES, "lost_samples", lost_samples_fields,
	       "Samples were lost.", .loss = PD_LOSS_SAMPLES, ENDS_AT(16)),
	RECORD(PD_RECORD_SWITCH, "switch", switch_fields,
	       "The recorded thread was switched in or out.", ENDS_AT(8)),
	RECORD(PD_RECORD_SWITCH_CPU_WIDE, "switch_cpu_wide", switch_cpu_wide_fields,
	       "A processor switched from one thread to another.", ENDS_AT(16)),
	RECORD(PD_RECORD_NAMESPACES, "namespaces", namespaces_fields,
	       "The namespaces of a thread that starts or changes them.", COUNTED_FROM(24, 16)),
	RECORD(PD_RECORD_KSYMBOL, "ksymbol", ksymbol_fields,
	       "Code was added to the kernel or removed from it.",
	       .sideband = PD_SB_KERNEL_CODE, TEXT_FROM(24)),
	RECORD(PD_RECORD_BPF_EVENT, "bpf_event", bpf_event_fields,
	       "A BPF program was loaded or unloaded.", ENDS_AT(24)),
	RECORD(PD_RECORD_CGROUP, "cgroup", cgroup_fields, "The path of a control group.",
	       .sideband = PD_SB_CGROUP, TEXT_FROM(16)),
	RECORD(PD_RECORD_TEXT_POKE, "text_poke", text_poke_fields,
	       "The kernel changed its own code.", VARIES_FROM(20, measure_code)),
	RECORD(PD_RECORD_AUX_OUTPUT_HW_ID, "aux_output_hw_id", aux_output_hw_id_fields,
	       "The number by which the AUX data names an event.", ENDS_AT(16)),
	RECORD(PD_RECORD_CALLCHAIN_DEFERRED, "callchain_deferred", callchain_deferred_fields,
	       "The user part of earlier samples' call chains.", .sideband = PD_SB_CALLCHAIN,
	       COUNTED_FROM(24, 8)),
};

const struct pd_record_desc *pd_record_desc(uint32_t type)
{
	const struct pd_record_desc *desc = NULL;

	if (type < sizeof(records) / sizeof(records[0]))
		desc = &records[type];
	else if (type >= PD_RECORD_USER && type < PD_RECORD_TYPES)
		desc = &pd_user_records[type - PD_RECORD_USER];
	return desc && desc->name ? desc : NULL;
}
