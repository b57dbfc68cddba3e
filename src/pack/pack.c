#include "pack.h"

#include <stdlib.h>
#include <zstd.h>

#include "binary.h"
#include "symbols/bundle.h"
#include "symbols/internal.h"
#include "symbols/symbols.h"

#define LEVEL	     6
#define MOST_SECTION ((size_t)64 << 20) /* PD_SECTION_MOST: readers refuse more */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Orders binaries by their identity, so that the order in which they were met does not count.
 */
static int compare_binaries(const void *a, const void *b)
{
	const struct ps_dso_id *x = &(*(struct ps_dso *const *)a)->id;
	const struct ps_dso_id *y = &(*(struct ps_dso *const *)b)->id;
	const int orders[] = {
		compare_numbers(x->kind, y->kind),
		compare_numbers(x->guest, y->guest),
		strcmp(x->name, y->name),
		compare_numbers(x->build_id.size, y->build_id.size),
		memcmp(x->build_id.bytes, y->build_id.bytes, sizeof(x->build_id.bytes)),
		compare_numbers(x->file.inode, y->file.inode),
		compare_numbers(x->start, y->start),
		compare_numbers(x->len, y->len),
		compare_numbers((uint32_t)x->pid, (uint32_t)y->pid),
		compare_numbers(x->reference_address, y->reference_address),
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (orders[i])
			return orders[i];
	return 0;
}

static int compare_sources(const void *a, const void *b)
{
	return strcmp((*(struct ps_noted_source *const *)a)->path,
		      (*(struct ps_noted_source *const *)b)->path);
}

static int compare_lines(const void *a, const void *b)
{
	const struct ps_memo_entry *x = a, *y = b;

	return compare_numbers(x->a, y->a);
}

/* Adds the lines of a source file, as source.c reads them. Returns false without memory. */
static bool put_source(const struct ps_noted_source *source, struct pk_texts *texts,
		       struct pb_string *out)
{
	size_t n = source->lines.n;
	struct ps_memo_entry *lines = malloc((n + 1) * sizeof(*lines));
	uint64_t before = 0;

	if (!lines)
		return false;
	if (n)
		memcpy(lines, source->lines.entries, n * sizeof(*lines));
	qsort(lines, n, sizeof(*lines), compare_lines);
	pk_put_text(out, texts, source->path);
	pk_put(out, (uint64_t)source->modified);
	pk_put(out, n);
	for (size_t i = 0; i < n; i++) {
		pk_put(out, lines[i].a - before);
		pk_put_text(out, texts, lines[i].value);
		before = lines[i].a;
	}
	free(lines);
	return true;
}

/* Adds the lines of all source files that have some. Returns false without memory. */
static bool put_sources(struct ps_store *store, struct pk_texts *texts, struct pb_string *parts,
			struct pk_summary *summary)
{
	struct pb_string part = { 0 };
	bool ok = true;

	if (store->n_sources)
		qsort(store->sources, store->n_sources, sizeof(struct ps_noted_source *),
		      compare_sources);
	for (size_t i = 0; ok && i < store->n_sources; i++) {
		if (!store->sources[i]->lines.n)
			continue;
		ok = put_source(store->sources[i], texts, &part);
		summary->texts += store->sources[i]->lines.n;
		pk_put_part(parts, PS_BUNDLE_SOURCE, &part);
	}
	pb_string_deinit(&part);
	return ok;
}

/* Adds the parts of all binaries, and of their sources. Returns false without memory. */
static bool put_parts(struct ps_store *store, struct pk_texts *texts, struct pb_string *parts,
		      struct pk_summary *summary)
{
	size_t n = ps_store_count(store);
	struct ps_dso **dsos = malloc((n + 1) * sizeof(struct ps_dso *));
	struct pb_string binary = { 0 };
	bool ok = dsos;

	for (size_t i = 0; ok && i < n; i++)
		dsos[i] = ps_store_at(store, i);
	if (ok)
		qsort(dsos, n, sizeof(struct ps_dso *), compare_binaries);
	for (size_t i = 0; ok && i < n; i++) {
		ok = pk_put_binary(dsos[i], texts, &binary, summary);
		pk_put_part(parts, PS_BUNDLE_DSO, &binary);
	}
	ok = ok && put_sources(store, texts, parts, summary);
	pb_string_deinit(&binary);
	free(dsos);
	return ok;
}

static void put_header(struct pb_string *out)
{
	const char version[] = { PS_BUNDLE_VERSION, 0, 0, 0 };

	pb_string_add(out, PS_BUNDLE_MAGIC, 8);
	pb_string_add(out, version, sizeof(version));
}

/* Adds the zstd frame of the parts, with its size and a checksum. */
static bool put_frame(struct pb_string *out, const struct pb_string *parts)
{
	size_t bound = ZSTD_compressBound(parts->n), got;
	ZSTD_CCtx *context = ZSTD_createCCtx();
	bool ok = context && pb_string_reserve(out, bound) &&
		  !ZSTD_isError(
			  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL)) &&
		  !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));

	if (ok) {
		got = ZSTD_compress2(context, out->p + out->n, bound, parts->p, parts->n);
		ok = !ZSTD_isError(got);
		out->n += ok ? got : 0;
	}
	ZSTD_freeCCtx(context);
	return ok;
}

bool pk_seal(struct pk_texts *texts, const struct pb_string *parts, struct pb_string *out,
	     const char **reason)
{
	struct pb_string all = { 0 };
	bool ok;

	*reason = "no memory";
	pk_put_part(&all, PS_BUNDLE_STRINGS, &texts->bytes);
	pk_append(&all, parts);
	put_header(out);
	ok = !all.failed && put_frame(out, &all);
	pb_string_deinit(&all);
	if (ok && out->n > MOST_SECTION) {
		*reason = "the names are larger than 64 MB";
		return false;
	}
	return ok && !out->failed;
}

bool pk_pack(struct ps_store *store, struct pb_string *out, struct pk_summary *summary,
	     const char **reason)
{
	struct pk_texts texts = { .n = 0 };
	struct pb_string parts = { 0 };
	bool ok;

	*summary = (struct pk_summary){ 0 };
	*reason = "no memory";
	ok = put_parts(store, &texts, &parts, summary) && pk_seal(&texts, &parts, out, reason);
	pk_texts_deinit(&texts);
	pb_string_deinit(&parts);
	return ok;
}
