#include "image.h"

#include <elf.h>

#include "base/sha256.h"
#include "internal.h"

#define ID_SIZE 20

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

/* Adds a build-id, the hash of all bytes before it. */
static void add_build_id(struct image *image)
{
	struct pb_string *out = image->out;
	uint8_t digest[PB_SHA256_SIZE];
	struct pb_sha256 sha;

	pb_sha256_init(&sha);
	pb_sha256_add(&sha, out->p, out->n);
	pb_sha256_end(&sha, digest);
	begin_section(image, NOTE);
	pj_add32(out, 4, image->swap);
	pj_add32(out, ID_SIZE, image->swap);
	pj_add32(out, NT_GNU_BUILD_ID, image->swap);
	pb_string_add(out, ELF_NOTE_GNU, 4);
	pb_string_add(out, (const char *)digest, ID_SIZE);
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
	pj_add64(out, is_loaded ? 16 : 8, image->swap);
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

void pj_make_image(const struct pj_function *f, struct pb_string *out)
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
	add_build_id(&image);
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
