/*
 * Features about files: the build-ids of binaries, and the tracepoint formats. See
 * perf_header__read_build_ids, tools/perf/util/header.c, and
 * tools/perf/util/trace-event-read.c.
 */
#include "feature_decode.h"
#include "format.h"
#include "views.h"

#define BUILD_ID_SIZE 20

/* Offsets in an entry of the build-id table, which begins with an event header. */
struct build_id_layout {
	uint32_t pid, id, size, filename; /* 0 for pid and size: the entry has none */
};

static const struct build_id_layout build_id_layout = { 8, 12, 32, 36 };
/* of perf 2.6.33 to 2.6.35 */
static const struct build_id_layout old_build_id_layout = { 0, 8, 0, 32 };

/* Returns the next entry, whose size its header says, or NULL. */
static const uint8_t *take_build_id_entry(struct pb_cursor *c, uint32_t at_least,
					  uint32_t *size)
{
	const uint8_t *entry = c->pos;

	if (pb_cursor_left(c) < 8) {
		pb_cursor_fail(c, "the end");
		return NULL;
	}
	*size = pb_load16(entry + 6, c->swap);
	if (*size <= at_least)
		pb_cursor_fail(c, "an entry that is too short");
	return pb_take(c, *size);
}

/*
 * Without a pid the names read as if they began four bytes late, which is perf's test, too. See
 * perf_header__read_build_ids_abi_quirk.
 */
bool pd_build_ids_are_old(struct pb_cursor c)
{
	static const char late[] = "nel.kallsyms]";
	uint32_t at = build_id_layout.filename, size;

	while (pb_cursor_left(&c)) {
		const uint8_t *entry = take_build_id_entry(&c, at, &size);

		if (entry && size - at >= sizeof(late) &&
		    !memcmp(entry + at, late, sizeof(late)))
			return true;
	}
	return false;
}

static void feed_build_id(struct pd_sink *sink, const uint8_t *entry, uint32_t size,
			  const struct build_id_layout *at, bool swap)
{
	unsigned misc = pb_load16(entry + 4, swap), mode = misc & PD_MISC_CPUMODE;
	uint32_t id_size = BUILD_ID_SIZE;
	struct pd_text name = pd_text_in(entry + at->filename, size - at->filename);
	const char *cpumode = pd_cpumode_name(mode);
	int32_t pid;

	if (at->size && (misc & PD_MISC_BUILD_ID_SIZE) && entry[at->size] < BUILD_ID_SIZE)
		id_size = entry[at->size];
	if (at->pid)
		pid = (int32_t)pb_load32(entry + at->pid, swap);
	else
		pid = mode == PD_CPUMODE_GUEST_KERNEL || mode == PD_CPUMODE_GUEST_USER ? 0 : -1;

	pd_sink_begin(sink, NULL, false);
	pd_sink_hex(sink, "build_id", entry + at->id, id_size);
	pd_sink_str(sink, "filename", name.p, name.n);
	pd_sink_int(sink, "pid", pid);
	pd_sink_str(sink, "cpumode", cpumode, strlen(cpumode));
	pd_sink_end(sink);
}

bool pd_decode_build_id(struct pb_cursor *c, const struct pd_feature_context *ctx,
			struct pd_sink *sink)
{
	const struct build_id_layout *at = &build_id_layout;
	const uint8_t *entry;
	uint32_t size;

	(void)ctx;
	if (pd_build_ids_are_old(*c))
		at = &old_build_id_layout;
	pd_sink_begin(sink, NULL, true);
	while (pb_cursor_left(c)) {
		entry = take_build_id_entry(c, at->filename, &size);
		if (entry)
			feed_build_id(sink, entry, size, at, c->swap);
	}
	pd_sink_end(sink);
	return !c->failed;
}
