#include "elf_parts.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NAME 32768

static uint64_t align_up(uint64_t value, uint64_t to)
{
	/* no linker writes an alignment that is not a power of two */
	return to > 1 && (to & (to - 1)) == 0 ? (value + to - 1) & ~(to - 1) : value;
}

/*
 * Places a section of a module. The kernel puts sections with code one after another, except
 * for those that it frees after the start. See layout_sections, kernel/module/main.c.
 */
static void place_code_section(struct ps_section *section, const GElf_Shdr *header,
			       const char *name, uint64_t *end)
{
	if (!section->loaded || !section->executable || strncmp(name, ".init", 5) == 0)
		return;
	section->placed = align_up(*end, header->sh_addralign);
	section->is_placed = true;
	*end = section->placed + section->size;
}

static void read_sections(struct ps_parts *parts, Elf *elf)
{
	Elf_Scn *scn = NULL;
	uint64_t end = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		size_t i = elf_ndxscn(scn);
		GElf_Shdr header;
		const char *name = ps_elf_header(elf, scn, &header);

		if (i >= parts->n_sections)
			continue;
		parts->sections[i] = (struct ps_section){
			.address = header.sh_addr,
			.offset = header.sh_offset,
			.size = header.sh_size,
			.type = header.sh_type,
			.loaded = header.sh_flags & SHF_ALLOC,
			.executable = header.sh_flags & SHF_EXECINSTR,
			.named_text = strstr(name, "text"),
			.named_data = strstr(name, "data"),
		};
		place_code_section(&parts->sections[i], &header, name, &end);
	}
}

static void read_segments(struct ps_parts *parts, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n && parts->n_segments < PS_MAX_SEGMENTS; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header))
			return;
		if (header.p_type != PT_LOAD)
			continue;
		parts->segments[parts->n_segments++] = (struct ps_segment){
			.address = header.p_vaddr,
			.offset = header.p_offset,
			.size = header.p_memsz > header.p_filesz ? header.p_memsz :
								   header.p_filesz,
			.flags = header.p_flags,
		};
	}
}

bool ps_parts_init(struct ps_parts *parts, Elf *elf)
{
	*parts = (struct ps_parts){ 0 };
	if (elf_getshdrnum(elf, &parts->n_sections) < 0)
		parts->n_sections = 0;
	parts->sections = calloc(parts->n_sections + 1, sizeof(*parts->sections));
	if (!parts->sections)
		return false;
	read_sections(parts, elf);
	read_segments(parts, elf);
	return true;
}

void ps_parts_deinit(struct ps_parts *parts)
{
	free(parts->sections);
	*parts = (struct ps_parts){ 0 };
}

bool ps_parts_offset(const struct ps_parts *parts, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < parts->n_segments; i++) {
		const struct ps_segment *segment = &parts->segments[i];

		if (address >= segment->address && address - segment->address < segment->size) {
			*offset = address - segment->address + segment->offset;
			return true;
		}
	}
	return false;
}

bool ps_segments_address(const struct ps_segment *segments, size_t n, uint64_t offset,
			 uint64_t *address)
{
	for (size_t i = 0; i < n; i++) {
		if (offset - segments[i].offset >= segments[i].size)
			continue;
		*address = offset - segments[i].offset + segments[i].address;
		return true;
	}
	return false;
}

bool ps_elf_lacks_code(Elf *elf)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	Elf_Scn *scn = NULL;
	bool lacks = false;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;

		if (!gelf_getshdr(scn, &header) || (header.sh_flags & code) != code ||
		    !header.sh_size)
			continue;
		if (header.sh_type != SHT_NOBITS)
			return false;
		lacks = true;
	}
	return lacks;
}

const char *ps_elf_header(Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	const char *name = NULL;
	size_t names;

	if (!gelf_getshdr(section, header))
		*header = (GElf_Shdr){ .sh_type = SHT_NULL };
	else if (elf_getshdrstrndx(elf, &names) == 0)
		name = elf_strptr(elf, names, header->sh_name);
	return name ? name : "";
}

Elf_Scn *ps_elf_section(Elf *elf, uint32_t type, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		const char *its = ps_elf_header(elf, scn, header);

		if (header->sh_type == type && (!name || strcmp(its, name) == 0))
			return scn;
	}
	return NULL;
}

const Elf_Data *ps_elf_data(Elf_Scn *section)
{
	const Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	return data && data->d_buf && data->d_size ? data : NULL;
}

const char *ps_elf_string(const Elf_Data *strings, size_t at, size_t *length)
{
	const char *string, *end;
	size_t room;

	if (at >= strings->d_size)
		return NULL;
	string = (const char *)strings->d_buf + at;
	room = strings->d_size - at;
	end = memchr(string, '\0', room < MAX_NAME ? room : MAX_NAME);
	if (!end)
		return NULL;
	*length = (size_t)(end - string);
	return string;
}
