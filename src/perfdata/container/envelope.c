/*
 * The fixed header of a perf.data file, the sections it names, the attrs and their ids. See
 * struct perf_file_header and struct perf_file_attr, tools/perf/util/header.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/input/blocks.h"
#include "open_internal.h"

#define HEADER_SIZE	 104
#define HEADER_SIZE_BARE 72 /* before there were features */
#define PIPE_HEADER_SIZE 16
#define BITMAP_AT	 72
#define IDS_ENTRY	 16 /* bytes of the section that follows each attr */
#define MAX_EVENTS	 65536
#define HOSTNAME_BIT	 3
#define CMDLINE_BIT	 11
#define SIMPLEPERF_BIT	 128 /* first bit of simpleperf's features, which end before: */
#define HIPERF_BIT	 192

static bool fail_unexpected(const struct pd_file *file, struct pd_error *err, uint64_t offset,
			    const char *what, uint64_t found, uint64_t expected)
{
	return pd_error_set(err, "FORMAT", file->path, offset, "%s: found %llu, expected %llu",
			    what, (unsigned long long)found, (unsigned long long)expected);
}

/*
 * Finds the byte order of a PERFFILE: the size of an attr entry is one of a few, in either
 * order.
 */
static bool find_v1_order(struct pd_file *file, const uint8_t *header, struct pd_error *err)
{
	static const uint8_t sizes[] = { 80, 88, 96, 112, 120 };

	for (unsigned swap = 0; swap < 2; swap++) {
		uint64_t stride = pb_load64(header + 16, swap);

		for (size_t i = 0; i < sizeof(sizes); i++) {
			if (stride != sizes[i])
				continue;
			file->swap = swap;
			file->big = swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
			return true;
		}
	}
	return fail_unexpected(file, err, 16, "size of an attr in a PERFFILE",
			       pb_load64(header + 16, false), sizes[0]);
}

/* Files that people take for a recording, by their first bytes. */
static const struct {
	const char *magic;
	uint8_t size;
	const char *name;
	const char *to_stdout; /* the command that decompresses it; NULL: there is none */
} others[] = {
	{ "\x1f\x8b", 2, "a gzip file", "zcat" },
	{ "\x28\xb5\x2f\xfd", 4, "a zstd file", "zstdcat" },
	{ "\3757zXZ", 5, "an xz file", "xzcat" },
	{ "BZh", 3, "a bzip2 file", "bzcat" },
	{ "\177ELF", 4, "an ELF file", NULL },
};

static bool looks_like_text(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] < ' ' && !memchr("\t\n\r", bytes[i], 3))
			return false;
	return n > 0;
}

/* Sets *err to the kind of a file without a perf.data header. Its first `n` bytes are given. */
static bool refuse_file(const struct pd_file *file, const uint8_t *bytes, size_t n,
			struct pd_error *err)
{
	char text[64] = "", *p = text;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (n < others[i].size || memcmp(bytes, others[i].magic, others[i].size) != 0)
			continue;
		if (!others[i].to_stdout)
			return pd_error_set(err, "FORMAT", file->path, 0,
					    "found %s, expected a perf.data file",
					    others[i].name);
		return pd_error_set(
			err, "FORMAT", file->path, 0,
			"found %s, expected a perf.data file; try: %s %s | perflua … -",
			others[i].name, others[i].to_stdout,
			strcmp(file->path, "-") == 0 ? "FILE" : file->path);
	}
	if (looks_like_text(bytes, n) && memcmp(bytes, "PERFILE2", n < 8 ? n : 8) != 0)
		return pd_error_set(err, "FORMAT", file->path, 0,
				    "found text, expected a perf.data file");
	if (n < PIPE_HEADER_SIZE)
		return pd_error_set(
			err, "FORMAT", file->path, 0,
			n ? "not a perf.data file: found %zu bytes, expected a header of at "
			    "least 16" :
			    "found an empty file (%zu bytes), expected a perf.data header",
			n);
	for (size_t i = 0; i < 8; i++)
		p += snprintf(p, 4, "%02x ", bytes[i]);
	p[-1] = '\0';
	return pd_error_set(err, "FORMAT", file->path, 0,
			    "not a perf.data file: found the bytes %s, expected \"PERFILE2\"",
			    text);
}

