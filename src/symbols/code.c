#define _GNU_SOURCE
#include "code.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asked.h"
#include "bundle.h"
#include "internal.h"
#include "load.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/file.h"
#include "symbols/jit/jitdump.h"

#define MOST_CODE ((size_t)64 << 20) /* bytes of a function */

/* Reads up to `size` bytes at `offset` of a file into code->bytes. */
static bool read_bytes(int fd, uint64_t offset, uint64_t size, struct ps_code *code)
{
	struct stat status;
	ssize_t n = 0;

	if (fstat(fd, &status) != 0 || offset >= (uint64_t)status.st_size)
		return false;
	code->written = status.st_mtime;
	if (size > (uint64_t)status.st_size - offset)
		size = (uint64_t)status.st_size - offset;
	if (size > MOST_CODE)
		size = MOST_CODE;
	code->bytes = malloc(size);
	while (code->bytes && code->size < size) {
		n = pread(fd, code->bytes + code->size, size - code->size,
			  (off_t)(offset + code->size));
		if (n <= 0)
			break;
		code->size += (size_t)n;
	}
	return code->size;
}

/* Sets the machine of the code. Returns false if the file does not say it. */
static bool read_machine(Elf *elf, struct ps_code *code)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return false;
	code->machine = header.e_machine;
	code->is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
	code->is_big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	return true;
}

/*
 * Returns how many bytes the section at an address has from there on: what lies beyond is
 * something else. UINT64_MAX: no section is there, as a kcore has none.
 */
static uint64_t size_of_section(Elf *elf, uint64_t address)
{
	uint64_t left = UINT64_MAX;
	struct ps_parts parts;

	if (!ps_parts_init(&parts, elf))
		return left;
	for (size_t i = 0; i < parts.n_sections; i++) {
		const struct ps_section *section = &parts.sections[i];

		if (section->loaded && address - section->address < section->size)
			left = section->size - (address - section->address);
	}
	ps_parts_deinit(&parts);
	return left;
}

/*
 * Reads code at an address of an ELF file, from the segment that has it. Bytes that the segment
 * does not have are not code, nor are those of a function that its section does not have.
 */
static bool read_segment(const struct ps_elf *elf, uint64_t address, uint64_t size,
			 bool is_function, struct ps_code *code)
{
	uint64_t left = is_function ? size_of_section(elf->elf, address) : UINT64_MAX;
	size_t n;

	if (elf_getphdrnum(elf->elf, &n) < 0)
		return false;
	if (size > left)
		size = left;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr header;
		uint64_t in;

		if (!gelf_getphdr(elf->elf, (int)i, &header))
			return false;
		in = address - header.p_vaddr;
		if (header.p_type != PT_LOAD || address < header.p_vaddr ||
		    in >= header.p_filesz)
			continue;
		if (size > header.p_filesz - in)
			size = header.p_filesz - in;
		code->address = address;
		return read_bytes(elf->fd, header.p_offset + in, size, code);
	}
	return false;
}

/* Reads code of a module, which has no segments, at an offset from where it is loaded. */
static bool read_section(const struct ps_elf *elf, uint64_t placed, uint64_t size,
			 struct ps_code *code)
{
	struct ps_parts parts;
	bool found = false;

	if (!ps_parts_init(&parts, elf->elf))
		return false;
	for (size_t i = 0; i < parts.n_sections && !found; i++) {
		const struct ps_section *section = &parts.sections[i];
		uint64_t in = placed - section->placed;

		if (!section->is_placed || placed < section->placed || in >= section->size)
			continue;
		code->address = section->address + in;
		found = read_bytes(elf->fd, section->offset + in,
				   size < section->size - in ? size : section->size - in, code);
	}
	ps_parts_deinit(&parts);
	return found;
}

/* The range of a function, or another one, in the file that has its code. */
struct asked {
	struct ps_dso *dso;
	uint64_t start, size;
	bool is_function;
};

static bool read_file(const struct asked *asked, const char *path, struct ps_code *code,
		      const char **reason)
{
	struct ps_elf elf;
	uint64_t address = asked->start - asked->dso->bias;
	bool found = false, offsets = asked->dso->id.kind != PS_KERNEL;

	if (!ps_elf_open(&elf, asked->dso->store->options.symfs, path, reason))
		return false;
	*reason = elf.is_debug ? "only a debug file was found, which has no code" :
				 "the file ends before the function";
	if (!elf.is_debug && read_machine(elf.elf, code)) {
		if (elf.relocatable)
			found = read_section(&elf, asked->start, asked->size, code);
		else if (!offsets || ps_elf_address(&elf, asked->start, &address))
			found = read_segment(&elf, address, asked->size, asked->is_function,
					     code);
	}
	ps_elf_close(&elf);
	code->path = path;
	return found;
}

/*
 * Reads the code of a kernel whose symbols are those of a list: from the kcore beside it. That
 * of the running kernel is in /proc.
 */
