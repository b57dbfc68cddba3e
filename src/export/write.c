/*
 * Writes profiles by the names of their formats, with times made coarser until they fit.
 */
#include <stdlib.h>
#include <string.h>

#include "gzip.h"
#include "base/vector.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"

#define FORMAT_ROW(constant, name, is_compressed) \
	[constant] = { #name, pe_write_##name, is_compressed },

static const struct {
	const char *name;
	bool (*write)(const struct pe_profile *, const char *title, struct pd_print *out);
	bool is_compressed;
} formats[PE_FORMATS] = { PE_FORMAT_LIST(FORMAT_ROW) };

const char *pe_format_name(enum pe_format format)
{
	return formats[format].name;
}

/* Writes the text of a profile and flushes `out`. Returns false without memory. */
static bool write_text(struct pe_profile *p, enum pe_format format, const char *title,
		       struct pd_print *out)
{
	bool ok = formats[format].write(p, title, out);

	pd_print_flush(out);
	return ok;
}

/*
 * Writes a profile compressed, as far as its text has at most `most` bytes, and sets *size to
 * the bytes of all its text. Returns false without memory.
 */
static bool write_compressed(struct pe_profile *p, enum pe_format format, const char *title,
			     uint64_t most, struct pd_print *out, uint64_t *size)
{
	struct pe_gzip *gzip = malloc(sizeof(*gzip));
	bool ok;

	if (!gzip)
		return false;
	pe_gzip_init(gzip, most, p->asked->threads, out);
	ok = write_text(p, format, title, &gzip->in);
	ok = pe_gzip_finish(gzip) && ok;
	*size = gzip->size;
	pe_gzip_deinit(gzip);
	free(gzip);
	pd_print_flush(out);
	return ok;
}

/* Adds `n` bytes to the sum at `arg`. */
static void count_bytes(void *arg, const char *p, size_t n)
{
	(void)p;
	*(uint64_t *)arg += n;
}

/*
 * Sets *size to the bytes of a profile's text. Where the format is compressed, and these are at
 * most `most`, `packed` becomes what is to be written: the text is made but once. Returns false
 * without memory.
 */
static bool measure_profile(struct pe_profile *p, enum pe_format format, const char *title,
			    uint64_t most, struct pb_string *packed, uint64_t *size)
{
	struct pd_print out;
	bool ok;

	*size = 0;
	if (!formats[format].is_compressed) {
		pd_print_init(&out, count_bytes, size);
		return write_text(p, format, title, &out);
	}
	pb_string_clear(packed);
	pd_print_init(&out, pd_print_to_string, packed);
	ok = write_compressed(p, format, title, most, &out, size) && !packed->failed;
	return ok;
}

/* Returns the time from the first entry to the last, in ns. */
static uint64_t time_spent(const struct pe_profile *p)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < p->n_entries; i++) {
		uint64_t time = p->entries[i].time;

		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	return p->n_entries ? last - first : 0;
}

#define BLOCK	  1024 /* entries in a row */
#define BLOCKS_OF 16   /* one of so many blocks is tried */

/*
 * Returns the first of the steps from `width` on, each twice the one before, that leaves about
 * `fitting` entries, or adds up all times: it tries them on a part of the profile. Returns
 * `width` for small profiles, or without memory.
 */
static uint64_t estimate_step(const struct pe_profile *p, uint64_t width, double fitting,
			      uint64_t spent)
{
	struct pe_profile part = *p;
	size_t n = 0;

	if (p->n_entries < BLOCK * BLOCKS_OF)
		return width;
	part.entries = pb_array(p->n_entries / BLOCKS_OF + BLOCK, sizeof(*part.entries));
	if (!part.entries)
		return width;
	for (size_t at = 0; at < p->n_entries; at += BLOCK * BLOCKS_OF) {
		size_t left = p->n_entries - at, taken = left < BLOCK ? left : BLOCK;

		memcpy(part.entries + n, p->entries + at, taken * sizeof(*part.entries));
		n += taken;
	}
	part.n_entries = n;
	/* rather a step that is too fine, which another round mends, than one too coarse */
	fitting *= 1.02 * (double)n / (double)p->n_entries;
	for (; width <= spent && !(width >> 62); width *= 2) {
		pe_coarsen_times(&part, width);
		if ((double)part.n_entries <= fitting)
			break;
	}
	free(part.entries);
	return width;
}

/*
 * Makes times coarser until the profile fits, or times are all the same: see pe_write() and
 * measure_profile(). Returns false without memory.
 */
static bool fit_profile(struct pe_profile *p, enum pe_format format, const char *title,
			uint64_t most, struct pb_string *packed, struct pe_written *written)
{
	uint64_t spent = time_spent(p), width, step = 0;
	double fitting;

	/* a power of two near the mean distance of two entries: less does not add up much */
	for (width = 1024; p->n_entries && width < spent / p->n_entries;)
		width *= 2;
	for (;;) {
		if (!measure_profile(p, format, title, most, packed, &written->size))
			return false;
		written->step = step;
		if (written->size <= most || step > spent || step >> 62)
			return true;
		fitting = (double)p->n_entries * (double)most / (double)written->size;
		if (!step && format == PE_CHROME) {
			if (!pe_chrome_unify(p))
				return false;
			/* what was measured is larger than what is left: measure that, too */
			fitting *= 2;
		}
		width = estimate_step(p, width, fitting, spent);
		do {
			step = width;
			width *= 2;
			pe_coarsen_times(p, step);
		} while ((double)p->n_entries > fitting && step <= spent && !(step >> 62));
	}
}

bool pe_write(struct pe_profile *p, enum pe_format format, const char *title, uint64_t most,
	      struct pd_print *out, struct pe_written *written)
{
	struct pb_string packed = { 0 };
	bool ok;

	*written = (struct pe_written){ 0 };
	ok = !most || fit_profile(p, format, title, most, &packed, written);
	if (format == PE_SPEEDSCOPE)
		written->n_joined = pe_speedscope_joined(p);
	if (ok && written->size <= most) {
		if (!formats[format].is_compressed)
			ok = write_text(p, format, title, out);
		else if (!most)
			ok = write_compressed(p, format, title, UINT64_MAX, out,
					      &written->size);
		else
			pd_print_bytes(out, packed.p, packed.n);
		pd_print_flush(out);
	}
	pb_string_deinit(&packed);
	return ok;
}
