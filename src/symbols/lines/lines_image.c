#define _GNU_SOURCE
#include "lines_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf/elf_parts.h"

#define SHT_MIPS_DWARF 0x7000001e /* missing in some headers */

/* Debug information is compressed to a third or a fifth; some sections are mostly zeros. */
#define MAX_GROWTH  64
#define ALWAYS_FITS (1u << 20)

#define ROOM_BEHIND 65536 /* bytes of zeros */

#define SHARED ".gnu_debugaltlink" /* libdw accepts ".zgnu_debugaltlink" and others, too */

struct ps_unpacked {
	struct ps_unpacked *next;
	char bytes[];
};

/* Needed only for variables or unwinding: libdw is told that they do not exist. */
static const char *const unused[] = {
	".debug_loc",	  ".debug_loclists",	".debug_frame",	       ".debug_macro",
	".debug_macinfo", ".debug_pubnames",	".debug_pubtypes",     ".debug_names",
	".debug_aranges", ".debug_gdb_scripts", ".debug_gnu_pubnames", ".debug_gnu_pubtypes",
};

static bool is_debug(const char *name)
{
	return strncmp(name, ".debug_", 7) == 0;
}

static bool is_unused(const char *name)
{
	for (size_t i = 0; i < sizeof(unused) / sizeof(*unused); i++)
		if (strcmp(name, unused[i]) == 0)
			return true;
	return false;
}

/*
 * Returns false if libdw could not use a section as it lies: then the file is not used at all.
 */
static bool section_fits(Elf_Scn *section, const GElf_Shdr *header, uint64_t *size)
{
	GElf_Chdr packed;

	if (header->sh_type != SHT_PROGBITS && header->sh_type != SHT_MIPS_DWARF)
		return false;
	*size = header->sh_size;
	if (!(header->sh_flags & SHF_COMPRESSED))
		return true;
	if (!gelf_getchdr(section, &packed))
		return false;
	*size = packed.ch_size;
	return *size <= ALWAYS_FITS || *size / MAX_GROWTH <= header->sh_size;
}

static bool debug_sections(Elf *elf, uint64_t *size)
{
	Elf_Scn *section = NULL;
	bool found = false;

	*size = 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = ps_elf_header(elf, section, &header);
		uint64_t bytes;

		if (!is_debug(name) || header.sh_type == SHT_NOBITS)
			continue;
		if (!section_fits(section, &header, &bytes) ||
		    __builtin_add_overflow(*size, bytes, size))
			return false;
		found = found || strcmp(name, ".debug_info") == 0 ||
			strcmp(name, ".debug_info.dwo") == 0;
	}
	return found;
}

/* Reads a part of the file to its place. */
static bool read_file_part(const struct ps_image *image, int fd, uint64_t offset, uint64_t size,
			   uint64_t file_size)
{
	if (offset > file_size || size > file_size - offset)
		return false;
	while (size) {
		ssize_t n = pread(fd, image->bytes + offset, (size_t)size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

static bool is_needed(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) == 0 && elf_ndxscn(section) == names)
		return true;
	if (strcmp(name, SHARED) == 0 || ps_relocate_needs(header->sh_type, name))
		return true;
	return is_debug(name) && !is_unused(name);
}

/* Reads the header, the section headers, and the needed sections. */
static bool read_parts(struct ps_image *image, struct ps_elf *file, uint64_t file_size)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr header;
	size_t n;

	if (!gelf_getehdr(file->elf, &header) || elf_getshdrnum(file->elf, &n) != 0 ||
	    n > file_size / header.e_shentsize ||
	    !read_file_part(image, file->fd, 0, header.e_ehsize, file_size) ||
	    !read_file_part(image, file->fd, header.e_shoff, n * header.e_shentsize, file_size))
		return false;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr at;
		const char *name = ps_elf_header(file->elf, section, &at);

		if (at.sh_type != SHT_NOBITS && is_needed(file->elf, section, &at, name) &&
		    !read_file_part(image, file->fd, at.sh_offset, at.sh_size, file_size))
			return false;
	}
	return true;
}

/*
 * Unpacks a section. libelf leaves nothing behind what it unpacks; zeros must follow here, too.
 */
static bool unpack_section(struct ps_image *image, Elf_Scn *section)
{
	struct ps_unpacked *unpacked;
	Elf_Data *data;

	if (elf_compress(section, 0, 0) < 0)
		return false;
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf)
		return false;
	unpacked = calloc(1, sizeof(*unpacked) + data->d_size + ROOM_BEHIND);
	if (!unpacked)
		return false;
	memcpy(unpacked->bytes, data->d_buf, data->d_size);
	data->d_buf = unpacked->bytes;
	unpacked->next = image->unpacked;
	image->unpacked = unpacked;
	return true;
}