static bool read_kcore(const struct asked *asked, const char *list, struct ps_code *code,
		       const char **reason)
{
	const char *slash = strrchr(list, '/');
	struct ps_elf elf = { 0 };
	struct stat status;
	char path[PATH_MAX];
	bool found = false;
	int n = snprintf(path, sizeof(path), "%.*s/kcore", slash ? (int)(slash - list) : 1,
			 slash ? list : ".");

	if (n <= 0 || (size_t)n >= sizeof(path))
		return false;
	elf_version(EV_CURRENT);
	elf.fd = strncmp(path, "/proc/", 6) == 0 ?
			 ps_file_open_chosen(path, &status, reason) :
			 ps_file_open(asked->dso->store->options.symfs, path, &status, reason);
	if (elf.fd >= 0)
		elf.elf = elf_begin(elf.fd, ELF_C_READ, NULL);
	if (elf.elf && read_machine(elf.elf, code))
		found = read_segment(&elf, asked->start, asked->size, asked->is_function, code);
	ps_elf_close(&elf);
	code->written = 0; /* a copy of memory */
	pthread_mutex_lock(&asked->dso->store->lock);
	code->path = ps_store_text(asked->dso->store, path);
	pthread_mutex_unlock(&asked->dso->store->lock);
	*reason = "neither the kernel's file (vmlinux) nor a kcore with its code was found";
	return found;
}

/* Reads the code that a program wrote to its jitdump. */
static bool read_jit(const struct asked *asked, const struct ps_symbol *symbol,
		     struct ps_code *code, const char **reason)
{
	const struct ps_dso *dso = asked->dso;
	const struct ps_jitdump *dump = dso->jitdump;
	const struct ps_jit_span *span = dump ? ps_jitdump_span(dump, symbol) : NULL;
	struct stat status;
	int fd;

	*reason = "the program left no jitdump with the bytes of its code";
	if (!span || !span->bytes)
		return false;
	fd = ps_file_open_left(dso->store->options.symfs, dso->path, &status, reason);
	if (fd < 0)
		return false;
	code->address = asked->start;
	code->path = dso->path;
	code->machine = dump->machine;
	/* the header has the machine alone: all that write dumps have 64 bits but these two */
	code->is_64 = dump->machine != EM_386 && dump->machine != EM_ARM;
	code->is_big = dump->is_big;
	if (read_bytes(fd, span->bytes, asked->size, code)) {
		close(fd);
		return true;
	}
	close(fd);
	*reason = "the jitdump ends before the function";
	return false;
}

/* Takes a piece of code from a bundle. Returns false at its end, or without memory. */
static bool take_code(const struct ps_packed *packed, struct pb_cursor *c,
		      const struct asked *asked, bool *found, struct ps_code *code)
{
	uint64_t start = ps_take_number(c), size = ps_take_number(c), flags;
	struct ps_code taken = { .address = ps_take_number(c) };
	const uint8_t *bytes;

	taken.machine = (uint16_t)ps_take_number(c);
	flags = ps_take_number(c);
	taken.is_64 = flags & 1;
	taken.is_big = flags & 2;
	taken.path = ps_take_string(c, packed->bundle);
	taken.written = (int64_t)ps_take_number(c);
	taken.size = ps_take_count(c);
	bytes = pb_take(c, taken.size);
	if (!bytes || !taken.size || taken.size > size || !taken.path)
		return false;
	*found = start == asked->start && size == asked->size;
	if (!*found)
		return true;
	taken.bytes = malloc(taken.size);
	if (!taken.bytes)
		return false;
	memcpy(taken.bytes, bytes, taken.size);
	*code = taken;
	return true;
}

/*
 * Reads the code of a bundle: the number of pieces; of each the start and the size of the
 * range, the address in its file, the machine, 1 if it has 64 bits and 2 if it is big-endian,
 * the path, when that file was written, the number of bytes, and the bytes.
 */
static bool read_packed_code(const struct asked *asked, struct ps_code *code)
{
	const struct ps_packed *packed = ps_dso_packed(asked->dso);
	bool found = false;
	struct pb_cursor c;

	if (!packed || !ps_packed_read(packed, PS_PACKED_CODE, &c))
		return false;
	for (size_t n = ps_take_count(&c); n && !found; n--)
		if (!take_code(packed, &c, asked, &found, code))
			return false;
	return found;
}

bool ps_dso_code(struct ps_dso *dso, const struct ps_symbol *symbol, struct ps_code *code,
		 const char **reason)
{
	const uint64_t start = symbol->start, size = symbol->end - symbol->start;
	struct asked asked = { dso, symbol->start, symbol->end - symbol->start,
			       symbol->name != NULL };
	bool found = false;

	*code = (struct ps_code){ 0 };
	*reason = "code of this kind is in no file";
	if (!ps_dso_load(dso))
		*reason = "its symbols are not known";
	else if (dso->id.kind == PS_BPF)
		*reason = "the recording does not have the code of this program";
	else if (dso->id.kind == PS_JIT)
		found = read_jit(&asked, symbol, code, reason);
	else if (dso->packed && !dso->runtime)
		*reason = "the bundle has its names, and not the code of this function";
	else if (dso->list || dso->kallsyms) {
		if (dso->id.kind == PS_MODULE)
			asked.start += dso->id.start;
		found = read_kcore(&asked, dso->list ? dso->list : dso->path, code, reason);
	} else if (dso->runtime || dso->path)
		found = read_file(&asked, dso->runtime ? dso->runtime : dso->path, code,
				  reason);
	if (!found) {
		ps_code_deinit(code);
		asked.start = start;
		found = read_packed_code(&asked, code);
	}
	if (found && dso->asked)
		ps_note_code(dso->asked, start, size, code);
	return found;
}

void ps_code_deinit(struct ps_code *code)
{
	free(code->bytes);
	*code = (struct ps_code){ 0 };
}
