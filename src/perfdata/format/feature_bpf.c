/*
 * BPF_PROG_INFO: the kernel's struct bpf_prog_info of each program and the arrays it points to.
 * See struct bpf_prog_info, include/uapi/linux/bpf.h; struct perf_bpil and bpil_array_desc,
 * tools/perf/util/bpf-utils.c.
 */
#include "feature.h"

/* A scalar member of bpf_prog_info. `bytes` is its width, or the size of a tag or name. */
struct info_member {
	const char *name;
	uint16_t at, bytes;
	enum pd_type type;
};

static const struct info_member members[] = {
	{ "id", 4, 4, PD_UINT },
	{ "type", 0, 4, PD_UINT },
	{ "name", 64, 16, PD_STR },
	{ "tag", 8, 8, PD_HEX },
	{ "load_time", 40, 8, PD_UINT },
	{ "uid", 48, 4, PD_UINT },
	{ "ifindex", 80, 4, PD_UINT },
	{ "flags", 84, 4, PD_ADDR }, /* gpl_compatible is its only bit today */
	{ "netns_dev", 88, 8, PD_UINT },
	{ "netns_ino", 96, 8, PD_UINT },
	{ "btf_id", 128, 4, PD_UINT },
	{ "jited_prog_len", 16, 4, PD_UINT },
	{ "xlated_prog_len", 20, 4, PD_UINT },
	{ "func_info_rec_size", 132, 4, PD_UINT },
	{ "nr_func_info", 144, 4, PD_UINT },
	{ "line_info_rec_size", 172, 4, PD_UINT },
	{ "nr_line_info", 148, 4, PD_UINT },
	{ "jited_line_info_rec_size", 176, 4, PD_UINT },
	{ "nr_jited_line_info", 168, 4, PD_UINT },
	{ "run_time_ns", 192, 8, PD_UINT },
	{ "run_cnt", 200, 8, PD_UINT },
	{ "recursion_misses", 208, 8, PD_UINT },
	{ "verified_insns", 216, 4, PD_UINT },
	{ "attach_btf_obj_id", 220, 4, PD_UINT },
	{ "attach_btf_id", 224, 4, PD_UINT },
};

/*
 * An array that the struct points to. Its index in this table is its bit in `arrays`, which
 * says that it was recorded.
 */
struct info_array {
	const char *name;
	/* offset of the pointer, which the recorder replaced by an offset in the data */
	uint16_t at;
	uint16_t count; /* offset of the number of items; for a blob, of bytes */
	uint16_t size;	/* bytes of an item; 0: the member at .rec_size says */
	uint16_t rec_size;
	enum pd_type type;
};

static const struct info_array arrays[] = {
	{ "jited_prog_insns", 24, 16, 1, 0, PD_BLOB },
	{ "xlated_prog_insns", 32, 20, 1, 0, PD_BLOB },
	{ "map_ids", 56, 52, 4, 0, PD_UINT },
	{ "jited_ksyms", 112, 104, 8, 0, PD_ADDR },
	{ "jited_func_lens", 120, 108, 4, 0, PD_UINT },
	{ "func_info", 136, 144, 0, 132, PD_BLOB },
	{ "line_info", 152, 148, 0, 172, PD_BLOB },
	{ "jited_line_info", 160, 168, 0, 176, PD_BLOB },
	{ "prog_tags", 184, 180, 8, 0, PD_HEX },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct prog_info {
	const uint8_t *info, *data;
	uint32_t info_size, data_size;
	bool swap;
};

/* Returns the value of a member; 0 if the struct of the recording's kernel ends before it. */
static uint64_t load_info_number(const struct prog_info *prog, unsigned at, unsigned bytes)
{
	if (at + bytes > prog->info_size)
		return 0;
	return bytes == 8 ? pb_load64(prog->info + at, prog->swap) :
			    pb_load32(prog->info + at, prog->swap);
}

static void feed_member(struct pd_sink *sink, const struct prog_info *prog,
			const struct info_member *m)
{
	const uint8_t *at = prog->info + m->at;
	struct pd_text text;

	if ((uint32_t)m->at + m->bytes > prog->info_size)
		return;
	if (m->type == PD_STR) {
		text = pd_text_in(at, m->bytes);
		pd_sink_str(sink, m->name, text.p, text.n);
	} else if (m->type == PD_HEX) {
		pd_sink_hex(sink, m->name, at, m->bytes);
	} else if (m->type == PD_ADDR) {
		pd_sink_addr(sink, m->name, load_info_number(prog, m->at, m->bytes));
	} else {
		pd_sink_uint(sink, m->name, load_info_number(prog, m->at, m->bytes));
	}
}

static void feed_item(struct pd_sink *sink, const struct info_array *a, const uint8_t *at,
		      bool swap)
{
	if (a->type == PD_HEX)
		pd_sink_hex(sink, NULL, at, a->size);
	else if (a->type == PD_ADDR)
		pd_sink_addr(sink, NULL, pb_load64(at, swap));
	else
		pd_sink_uint(sink, NULL, pb_load32(at, swap));
}

static bool feed_array(struct pd_sink *sink, const struct prog_info *prog,
		       const struct info_array *a)
{
	uint64_t offset = load_info_number(prog, a->at, 8),
		 count = load_info_number(prog, a->count, 4);
	uint64_t size = a->size ? a->size : load_info_number(prog, a->rec_size, 4);

	/* both factors are u32, so the product fits */
	if (offset > prog->data_size || count * size > prog->data_size - offset)
		return false;
	if (a->type == PD_BLOB) {
		pd_sink_blob(sink, a->name, prog->data + offset, (size_t)(count * size));
		return true;
	}
	pd_sink_begin(sink, a->name, true);
	for (uint64_t i = 0; i < count; i++)
		feed_item(sink, a, prog->data + offset + i * size, prog->swap);
	pd_sink_end(sink);
	return true;
}

bool pd_decode_bpf_prog_info(struct pb_cursor *c, const struct pd_feature_context *ctx,
			     struct pd_sink *sink)
{
	uint32_t n = pd_take_count(c, 16);

	(void)ctx;
	pd_sink_begin(sink, NULL, true);
	for (uint32_t i = 0; i < n && !c->failed; i++) {
		struct prog_info prog = { .swap = c->swap };
		uint64_t recorded;

		prog.info_size = pb_take32(c);
		prog.data_size = pb_take32(c);
		recorded = pb_take64(c);
		prog.info = pb_take(c, prog.info_size);
		prog.data = pb_take(c, prog.data_size);
		if (c->failed)
			break;
		pd_sink_begin(sink, NULL, false);
		for (size_t m = 0; m < COUNT(members); m++)
			feed_member(sink, &prog, &members[m]);
		for (size_t a = 0; a < COUNT(arrays); a++)
			if ((recorded >> a & 1) && !feed_array(sink, &prog, &arrays[a]))
				pb_cursor_fail(c, "an array that does not fit");
		pd_sink_end(sink);
	}
	pd_sink_end(sink);
	return !c->failed;
}
