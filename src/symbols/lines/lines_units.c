#include "lines_units.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "lines_file.h"

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
	ps_table_sections(&units->sections, debug->image.elf, false);
	ps_table_budget(&units->tables, &units->sections);
	ps_budget_start(&units->budget);
	while (dwarf_get_units(debug->image.dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
		if ((type != DW_UT_compile && type != DW_UT_skeleton) || !die.cu)
			continue;
		if (!add_unit(units, &die) ||
		    !ps_spans_add_die(&units->spans, &die, (uint32_t)(units->n - 1),
				      &units->budget) ||
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

static const char *get_attr_string(Dwarf_Die *die, unsigned int first, unsigned int second)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr(die, first, &attr) && !dwarf_attr(die, second, &attr))
		return NULL;
	return dwarf_formstring(&attr);
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
	return ps_table_fits(sections, offset, dir ? strnlen(dir, PATH_MAX + 1) : 0,
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

static bool files_table_fits(struct ps_units *units, struct ps_unit *unit)
{
	struct ps_table_sections split;

	if (unit->code.cu == unit->die.cu)
		return lines_table_fits(units, unit);
	if (unit->files == PS_TABLE_UNREAD) {
		ps_table_sections(&split, dwarf_getelf(dwarf_cu_getdwarf(unit->code.cu)), true);
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
