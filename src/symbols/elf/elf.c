#include "elf.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>
#include <stdio.h>

#include "elf_parts.h"
#include "file.h"
#include "unpack.h"

/* Reads the file instead of mapping it: a mapped file that shrinks would end the process. */
static Elf *begin_plain(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		elf = NULL;
	}
	return elf;
}

/* Unpacks a compressed file, and replaces *fd by the unpacked one. */
static Elf *begin_file(int *fd)
{
	Elf *elf = begin_plain(*fd);
	int unpacked;

	if (elf)
		return elf;
	unpacked = ps_unpack(*fd);
	if (unpacked < 0)
		return NULL;
	close(*fd);
	*fd = unpacked;
	return begin_plain(unpacked);
}

static void read_build_id(struct ps_elf *elf)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(elf->elf, &bytes);

	if (n <= 0)
		return;
	elf->build_id.size = (uint8_t)(n < PS_MAX_BUILD_ID ? n : PS_MAX_BUILD_ID);
	memcpy(elf->build_id.bytes, bytes, elf->build_id.size);
}

static bool inspect_sections(struct ps_elf *elf)
{
	GElf_Ehdr header;
	GElf_Shdr section;

	if (!gelf_getehdr(elf->elf, &header))
		return false;
	elf->relocatable = header.e_type == ET_REL;
	elf->symtab = ps_elf_section(elf->elf, SHT_SYMTAB, NULL, &section);
	elf->dynsym = ps_elf_section(elf->elf, SHT_DYNSYM, NULL, &section);
	elf->opd = header.e_machine == EM_PPC64 &&
		   ps_elf_section(elf->elf, SHT_PROGBITS, ".opd", &section);
	elf->is_debug = ps_elf_lacks_code(elf->elf);
	read_build_id(elf);
	return true;
}

bool ps_elf_open(struct ps_elf *elf, const char *root, const char *path, const char **reason)
{
	struct stat status;

	elf_version(EV_CURRENT);
	*elf = (struct ps_elf){ .fd = ps_file_open(root, path, &status, reason) };
	if (elf->fd < 0)
		return false;
	elf->elf = begin_file(&elf->fd);
	if (!elf->elf || !inspect_sections(elf)) {
		*reason = status.st_size ? "not an ELF file" : "an empty file";
		ps_elf_close(elf);
		return false;
	}
	return true;
}

bool ps_elf_open_debugdata(struct ps_elf *inner, struct ps_elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *scn = ps_elf_section(elf->elf, SHT_PROGBITS, ".gnu_debugdata", &header);
	const Elf_Data *data = ps_elf_data(scn);

	*inner = (struct ps_elf){ .fd = data ? ps_memory_file(data->d_buf, data->d_size) : -1 };
	if (inner->fd < 0)
		return false;
	inner->elf = begin_file(&inner->fd);
	if (inner->elf && inspect_sections(inner))
		return true;
	ps_elf_close(inner);
	return false;
}

void ps_elf_close(struct ps_elf *elf)
{
	elf_end(elf->elf);
	if (elf->fd >= 0)
		close(elf->fd);
	*elf = (struct ps_elf){ .fd = -1 };
}

bool ps_elf_debuglink(struct ps_elf *elf, char *path, size_t size)
{
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(elf->elf, &crc);
	size_t n = name ? strlen(name) + 1 : 0;

	if (n < 2 || n > size)
		return false;
	memcpy(path, name, n);
	return true;
}

static bool find_symbol(Elf *elf, uint32_t type, const char *name, uint64_t *address)
{
	GElf_Shdr header;
	Elf_Scn *scn = ps_elf_section(elf, type, NULL, &header);
	const Elf_Data *symbols = ps_elf_data(scn);
	const Elf_Data *strings = scn ? ps_elf_data(elf_getscn(elf, header.sh_link)) : NULL;
	GElf_Sym symbol;

	if (!symbols || !strings)
		return false;
	for (int i = 0; gelf_getsym((Elf_Data *)symbols, i, &symbol); i++) {
		size_t length;
		const char *its = ps_elf_string(strings, symbol.st_name, &length);

		if (its && symbol.st_shndx != SHN_UNDEF && strcmp(its, name) == 0) {
			*address = symbol.st_value;
			return true;
		}
	}
	return false;
}

bool ps_elf_symbol_address(struct ps_elf *elf, const char *name, uint64_t *address)
{
	return find_symbol(elf->elf, SHT_SYMTAB, name, address) ||
	       find_symbol(elf->elf, SHT_DYNSYM, name, address);
}

bool ps_elf_address(struct ps_elf *elf, uint64_t offset, uint64_t *address)
{
	size_t n;

	if (elf_getphdrnum(elf->elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf->elf, (int)i, &header))
			return false;
		if (header.p_type == PT_LOAD && offset >= header.p_offset &&
		    offset - header.p_offset < header.p_filesz) {
			*address = offset - header.p_offset + header.p_vaddr;
			return true;
		}
	}
	return false;
}

const char *ps_build_id_text(const struct ps_build_id *id, char text[PS_BUILD_ID_TEXT])
{
	text[0] = '\0';
	for (size_t i = 0; i < id->size && i < PS_MAX_BUILD_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
	return text;
}
