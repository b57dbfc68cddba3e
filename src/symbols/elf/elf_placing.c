#include "elf_placing.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>

/* The segment that a mapping fits, and the address that the file gives its first byte. */
struct fit {
	const struct ps_segment *segment; /* NULL: no segment fits */
	uint64_t address;
};

static const uint64_t page_sizes[] = { 4096, 16384, 65536 };

/* Returns how many of page_sizes the processor of the recorded machine can have. */
static size_t count_page_sizes(const char *arch)
{
	bool is_fixed = arch && (strcmp(arch, "x86_64") == 0 || strcmp(arch, "i686") == 0 ||
				 strcmp(arch, "i586") == 0 || strcmp(arch, "i386") == 0);

	return is_fixed ? 1 : sizeof(page_sizes) / sizeof(*page_sizes);
}

static bool has_flags(const struct ps_segment *segment, const struct ps_mapping *mapping)
{
	uint32_t prot = (segment->flags & PF_R ? PROT_READ : 0u) |
			(segment->flags & PF_W ? PROT_WRITE : 0u) |
			(segment->flags & PF_X ? PROT_EXEC : 0u);

	if (segment->flags & PF_W)
		return false;
	return mapping->prot ? mapping->prot == prot :
			       mapping->executable == !!(segment->flags & PF_X);
}

/* Returns the bytes from the page of `from` to the end of the page before `to`; 0: none. */
static uint64_t count_page_bytes(uint64_t from, uint64_t to, uint64_t page)
{
	uint64_t end;

	from &= ~(page - 1);
	if (__builtin_add_overflow(to, page - 1, &end))
		return 0;
	end &= ~(page - 1);
	return end > from ? end - from : 0;
}

static uint64_t get_segment_end(const struct ps_segment *segment)
{
	uint64_t end;

	return __builtin_add_overflow(segment->address, segment->size, &end) ? UINT64_MAX : end;
}

static bool has_length(const struct ps_parts *parts, const struct ps_segment *segment,
		       uint64_t len, uint64_t page)
{
	uint64_t first = segment->address, last = get_segment_end(segment);

	if (count_page_bytes(first, last, page) == len)
		return true;
	for (size_t i = 0; i < parts->n_segments; i++) {
		if (parts->segments[i].address < first)
			return false;
		if (get_segment_end(&parts->segments[i]) > last)
			last = get_segment_end(&parts->segments[i]);
	}
	return count_page_bytes(first, last, page) == len;
}

/* Finds the only segment that a mapping fits. Returns false if it fits several. */
static bool find_fit(const struct ps_parts *parts, const struct ps_mapping *mapping,
		     size_t n_page_sizes, struct fit *fit)
{
	*fit = (struct fit){ .segment = NULL };
	for (size_t k = 0; k < n_page_sizes; k++) {
		uint64_t page = page_sizes[k];

		if ((mapping->pgoff | mapping->len) & (page - 1))
			continue;
		for (size_t i = 0; i < parts->n_segments; i++) {
			const struct ps_segment *segment = &parts->segments[i];
			uint64_t address = segment->address & ~(page - 1);

			if (!has_flags(segment, mapping) ||
			    !has_length(parts, segment, mapping->len, page))
				continue;
			if (fit->segment &&
			    (fit->segment != segment || fit->address != address))
				return false;
			*fit = (struct fit){ segment, address };
		}
	}
	return true;
}

bool ps_mapping_fits(const struct ps_parts *parts, const struct ps_mapping *mapping,
		     const char *arch)
{
	struct fit fit;

	return find_fit(parts, mapping, count_page_sizes(arch), &fit) && fit.segment &&
	       fit.segment->offset - (fit.segment->address - fit.address) == mapping->pgoff;
}

/* Notes an offset of a segment. A second one, which differs, makes both useless. */
static void place_segment(struct ps_segment *segment, bool *placed, bool *refuted,
			  uint64_t offset)
{
	if (*placed && segment->offset != offset)
		*refuted = true;
	segment->offset = offset;
	*placed = true;
}

static size_t place_all(struct ps_parts *parts, const struct ps_mapping *mappings,
			size_t n_mappings, const char *arch, struct ps_segment *segments)
{
	bool placed[PS_MAX_SEGMENTS] = { false }, refuted[PS_MAX_SEGMENTS] = { false };
	size_t n_page_sizes = count_page_sizes(arch), n = 0;

	for (size_t k = 0; k < n_mappings; k++) {
		struct fit fit;
		size_t i;

		if (!find_fit(parts, &mappings[k], n_page_sizes, &fit) || !fit.segment)
			continue;
		i = (size_t)(fit.segment - parts->segments);
		place_segment(&parts->segments[i], &placed[i], &refuted[i],
			      mappings[k].pgoff + fit.segment->address - fit.address);
	}
	for (size_t i = 0; i < parts->n_segments; i++)
		if (placed[i] && !refuted[i])
			segments[n++] = parts->segments[i];
	return n;
}

bool ps_place_segments(Elf *elf, const struct ps_mapping *mappings, size_t n_mappings,
		       const char *arch, struct ps_segment **segments, size_t *n_segments)
{
	struct ps_parts parts;
	bool ok = ps_parts_init(&parts, elf);

	/* a file with more segments may have others that fit */
	if (ok && parts.n_segments && parts.n_segments < PS_MAX_SEGMENTS) {
		*segments = calloc(parts.n_segments, sizeof(**segments));
		ok = *segments;
		if (ok)
			*n_segments = place_all(&parts, mappings, n_mappings, arch, *segments);
	}
	ps_parts_deinit(&parts);
	return ok;
}