static bool read_magic(struct pd_file *file, const uint8_t *header, struct pd_error *err)
{
	bool little_host = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	file->version = 2;
	if (memcmp(header, "PERFILE2", 8) == 0) {
		file->swap = !little_host;
	} else if (memcmp(header, "2ELIFREP", 8) == 0) {
		file->big = true;
		file->swap = little_host;
	} else if (memcmp(header, "PERFFILE", 8) == 0 || memcmp(header, "ELIFFREP", 8) == 0) {
		file->version = 1;
		return true;
	} else {
		return refuse_file(file, header, PIPE_HEADER_SIZE, err);
	}
	return true;
}

/*
 * Notes a section that does not lie within the file as damage, and cuts it to the part that
 * does.
 */
static void clip_section(struct pd_file *file, struct pd_section *s, const char *what)
{
	uint64_t size = file->input.size;

	if (s->offset <= size && s->size <= size - s->offset)
		return;
	file->complete = false;
	pd_file_damaged(
		file, s->offset < size ? s->offset : size, s->size,
		"%s: found the end of the file at %llu, expected %llu bytes from %llu on", what,
		(unsigned long long)size, (unsigned long long)s->size,
		(unsigned long long)s->offset);
	if (s->offset > size)
		s->offset = size;
	s->size = size - s->offset;
}

/*
 * Reads the ids of an event. *left is the number of bytes that ids of all events may take: no
 * byte of the file is read for two events.
 */
static void read_ids(struct pd_file *file, struct pd_event *event, struct pd_section ids,
		     uint64_t *left)
{
	size_t n = 0;

	if (ids.offset > file->input.size || ids.size > file->input.size - ids.offset ||
	    ids.size % 8 || ids.size > *left) {
		pd_file_damaged(file, ids.offset, ids.size,
				"ids of event %u: found %llu bytes from %llu on, expected u64s "
				"within the file, of this event alone, at most %llu bytes",
				event->index + 1, (unsigned long long)ids.size,
				(unsigned long long)ids.offset, (unsigned long long)*left);
		return;
	}
	*left -= ids.size;
	if (!ids.size)
		return;
	event->ids = pd_section_alloc(ids);
	if (event->ids && pd_file_read(file, ids, event->ids, NULL))
		n = (size_t)ids.size / 8;
	for (; event->n_ids < n; event->n_ids++)
		event->ids[event->n_ids] = pb_load64((const uint8_t *)&event->ids[event->n_ids],
						     file->swap);
}

/* Adds the event whose attr lies at `entry`, offset `at`, with the section of its ids after. */
static void add_event(struct pd_file *file, const uint8_t *entry, uint64_t at, size_t stride,
		      uint64_t *left)
{
	struct pd_event *event = &file->events[file->n_events];
	struct pd_section ids;
	struct pb_cursor c;

	pd_attr_parse(&event->attr, entry, stride - IDS_ENTRY, file->swap, file->big);
	pb_cursor_init(&c, entry + stride - IDS_ENTRY, IDS_ENTRY, file->swap);
	ids.offset = pb_take64(&c);
	ids.size = pb_take64(&c);
	event->attr_at = at;
	event->attr_size = (uint32_t)(stride - IDS_ENTRY);
	event->recorded_with = &file->ids;
	event->index = event->leader = (uint32_t)file->n_events++;
	event->n_members = 1;
	read_ids(file, event, ids, left);
}

static bool read_attrs(struct pd_file *file, struct pd_section attrs, size_t stride,
		       struct pd_error *err)
{
	size_t n = (size_t)(attrs.size / stride);
	uint64_t left = file->input.size < PD_SECTION_MOST ? file->input.size : PD_SECTION_MOST;
	struct pd_blocks b;
	int got = 1;

	if (!pd_blocks_init(&b, &file->input, attrs.offset, attrs.offset + attrs.size, err))
		return false;
	pd_file_set_events(file, calloc(n + 1, sizeof(*file->events)));
	if (!file->events) {
		pd_error_set(err, "ENOMEM", file->path, attrs.offset, "no memory for %zu attrs",
			     n);
		got = -1;
	}
	while (got > 0 && file->n_events < n) {
		got = pd_blocks_fill(&b, stride, err);
		if (got > 0) {
			add_event(file, b.pos, b.offset, stride, &left);
			pd_blocks_skip(&b, stride);
		}
	}
	if (!got)
		pd_error_set(err, "FORMAT", file->path, b.offset,
			     "attrs: found the end of the file, expected %zu more",
			     n - file->n_events);
	pd_blocks_deinit(&b);
	return got > 0;
}

