#include "lines_units.h"

#include <dwarf.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/vector.h"
#include "lines_file.h"
#include "symbols/elf/elf_parts.h"

/*
 * An honest file has a range for every few tens of bytes, and takes ten or twenty ns a byte to
 * read.
 */
#define BYTES_PER_SPAN 4
#define NS_PER_BYTE    200
#define NS_AT_LEAST    1000000000

static bool add_unit(struct ps_units *units, const Dwarf_Die *die)
{
	if (!pb_reserve(units->units, units->n, units->capacity))
		return false;
	units->units[units->n++] = (struct ps_unit){ .die = *die };
	return true;
}

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

/* Finds the sections of a file; `dwo`: of a .dwo file. */
static void set_table_sections(struct ps_table_sections *sections, Elf *elf, bool dwo)
{
	const char *ident = elf_getident(elf, NULL);

	sections->line = find_table_section(elf, ".debug_line", dwo);
	sections->line_str = find_table_section(elf, ".debug_line_str", dwo);
	sections->str = find_table_section(elf, ".debug_str", dwo);
	sections->big = ident && ident[EI_DATA] == ELFDATA2MSB;
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

/*
 * Returns true if the table at `offset` may be read, and takes it from the budget. `comp_dir`
 * is the length of the directory that the unit was compiled in.
 */
static bool charge_table(const struct ps_table_sections *sections, uint64_t offset,
			 size_t comp_dir, struct ps_table_budget *budget)
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

static const char *get_attr_string(Dwarf_Die *die, unsigned int first, unsigned int second)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr(die, first, &attr) && !dwarf_attr(die, second, &attr))
		return NULL;
	return dwarf_formstring(&attr);
}

static bool table_fits(struct ps_units *units, const struct ps_table_sections *sections,
		       Dwarf_Die *die, bool split)
{
	const char *dir = get_attr_string(die, DW_AT_comp_dir, DW_AT_comp_dir);
	Dwarf_Attribute attr;
	Dwarf_Word offset = 0;

	/* a .dwo file has only one */
	if (dwarf_attr(die, DW_AT_stmt_list, &attr) ? dwarf_formudata(&attr, &offset) != 0 :
						      !split)
		return false;
	return charge_table(sections, offset, dir ? strnlen(dir, PATH_MAX + 1) : 0,
			    &units->tables);
}

static bool lines_table_fits(struct ps_units *units, struct ps_unit *unit)
{
	if (unit->lines == PS_TABLE_UNREAD)
		unit->lines = table_fits(units, &units->sections, &unit->die, false) ?
				      PS_TABLE_FITS :
				      PS_TABLE_UNFIT;
	return unit->lines == PS_TABLE_FITS;
}

/*
 * Adds the addresses of a unit that has lines alone, such as perf inject --jit writes: see
 * jit_add_debug_info, tools/perf/util/genelf_debug.c. Returns false without memory or budget.
 */
static bool add_lines_span(struct ps_units *units, struct ps_unit *unit)
{
	Dwarf_Addr low, high;
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_hasattr(&unit->die, DW_AT_low_pc) ||
	    dwarf_hasattr(&unit->die, DW_AT_ranges) || !lines_table_fits(units, unit) ||
	    dwarf_getsrclines(&unit->die, &lines, &n) != 0 || !n ||
	    dwarf_lineaddr(dwarf_onesrcline(lines, 0), &low) != 0 ||
	    dwarf_lineaddr(dwarf_onesrcline(lines, n - 1), &high) != 0)
		return true;
	return ps_spans_add(&units->spans, low, high, (uint32_t)(units->n - 1), &units->budget);
}

