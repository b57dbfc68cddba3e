#include "lines_table.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbols/elf/elf_parts.h"

#define MAX_PROGRAM (16u << 20) /* bytes; large ones of one unit have some MB */
#define MAX_NAME    4096
#define MAX_FORMS   16

/* Names take a part of the table, and grow when they are joined with directories. */
#define NAMES_PER_BYTE 64
#define NAMES_ALWAYS   (64u << 20)

static const Elf_Data *find_table_section(Elf *elf, const char *name, bool dwo)
{
	Elf_Scn *section = NULL;
	size_t n = strlen(name);

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *its = ps_elf_header(elf, section, &header);

		if (strncmp(its, name, n) == 0 && strcmp(its + n, dwo ? ".dwo" : "") == 0)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

void ps_table_sections(struct ps_table_sections *sections, Elf *elf, bool dwo)
{
	const char *ident = elf_getident(elf, NULL);

	sections->line = find_table_section(elf, ".debug_line", dwo);
	sections->line_str = find_table_section(elf, ".debug_line_str", dwo);
	sections->str = find_table_section(elf, ".debug_str", dwo);
	sections->big = ident && ident[EI_DATA] == ELFDATA2MSB;
}

void ps_table_budget(struct ps_table_budget *budget, const struct ps_table_sections *sections)
{
	budget->bytes = sections->line ? 2 * (uint64_t)sections->line->d_size : 0;
	budget->names = budget->bytes * NAMES_PER_BYTE + NAMES_ALWAYS;
}

/* A table that is read from its start to its end. */
struct table_cursor {
	struct pb_cursor bytes;
	const struct ps_table_sections *sections;
	size_t offset_size;
};

static void skip_bytes(struct table_cursor *c, uint64_t n)
{
	pb_take(&c->bytes, n);
}

static uint64_t read_fixed(struct table_cursor *c, uint32_t size)
{
	const uint8_t *p = pb_take(&c->bytes, size);

	return p ? pb_load_bytes(p, size, c->bytes.swap) : 0;
}

static uint64_t read_leb128(struct table_cursor *c)
{
	uint64_t skip_value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = pb_take8(&c->bytes);

		skip_value |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return skip_value;
	}
	pb_cursor_fail(&c->bytes, "a number of more than 64 bits");
	return 0;
}

/* Returns the length of the name that begins at `at`. */
static size_t get_name_length(struct table_cursor *c, const uint8_t *at, size_t room)
{
	size_t n = strnlen((const char *)at, room < MAX_NAME ? room : MAX_NAME);

	if (n == room || n == MAX_NAME)
		pb_cursor_fail(&c->bytes, "a name without an end");
	return n;
}

static size_t skip_name(struct table_cursor *c)
{
	size_t n = get_name_length(c, c->bytes.pos, pb_cursor_left(&c->bytes));

	skip_bytes(c, n + 1);
	return n;
}

static size_t read_name(struct table_cursor *c, const Elf_Data *strings)
{
	uint64_t offset = read_fixed(c, (uint32_t)c->offset_size);

	if (!strings || offset >= strings->d_size) {
		pb_cursor_fail(&c->bytes, "a name outside of its section");
		return 0;
	}
	return get_name_length(c, (const uint8_t *)strings->d_buf + offset,
			       strings->d_size - (size_t)offset);
}

/* Skips a value. Returns the length if it is a name, else 0. */
static size_t skip_value(struct table_cursor *c, uint64_t form)
{
	static const uint8_t sizes[] = { [DW_FORM_data1] = 1,
					 [DW_FORM_data2] = 2,
					 [DW_FORM_data4] = 4,
					 [DW_FORM_data8] = 8,
					 [DW_FORM_data16] = 16 };

	if (form == DW_FORM_string)
		return skip_name(c);
	if (form == DW_FORM_line_strp)
		return read_name(c, c->sections->line_str);
	if (form == DW_FORM_strp)
		return read_name(c, c->sections->str);
	if (form == DW_FORM_udata)
		read_leb128(c);
	else if (form == DW_FORM_block)
		skip_bytes(c, read_leb128(c));
	else if (form < sizeof(sizes) && sizes[form])
		skip_bytes(c, sizes[form]);
	else
		pb_cursor_fail(&c->bytes, "an unknown form");
	return 0;
}