/*
 * Returns a bit of the feature bitmap. It is an array of the writer's longs, so on big-endian
 * machines 32-bit and 64-bit writers order its words differently. HOSTNAME, which perf always
 * writes, tells them apart. See perf_file_header__read, tools/perf/util/header.c.
 */
static bool get_feature_bit(const struct pd_file *file, const uint8_t *bitmap, unsigned bit,
			    unsigned width)
{
	unsigned at = bit / width * width / 8; /* of the word's first byte */
	unsigned in = bit % width;

	at += file->big ? (width - 8 - in / 8 * 8) / 8 : in / 8;
	return bitmap[at] >> in % 8 & 1;
}

/*
 * Returns whether Android's simpleperf wrote the file: it has features of simpleperf's own, or,
 * if it is older than those, a command line that begins with its name. See record_file_format.h
 * of simpleperf.
 */
static bool is_simpleperf(struct pd_file *file)
{
	const struct pd_feature_section *cmdline = pd_file_feature(file, CMDLINE_BIT);
	/* after the number of words and the length of the first word */
	char bytes[256] = "", *word = bytes + 8;
	size_t got;

	for (size_t i = 0; i < file->n_features; i++) {
		unsigned bit = file->features[i].bit;

		if (bit >= SIMPLEPERF_BIT && bit < HIPERF_BIT)
			return true;
	}
	/* perf always writes the host name */
	if (!cmdline || pd_file_feature(file, HOSTNAME_BIT) ||
	    !pd_input_read(&file->input, cmdline->at.offset, bytes, 0, sizeof(bytes) - 1, &got,
			   NULL))
		return false;
	if (strrchr(word, '/'))
		word = strrchr(word, '/') + 1;
	return strncmp(word, "simpleperf", strlen("simpleperf")) == 0;
}

/* Reads the table of sections after the data: an entry for each bit that is set. */
static bool read_features(struct pd_file *file, const uint8_t *bitmap, struct pd_error *err)
{
	unsigned width = file->big && !get_feature_bit(file, bitmap, HOSTNAME_BIT, 64) &&
					 get_feature_bit(file, bitmap, HOSTNAME_BIT, 32) ?
				 32 :
				 64;
	uint64_t at = file->data.offset + file->data.size;
	size_t n = 0, got;
	uint8_t table[PD_FEATURES * 16];
	struct pb_cursor c;

	for (unsigned bit = 0; bit < PD_FEATURES; bit++)
		n += get_feature_bit(file, bitmap, bit, width);
	file->features = calloc(n + 1, sizeof(*file->features));
	if (!file->features)
		return pd_error_set(err, "ENOMEM", file->path, at, "no memory");
	file->features_room = n + 1;
	if (!pd_input_read(&file->input, at, table, n * 16, n * 16, &got, err))
		return false;
	if (got < n * 16) {
		file->complete = false;
		pd_file_damaged(
			file, at, got,
			"feature table: found %zu bytes up to the end of the file, expected "
			"%zu for %zu features",
			got, n * 16, n);
	}
	pb_cursor_init(&c, table, got, file->swap);
	for (unsigned bit = 0; bit < PD_FEATURES && pb_cursor_left(&c) >= 16; bit++) {
		struct pd_feature_section *s = &file->features[file->n_features];

		if (!get_feature_bit(file, bitmap, bit, width))
			continue;
		s->bit = bit;
		s->at.offset = pb_take64(&c);
		s->at.size = pb_take64(&c);
		/*
		 * a writer that failed leaves zeros, and features that are only flags are
		 * empty, too
		 */
		file->n_features++;
	}
	file->simpleperf = is_simpleperf(file);
	return true;
}

static bool read_file_sections(struct pd_file *file, const uint8_t *header, size_t size,
			       struct pd_error *err)
{
	struct pb_cursor c;
	struct pd_section attrs;
	uint64_t stride;

