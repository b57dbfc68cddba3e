#define _GNU_SOURCE

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/sha256.h"
#include "internal.h"

enum {
	TEXT = 1,
	SYMTAB,
	STRTAB,
	NOTE,
	SHSTRTAB,
	SECTIONS
};

static const char names[] = "\0.text\0.symtab\0.strtab\0.note.gnu.build-id\0.shstrtab";

/* A file in the making. */
struct image {
	struct pb_string *out;
	bool swap; /* the file has the other byte order than this host */
	/* of each section: offset, size in the file, and offset of its name */
	struct {
		uint64_t at, size;
		uint32_t name;
	} sections[SECTIONS];
};

static void align(struct pb_string *out, size_t to)
{
	pb_string_fill(out, '\0', -out->n & (to - 1));
}

static void begin_section(struct image *image, unsigned section)
{
	align(image->out, 8);
	image->sections[section].at = image->out->n;
}

static void end_section(struct image *image, unsigned section)
{
	image->sections[section].size = image->out->n - image->sections[section].at;
}

/* Adds the header, whose offset of the sections is not known yet, and the segment. */
static void add_headers(struct image *image, const struct pj_function *f)
{
	struct pb_string *out = image->out;
	const char ident[EI_NIDENT] = { ELFMAG0,    ELFMAG1,
					ELFMAG2,    ELFMAG3,
					ELFCLASS64, f->is_big ? ELFDATA2MSB : ELFDATA2LSB,
					EV_CURRENT };

	pb_string_add(out, ident, sizeof(ident));
	pj_add16(out, ET_DYN, image->swap);
	pj_add16(out, f->machine, image->swap);
	pj_add32(out, EV_CURRENT, image->swap);
	pj_add64(out, PJ_TEXT_AT, image->swap); /* the entry */
	pj_add64(out, sizeof(Elf64_Ehdr), image->swap);
	pj_add64(out, 0, image->swap);
	pj_add32(out, 0, image->swap);
	pj_add16(out, sizeof(Elf64_Ehdr), image->swap);
	pj_add16(out, sizeof(Elf64_Phdr), image->swap);
	pj_add16(out, 1, image->swap);
	pj_add16(out, sizeof(Elf64_Shdr), image->swap);
	pj_add16(out, SECTIONS, image->swap);
	pj_add16(out, SHSTRTAB, image->swap);
	pj_add32(out, PT_LOAD, image->swap);
	pj_add32(out, PF_R | PF_X, image->swap);
	for (int i = 0; i < 3; i++)
		pj_add64(out, PJ_TEXT_AT, image->swap); /* offset, addresses */
	pj_add64(out, f->size, image->swap);		/* in the file, in memory */
	pj_add64(out, f->size, image->swap);
	pj_add64(out, 16, image->swap);
}

static void add_symbols(struct image *image, const struct pj_function *f)
{
	struct pb_string *out = image->out;

	begin_section(image, SYMTAB);
	pb_string_fill(out, '\0', sizeof(Elf64_Sym));
	pj_add32(out, 1, image->swap); /* the name, after the empty one */
	pb_string_add(out, (const char[]){ ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0 }, 2);
	pj_add16(out, TEXT, image->swap);
	pj_add64(out, PJ_TEXT_AT, image->swap);
	pj_add64(out, f->size, image->swap);
	end_section(image, SYMTAB);
	begin_section(image, STRTAB);
	pb_string_fill(out, '\0', 1);
	pb_string_add(out, f->name, f->name_length);
	pb_string_fill(out, '\0', 1);
	end_section(image, STRTAB);
}

/* Adds a build-id, the hash of all bytes before it, and sets *id to it. */
static void add_build_id(struct image *image, struct ps_build_id *id)
{
	struct pb_string *out = image->out;
	uint8_t digest[PB_SHA256_SIZE];
	struct pb_sha256 sha;

	pb_sha256_init(&sha);
	pb_sha256_add(&sha, out->p, out->n);
	pb_sha256_end(&sha, digest);
	id->size = PS_MAX_BUILD_ID;
	memcpy(id->bytes, digest, PS_MAX_BUILD_ID);
	begin_section(image, NOTE);
	pj_add32(out, 4, image->swap);
	pj_add32(out, id->size, image->swap);
	pj_add32(out, NT_GNU_BUILD_ID, image->swap);
	pb_string_add(out, ELF_NOTE_GNU, 4);
	pb_string_add(out, (const char *)id->bytes, id->size);
	end_section(image, NOTE);
}