static bool unpack_sections(struct ps_image *image)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;

		if (is_debug(ps_elf_header(image->elf, section, &header)) &&
		    (header.sh_flags & SHF_COMPRESSED) && !unpack_section(image, section))
			return false;
	}
	return true;
}

/*
 * Returns true if a section of that name has the path of a file that libdw would open by
 * itself.
 */
static bool names_another(const char *name)
{
	return strstr(name, &SHARED[1]);
}

/* Notes the file that dwz made. Its section has the path, NUL, and the build-id. */
static void note_shared(struct ps_image *image, Elf_Scn *section)
{
	const Elf_Data *data = elf_rawdata(section, NULL);
	const char *name = data ? data->d_buf : NULL;
	size_t n = name ? strnlen(name, data->d_size) + 1 : 0;

	if (n < 2 || n >= data->d_size || data->d_size - n > PS_MAX_BUILD_ID)
		return;
	image->shared = name;
	image->shared_id.size = (uint8_t)(data->d_size - n);
	memcpy(image->shared_id.bytes, name + n, image->shared_id.size);
}

/* Hides from libdw the sections that are not used, and those that name another file. */
static bool hide_sections(struct ps_image *image)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		const char *name = ps_elf_header(image->elf, section, &header);

		if (!is_unused(name) && !names_another(name))
			continue;
		if (strcmp(name, SHARED) == 0)
			note_shared(image, section);
		header.sh_type = SHT_NOBITS;
		header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		if (!gelf_update_shdr(section, &header))
			return false;
	}
	return true;
}