	pb_cursor_init(&c, header + 16, size - 16, file->swap);
	stride = pb_take64(&c);
	attrs.offset = pb_take64(&c);
	attrs.size = pb_take64(&c);
	file->data.offset = pb_take64(&c);
	file->data.size = pb_take64(&c);
	file->event_types.offset = pb_take64(&c);
	file->event_types.size = pb_take64(&c);

	if (stride < PD_ATTR_MIN + IDS_ENTRY || stride > PD_ATTR_MOST + IDS_ENTRY)
		return fail_unexpected(file, err, 16, "size of an attr entry (at least)",
				       stride, PD_ATTR_MIN + IDS_ENTRY);
	if (attrs.offset > file->input.size || attrs.size > file->input.size - attrs.offset)
		return pd_error_set(
			err, "FORMAT", file->path, 24,
			"attrs: found %llu bytes from %llu on, expected them within the "
			"file's %llu bytes",
			(unsigned long long)attrs.size, (unsigned long long)attrs.offset,
			(unsigned long long)file->input.size);
	if (attrs.size / stride > MAX_EVENTS)
		return fail_unexpected(file, err, 32, "events (at most)", attrs.size / stride,
				       MAX_EVENTS);
	if (file->data.offset < PIPE_HEADER_SIZE)
		return fail_unexpected(file, err, 40, "offset of the data (at least)",
				       file->data.offset, size);
	if (file->data.size == 0) {
		/*
		 * A recorder that was killed set the bits, but wrote nothing after the
		 * records.
		 */
		file->unfinished = true;
		file->complete = false;
		if (file->data.offset <= file->input.size)
			file->data.size = file->input.size - file->data.offset;
		pd_file_damaged(
			file, 48, 8,
			"data size: found 0, expected a size: the recording was never finished "
			"and has no header features");
	}
	file->open_end = file->unfinished || file->data.offset > file->input.size ||
			 file->data.size > file->input.size - file->data.offset;
	clip_section(file, &file->data, "data");
	return read_attrs(file, attrs, (size_t)stride, err);
}

/*
 * Returns whether the header is a pipe's, with a size of 16 even if it is a regular file. For
 * PERFFILE that size also tells the byte order.
 */
static bool is_pipe(struct pd_file *file, const uint8_t *header)
{
	if (file->version == 1) {
		file->swap = pb_load64(header + 8, true) == PIPE_HEADER_SIZE;
		file->big = file->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	}
	return pb_load64(header + 8, file->swap) == PIPE_HEADER_SIZE;
}

bool pd_envelope_read(struct pd_file *file, struct pd_error *err)
{
	uint8_t header[HEADER_SIZE] = { 0 };
	uint64_t size;
	size_t got;

	/* Reads only a pipe's header of a stream: nothing more may come for a while. */
	if (!pd_input_read(&file->input, 0, header, PIPE_HEADER_SIZE,
			   file->input.stream ? PIPE_HEADER_SIZE : sizeof(header), &got, err))
		return false;
	if (got < PIPE_HEADER_SIZE)
		return refuse_file(file, header, got, err);
	if (!read_magic(file, header, err))
		return false;
	if (is_pipe(file, header)) {
		file->pipe = file->open_end = true;
		file->data = (struct pd_section){ PIPE_HEADER_SIZE,
						  file->input.size - PIPE_HEADER_SIZE };
		return true;
	}
	/* A stream cannot go to the sections, so it is copied to a file first. */
	if (file->input.stream) {
		if (!pd_input_spool(&file->input, err) ||
		    !pd_input_read(&file->input, 0, header, PIPE_HEADER_SIZE, sizeof(header),
				   &got, err))
			return false;
	}
	size = pb_load64(header + 8, file->swap);
	if (file->version == 1) {
		if (!find_v1_order(file, header, err))
			return false;
		size = pb_load64(header + 8, file->swap);
	}
	if (size != HEADER_SIZE && size != HEADER_SIZE_BARE)
		return fail_unexpected(file, err, 8, "header size", size, HEADER_SIZE);
	if (got < size)
		return fail_unexpected(file, err, 0, "bytes of the header", got, size);
	if (!read_file_sections(file, header, (size_t)size, err))
		return false;
	if (size == HEADER_SIZE_BARE || file->unfinished)
		return true;
	return read_features(file, header + BITMAP_AT, err);
}