void ps_units_read(struct ps_units *units, const struct ps_debug *debug,
		   struct ps_interrupt *interrupt)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;

	units->budget = (struct ps_budget){
		.spans = (size_t)(debug->size / BYTES_PER_SPAN),
		.time = debug->size * NS_PER_BYTE + NS_AT_LEAST,
		.interrupt = interrupt,
	};
	set_table_sections(&units->sections, debug->image.elf, false);
	units->tables.bytes = units->sections.line ?
				      2 * (uint64_t)units->sections.line->d_size :
				      0;
	units->tables.names = units->tables.bytes * NAMES_PER_BYTE + NAMES_ALWAYS;
	ps_budget_start(&units->budget);
	while (dwarf_get_units(debug->image.dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
		if ((type != DW_UT_compile && type != DW_UT_skeleton) || !die.cu)
			continue;
		if (!add_unit(units, &die) ||
		    !ps_spans_add_die(&units->spans, &die, (uint32_t)(units->n - 1),
				      &units->budget) ||
		    !add_lines_span(units, &units->units[units->n - 1]) ||
		    ps_budget_late(&units->budget))
			break;
	}
	ps_spans_finish(&units->spans);
	ps_budget_stop(&units->budget);
}

void ps_units_deinit(struct ps_units *units)
{
	for (size_t i = 0; i < units->n; i++)
		ps_functions_deinit(&units->units[i].functions);
	free(units->units);
	ps_spans_deinit(&units->spans);
}

/* Returns true if the unit has a .dwo file that libdw may open, as it opens it by itself. */
static bool has_split_file(Dwarf_Die *die)
{
	const char *name = get_attr_string(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
	const char *dir = get_attr_string(die, DW_AT_comp_dir, DW_AT_comp_dir);
	char path[PATH_MAX];
	int n;

	if (!name)
		return false;
	n = name[0] == '/' || !dir ? snprintf(path, sizeof(path), "%s", name) :
				     snprintf(path, sizeof(path), "%s/%s", dir, name);
	return n > 0 && (size_t)n < sizeof(path) && path[0] == '/' && ps_split_fits(path);
}

static void read_functions(struct ps_units *units, struct ps_unit *unit)
{
	uint8_t type;
	Dwarf_Die split;

	unit->read = true;
	unit->code = unit->die;
	if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0)
		return;
	if (type == DW_UT_skeleton) {
		if (!has_split_file(&unit->die) ||
		    dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) !=
			    0 ||
		    !split.cu)
			return;
		unit->code = split;
	}
	ps_budget_start(&units->budget);
	ps_functions_read(&unit->functions, &unit->code, &units->budget);
	ps_budget_stop(&units->budget);
}

struct ps_unit *ps_units_find(struct ps_units *units, uint64_t address)
{
	uint32_t i = ps_spans_find(&units->spans, address);
	struct ps_unit *unit;

	if (i == PS_NO_OWNER)
		return NULL;
	unit = &units->units[i];
	if (!unit->read)
		read_functions(units, unit);
	return unit;
}

const char *ps_unit_dir(struct ps_unit *unit)
{
	return get_attr_string(&unit->die, DW_AT_comp_dir, DW_AT_comp_dir);
}

static bool files_table_fits(struct ps_units *units, struct ps_unit *unit)
{
	struct ps_table_sections split;

	if (unit->code.cu == unit->die.cu)
		return lines_table_fits(units, unit);
	if (unit->files == PS_TABLE_UNREAD) {
		set_table_sections(&split, dwarf_getelf(dwarf_cu_getdwarf(unit->code.cu)),
				   true);
		/* without a table of its own it uses that of the other file */
		unit->files = (split.line ? table_fits(units, &split, &unit->code, true) :
					    lines_table_fits(units, unit)) ?
				      PS_TABLE_FITS :
				      PS_TABLE_UNFIT;
	}
	return unit->files == PS_TABLE_FITS;
}

Dwarf_Line *ps_unit_line(struct ps_units *units, struct ps_unit *unit, uint64_t address)
{
	return lines_table_fits(units, unit) ? dwarf_getsrc_die(&unit->die, address) : NULL;
}

const char *ps_unit_file(struct ps_units *units, struct ps_unit *unit, uint32_t file)
{
	Dwarf_Files *files;
	size_t n;

	if (!files_table_fits(units, unit) || dwarf_getsrcfiles(&unit->code, &files, &n) != 0 ||
	    file >= n)
		return NULL;
	return dwarf_filesrc(files, file, NULL, NULL);
}