static bool load_image(struct ps_image *image, struct ps_elf *file)
{
	struct stat status;
	size_t size;

	if (fstat(file->fd, &status) != 0 || status.st_size <= 0 ||
	    (uint64_t)status.st_size > SIZE_MAX - ROOM_BEHIND)
		return false;
	size = (size_t)status.st_size;
	image->bytes = mmap(NULL, size + ROOM_BEHIND, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (image->bytes == MAP_FAILED) {
		image->bytes = NULL;
		return false;
	}
	image->mapped = size + ROOM_BEHIND;
	if (!read_parts(image, file, size))
		return false;
	image->elf = elf_memory(image->bytes, size);
	if (!image->elf || !hide_sections(image) || !debug_sections(image->elf, &image->size) ||
	    !unpack_sections(image))
		return false;
	if (file->relocatable && !ps_relocate(image->elf))
		return false;
	image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
	return image->dwarf;
}

/* Opens the file and returns whether it is the wanted one, with debug information. */
static bool open_wanted(struct ps_elf *file, const char *root, const char *path,
			const struct ps_build_id *wanted)
{
	const char *reason;
	uint64_t size;

	if (!ps_elf_open(file, root, path, &reason))
		return false;
	if ((!wanted->size || ps_build_id_equal(wanted, &file->build_id)) &&
	    debug_sections(file->elf, &size))
		return true;
	ps_elf_close(file);
	return false;
}

bool ps_image_fits(const char *root, const char *path, const struct ps_build_id *wanted)
{
	struct ps_elf file;
	bool fits = open_wanted(&file, root, path, wanted);

	if (fits)
		ps_elf_close(&file);
	return fits;
}

bool ps_image_open(struct ps_image *image, const char *root, const char *path,
		   const struct ps_build_id *wanted)
{
	struct ps_elf file;

	*image = (struct ps_image){ 0 };
	if (!open_wanted(&file, root, path, wanted))
		return false;
	if (load_image(image, &file))
		image->path = strdup(path);
	ps_elf_close(&file);
	if (!image->path)
		ps_image_close(image);
	return image->path;
}

void ps_image_close(struct ps_image *image)
{
	dwarf_end(image->dwarf);
	elf_end(image->elf);
	while (image->unpacked) {
		struct ps_unpacked *next = image->unpacked->next;

		free(image->unpacked);
		image->unpacked = next;
	}
	if (image->bytes)
		munmap(image->bytes, image->mapped);
	free(image->path);
	*image = (struct ps_image){ 0 };
}

/*
 * Returns whether names end at the end of their section, where they end nowhere else, and no
 * other file is named.
 */
static bool names_end(Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = ps_elf_header(elf, section, &header);
		Elf_Data *data;

		if (names_another(name))
			return false;
		if (strncmp(name, ".debug_str.", 11) != 0 &&
		    strncmp(name, ".debug_line_str", 15) != 0 &&
		    strncmp(name, ".debug_info", 11) != 0)
			continue;
		if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
			return false;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_size || ((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

bool ps_split_fits(const char *path)
{
	struct ps_elf file;
	const char *reason;
	uint64_t size;
	bool fits;

	if (!ps_elf_open(&file, NULL, path, &reason))
		return false;
	fits = debug_sections(file.elf, &size) && names_end(file.elf);
	ps_elf_close(&file);
	return fits;
}

/* Relocations that stand for an address or offset as it is; compilers make no others here. */
static const struct kind {
	uint16_t machine;
	uint16_t type;
	uint8_t size; /* bytes */
} kinds[] = {
	{ EM_X86_64, R_X86_64_64, 8 },	    { EM_X86_64, R_X86_64_32, 4 },
	{ EM_AARCH64, R_AARCH64_ABS64, 8 }, { EM_AARCH64, R_AARCH64_ABS32, 4 },
	{ EM_PPC64, R_PPC64_ADDR64, 8 },    { EM_PPC64, R_PPC64_ADDR32, 4 },
	{ EM_S390, R_390_64, 8 },	    { EM_S390, R_390_32, 4 },
};

struct relocation {
	Elf *elf;
	const struct ps_parts *parts;
	uint16_t machine;
	bool big; /* big-endian */
	Elf_Data *entries, *symbols, *target;
};

bool ps_relocate_needs(uint32_t type, const char *name)
{
	return type == SHT_SYMTAB ||
	       (type == SHT_RELA && strncmp(name, ".rela.debug_", 12) == 0);
}

static size_t get_relocation_size(const struct relocation *r, uint64_t type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].machine == r->machine && kinds[i].type == type)
			return kinds[i].size;
	return 0;
}

static bool get_relocation_value(const struct relocation *r, const GElf_Rela *entry,
				 uint64_t *value)
{
	const struct ps_section *section;
	GElf_Sym symbol;

	if (!gelf_getsym(r->symbols, (int)GELF_R_SYM(entry->r_info), &symbol))
		return false;
	*value = symbol.st_value + (uint64_t)entry->r_addend;
	if (symbol.st_shndx >= r->parts->n_sections)
		return true; /* not of a section */
	section = &r->parts->sections[symbol.st_shndx];
	if (section->is_placed)
		*value += PS_MODULE_BASE + section->placed;
	else if (section->loaded)
		*value = 0; /* data, and code that is freed once the module runs */
	return true;
}

static bool apply_relocation(const struct relocation *r, const GElf_Rela *entry)
{
	size_t size = get_relocation_size(r, GELF_R_TYPE(entry->r_info));
	uint8_t *bytes = r->target->d_buf;
	uint64_t value;

	if (!size || entry->r_offset > r->target->d_size ||
	    size > r->target->d_size - entry->r_offset ||
	    !get_relocation_value(r, entry, &value))
		return false;
	bytes += entry->r_offset;
	for (size_t i = 0; i < size; i++)
		bytes[r->big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
	return true;
}

/* Applies one section of relocations. Changes nothing where nothing was read. */
static bool relocate_section(struct relocation *r, Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Shdr target;

	if (!gelf_getshdr(elf_getscn(r->elf, header->sh_info), &target))
		return false;
	if (target.sh_type == SHT_NOBITS)
		return true;
	r->entries = elf_getdata(section, NULL);
	r->symbols = elf_getdata(elf_getscn(r->elf, header->sh_link), NULL);
	r->target = elf_getdata(elf_getscn(r->elf, header->sh_info), NULL);
	if (!r->entries || !r->symbols || !r->target || !r->target->d_buf)
		return false;
	for (int i = 0;; i++) {
		GElf_Rela entry;

		if (!gelf_getrela(r->entries, i, &entry))
			return true;
		if (!apply_relocation(r, &entry))
			return false;
	}
}

static bool relocate_sections(struct relocation *r)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(r->elf, section))) {
		GElf_Shdr header;
		const char *name = ps_elf_header(r->elf, section, &header);

		if (header.sh_type == SHT_RELA && ps_relocate_needs(header.sh_type, name) &&
		    !relocate_section(r, section, &header))
			return false;
	}
	return true;
}

bool ps_relocate(Elf *elf)
{
	struct relocation r = { .elf = elf };
	struct ps_parts parts;
	GElf_Ehdr header;
	bool done;

	if (!gelf_getehdr(elf, &header) || !ps_parts_init(&parts, elf))
		return false;
	r.machine = header.e_machine;
	r.big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	r.parts = &parts;
	done = relocate_sections(&r);
	ps_parts_deinit(&parts);
	return done;
}
