#define _GNU_SOURCE /* memfd_create */
#include "elf.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "elf_parts.h"
#include "file.h"

/*
 * Unpacks compressed files: kernel modules, and the small symbol tables within some programs.
 */

/*
 * Limit of what n bytes may become: good compressors shrink ELF files to a tenth, but a few
 * bytes can also stand for endless zeros.
 */
#define ROOM(n)	   ((UINT64_C(64) << 20) + 32 * (uint64_t)(n))
#define XZ_MEMORY  (UINT64_C(256) << 20)
#define CHUNK_SIZE 65536

struct unpacking {
	int from, to;
	uint64_t read, written;
	uint8_t in[CHUNK_SIZE], out[CHUNK_SIZE];
};

static bool write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t written = write(fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		p += written;
		n -= (size_t)written;
	}
	return true;
}

/* Returns the descriptor of an unlinked file with these bytes; -1: no space. */
static int memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	if (fd >= 0 && !write_all(fd, bytes, n)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Returns 0 at the end, and on an error, which is an end that comes too early. */
static size_t fill_input(struct unpacking *u)
{
	ssize_t n;

	do {
		n = read(u->from, u->in, sizeof(u->in));
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	u->read += (size_t)n;
	return (size_t)n;
}

static bool drain_input(struct unpacking *u, size_t n)
{
	u->written += n;
	return u->written <= ROOM(u->read) && write_all(u->to, u->out, n);
}

static bool unpack_xz(struct unpacking *u)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, XZ_MEMORY, 0);

	while (result == LZMA_OK) {
		if (!stream.avail_in) {
			stream.next_in = u->in;
			stream.avail_in = fill_input(u);
			if (!stream.avail_in)
				break;
		}
		stream.next_out = u->out;
		stream.avail_out = sizeof(u->out);
		result = lzma_code(&stream, LZMA_RUN);
		if (!drain_input(u, sizeof(u->out) - stream.avail_out))
			break;
	}
	lzma_end(&stream);
	return result == LZMA_STREAM_END;
}

static bool unpack_gzip(struct unpacking *u)
{
	z_stream stream = { 0 };
	int result = inflateInit2(&stream, MAX_WBITS + 16);

	if (result != Z_OK)
		return false;
	while (result == Z_OK) {
		if (!stream.avail_in) {
			stream.next_in = u->in;
			stream.avail_in = (uInt)fill_input(u);
			if (!stream.avail_in)
				break;
		}
		stream.next_out = u->out;
		stream.avail_out = sizeof(u->out);
		result = inflate(&stream, Z_NO_FLUSH);
		if (!drain_input(u, sizeof(u->out) - stream.avail_out))
			break;
	}
	inflateEnd(&stream);
	return result == Z_STREAM_END;
}

static bool unpack_zstd(struct unpacking *u)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = { u->in, 0, 0 };
	size_t result = 1;

	if (!stream)
		return false;
	while (result && !ZSTD_isError(result)) {
		ZSTD_outBuffer out = { u->out, sizeof(u->out), 0 };

		if (in.pos == in.size) {
			in = (ZSTD_inBuffer){ u->in, fill_input(u), 0 };
			if (!in.size)
				break;
		}
		result = ZSTD_decompressStream(stream, &out, &in);
		if (!drain_input(u, out.pos)) {
			result = 1;
			break;
		}
	}
	ZSTD_freeDStream(stream);
	return result == 0;
}

struct format {
	const char *magic;
	size_t n;
	bool (*unpack_with)(struct unpacking *u);
};

static const struct format formats[] = {
	{ "\xfd"
	  "7zXZ",
	  6, unpack_xz },
	{ "\x1f\x8b", 2, unpack_gzip },
	{ "\x28\xb5\x2f\xfd", 4, unpack_zstd },
};

static bool unpack_with(struct unpacking *u)
{
	char magic[6] = { 0 };

	if (pread(u->from, magic, sizeof(magic), 0) < 0 || lseek(u->from, 0, SEEK_SET) < 0)
		return false;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (memcmp(magic, formats[i].magic, formats[i].n) == 0)
			return formats[i].unpack_with(u);
	return false;
}

/*
 * Unpacks the contents of a descriptor, compressed by gzip, xz or Zstandard, to an unlinked
 * file. Returns its descriptor, which the caller closes; -1: another format, damage, or far
 * more data than such files hold.
 */
static int unpack(int fd)
{
	struct unpacking *u = malloc(sizeof(*u));
	int to;

	if (!u)
		return -1;
	u->from = fd;
	u->to = memfd_create("elf", MFD_CLOEXEC);
	u->read = u->written = 0;
	to = u->to;
	if (to >= 0 && !unpack_with(u)) {
		close(to);
		to = -1;
	}
	free(u);
	return to;
}

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
	unpacked = unpack(*fd);
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

	*inner = (struct ps_elf){ .fd = data ? memory_file(data->d_buf, data->d_size) : -1 };
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