static void add_section(struct image *image, unsigned section, uint32_t type, uint64_t flags,
			uint64_t link)
{
	struct pb_string *out = image->out;
	bool is_loaded = flags & SHF_EXECINSTR;

	pj_add32(out, image->sections[section].name, image->swap);
	pj_add32(out, type, image->swap);
	pj_add64(out, flags, image->swap);
	pj_add64(out, is_loaded ? image->sections[section].at : 0, image->swap);
	pj_add64(out, image->sections[section].at, image->swap);
	pj_add64(out, image->sections[section].size, image->swap);
	pj_add32(out, (uint32_t)link, image->swap);
	pj_add32(out, section == SYMTAB, image->swap); /* one symbol is local */
	pj_add64(out, section == TEXT ? 16 : section == NOTE ? 4 : 8, image->swap);
	pj_add64(out, section == SYMTAB ? sizeof(Elf64_Sym) : 0, image->swap);
}

/* Finds the names of the sections, which are in their order. */
static void name_sections(struct image *image)
{
	uint32_t at = 1;

	for (unsigned section = TEXT; section < SECTIONS; section++) {
		image->sections[section].name = at;
		at += (uint32_t)strlen(names + at) + 1;
	}
}

void pj_make_image(const struct pj_function *f, struct pb_string *out, struct ps_build_id *id)
{
	struct image image = { .out = out };
	uint64_t at;

	image.swap = f->is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	name_sections(&image);
	add_headers(&image, f);
	pb_string_fill(out, '\0', PJ_TEXT_AT - out->n);
	begin_section(&image, TEXT);
	pb_string_add(out, (const char *)f->code, f->size);
	end_section(&image, TEXT);
	add_symbols(&image, f);
	add_build_id(&image, id);
	begin_section(&image, SHSTRTAB);
	pb_string_add(out, names, sizeof(names));
	end_section(&image, SHSTRTAB);
	align(out, 8);
	at = out->n;
	pb_string_fill(out, '\0', sizeof(Elf64_Shdr));
	add_section(&image, TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0);
	add_section(&image, SYMTAB, SHT_SYMTAB, 0, STRTAB);
	add_section(&image, STRTAB, SHT_STRTAB, 0, 0);
	add_section(&image, NOTE, SHT_NOTE, SHF_ALLOC, 0);
	add_section(&image, SHSTRTAB, SHT_STRTAB, 0, 0);
	if (out->failed)
		return;
	at = image.swap ? __builtin_bswap64(at) : at;
	memcpy(out->p + offsetof(Elf64_Ehdr, e_shoff), &at, sizeof(at));
}

/* Returns whether a file has the bytes of the image. */
static bool has_image(const struct pb_string *image, const char *path, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool same = fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
		    (uint64_t)status->st_size == image->n;
	uint8_t block[4096];

	for (size_t at = 0; same && at < image->n; at += sizeof(block)) {
		size_t n = image->n - at;

		n = n < sizeof(block) ? n : sizeof(block);
		same = pread(fd, block, n, (off_t)at) == (ssize_t)n &&
		       memcmp(block, image->p + at, n) == 0;
	}
	if (fd >= 0)
		close(fd);
	return same;
}

/* Writes the image to a new file. Returns false with errno. */
static bool write_new(const struct pb_string *image, const char *path, struct stat *status)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	size_t at = 0;
	ssize_t n = 0;
	int error = 0;

	if (fd < 0)
		return false;
	while (at < image->n && n >= 0) {
		n = write(fd, image->p + at, image->n - at);
		at += n > 0 ? (size_t)n : 0;
	}
	if (n < 0 || fstat(fd, status) != 0)
		error = errno;
	if (close(fd) != 0 && !error)
		error = errno;
	if (!error)
		return true;
	unlink(path);
	errno = error;
	return false;
}

bool pj_write_image(const struct pb_string *image, const char *path, bool replaces,
		    struct stat *status, struct pd_error *err)
{
	if (write_new(image, path, status))
		return true;
	if (errno == EEXIST && has_image(image, path, status))
		return true;
	if (errno == EEXIST && !replaces)
		return pd_error_set(err, "EEXIST", path, PD_NO_OFFSET, "the file exists");
	if (errno == EEXIST && unlink(path) == 0 && write_new(image, path, status))
		return true;
	return pd_error_errno(err, path, "cannot write the code of a function");
}