/* Lengths of the names of all directories or all files: the longest, and the sum. */
struct names {
	uint64_t n, longest, total;
};

static void read_count(struct names *names, size_t length)
{
	names->n++;
	names->total += length;
	if (length > names->longest)
		names->longest = length;
}

/* Reads names as DWARF 5 has them: a list of the forms, then the entries. */
static void read_names_by_forms(struct table_cursor *c, struct names *names)
{
	uint64_t forms[MAX_FORMS], n_forms = read_fixed(c, 1), n;

	if (n_forms > MAX_FORMS)
		pb_cursor_fail(&c->bytes, "too many forms");
	for (size_t i = 0; i < n_forms && !c->bytes.failed; i++) {
		read_leb128(c);
		forms[i] = read_leb128(c);
	}
	n = read_leb128(c);
	if (!n_forms && n)
		pb_cursor_fail(&c->bytes, "names without a form");
	for (; n && !c->bytes.failed; n--) {
		size_t length = 0;

		for (size_t i = 0; i < n_forms && !c->bytes.failed; i++)
			length += skip_value(c, forms[i]);
		read_count(names, length);
	}
}

/* Reads names as older versions have them: each with `numbers` numbers, up to an empty one. */
static void read_names_in_line(struct table_cursor *c, struct names *names, int numbers)
{
	size_t length;

	while ((length = skip_name(c)) && !c->bytes.failed) {
		read_count(names, length);
		for (int i = 0; i < numbers; i++)
			read_leb128(c);
	}
}

/* Returns the most files that the program may add: see DW_LNE_define_file. */
static uint64_t count_defined_files(const struct table_cursor *c)
{
	uint64_t n = 0;

	for (const uint8_t *at = c->bytes.pos; c->bytes.end - at > 2; at++)
		n += at[0] == 0 && at[2] == DW_LNE_define_file;
	return n;
}

/* Reads the head up to the names. Returns the version, and sets where the program begins. */
static uint64_t read_head(struct table_cursor *c, const uint8_t **program)
{
	uint64_t length = read_fixed(c, 4), version;

	c->offset_size = 4;
	if (length == UINT32_MAX) {
		length = read_fixed(c, 8);
		c->offset_size = 8;
	}
	if (length > pb_cursor_left(&c->bytes)) {
		pb_cursor_fail(&c->bytes, "the end");
		return 0;
	}
	c->bytes.end = c->bytes.pos + length;
	version = read_fixed(c, 2);
	if (version < 2 || version > 5)
		pb_cursor_fail(&c->bytes, "an unknown version");
	skip_bytes(c, version >= 5 ? 2 : 0); /* sizes of addresses */
	length = read_fixed(c, (uint32_t)c->offset_size);
	if (length > pb_cursor_left(&c->bytes)) {
		pb_cursor_fail(&c->bytes, "the end");
		return 0;
	}
	*program = c->bytes.pos + length;
	skip_bytes(c, version >= 4 ? 5 : 4);
	skip_bytes(c, read_fixed(c, 1) - 1); /* number of operands of each opcode */
	return version;
}

bool ps_table_fits(const struct ps_table_sections *sections, uint64_t offset, size_t comp_dir,
		   struct ps_table_budget *budget)
{
	struct table_cursor c = { .sections = sections };
	struct names dirs = { .longest = comp_dir }, files = { 0 };
	const uint8_t *program = NULL;
	uint64_t version, cost, bytes;

	if (!sections->line || offset >= sections->line->d_size || comp_dir > MAX_NAME)
		return false;
	pb_cursor_init(&c.bytes, (const uint8_t *)sections->line->d_buf + offset,
		       sections->line->d_size - (size_t)offset,
		       sections->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	version = read_head(&c, &program);
	if (version >= 5) {
		read_names_by_forms(&c, &dirs);
		read_names_by_forms(&c, &files);
	} else {
		read_names_in_line(&c, &dirs, 0);
		read_names_in_line(&c, &files, 3);
	}
	if (c.bytes.failed)
		return false;
	c.bytes.pos = program;
	bytes = pb_cursor_left(&c.bytes);
	cost = (files.n + count_defined_files(&c)) * (dirs.longest + 2) + files.total + bytes;
	if (bytes > MAX_PROGRAM || bytes > budget->bytes || cost > budget->names)
		return false;
	budget->bytes -= bytes;
	budget->names -= cost;
	return true;
}
