#define _GNU_SOURCE
#include "pick.h"

#include <stdio.h>

#include "symbols/elf/elf_placing.h"
#include "symbols/elf/file.h"
#include "internal.h"

void ps_pick_init(struct ps_pick *pick, struct ps_dso *dso)
{
	pick->dso = dso;
	pick->wanted = ps_wanted_build_id(dso);
	pick->n_files = 0;
	pick->syms = pick->runtime = NULL;
	pick->others = false;
	pick->no_file = NULL;
}

void ps_pick_deinit(struct ps_pick *pick)
{
	while (pick->n_files)
		ps_elf_close(&pick->files[--pick->n_files].elf);
}

/* Returns true if a file was built together with the recorded one. */
static bool has_wanted_build(struct ps_pick *pick, const struct ps_elf *elf,
			     const struct ps_candidate *candidate)
{
	char found[PS_BUILD_ID_TEXT], wanted[PS_BUILD_ID_TEXT], why[160];

	if (!pick->wanted.size || ps_build_id_equal(&elf->build_id, &pick->wanted))
		return true;
	ps_build_id_text(&pick->wanted, wanted);
	if (elf->build_id.size)
		snprintf(why, sizeof(why), "build-id differs: found %s, recorded %s",
			 ps_build_id_text(&elf->build_id, found), wanted);
	else
		snprintf(why, sizeof(why), "has no build-id, recorded was %s", wanted);
	ps_dso_tried(pick->dso, candidate->path, candidate->where, why);
	pick->others = true;
	return false;
}

/* Returns what a file is good for; a file picked before is not taken again. */
static const char *choose_verdict(const struct ps_pick *pick, bool syms, bool runtime)
{
	if (syms)
		return runtime ? PS_HAS_SYMBOLS ", and is what was mapped" : PS_HAS_SYMBOLS;
	if (runtime)
		return "is what was mapped: its program headers are used";
	return pick->syms ? "not needed: another file has the symbols" : "has no symbol table";
}

/*
 * The mapped file is recognized by its dynamic symbols, as in perf, or by its source: a
 * statically linked, stripped program has no dynamic symbols.
 */
bool ps_pick_try(void *arg, const struct ps_candidate *candidate)
{
	struct ps_pick *pick = arg;
	struct ps_picked *file = &pick->files[pick->n_files];
	const char *path = candidate->path, *reason;
	enum ps_found found = candidate->found;
	bool syms, runtime;

	if (!ps_elf_open(&file->elf, pick->dso->store->options.symfs, path, &reason)) {
		ps_dso_tried(pick->dso, path, candidate->where, reason);
		if (found == PS_IMAGE && ps_file_is_other(reason))
			pick->no_file = reason;
		return false;
	}
	syms = !pick->syms && file->elf.symtab;
	runtime = !pick->runtime && !file->elf.is_debug &&
		  (file->elf.dynsym || file->elf.opd || found == PS_IMAGE);
	if (!has_wanted_build(pick, &file->elf, candidate)) {
		ps_elf_close(&file->elf);
		return false;
	}
	file->tried = pick->dso->n_tried;
	ps_dso_tried(pick->dso, path, candidate->where, choose_verdict(pick, syms, runtime));
	if (!(syms || runtime)) {
		ps_elf_close(&file->elf);
		return false;
	}
	snprintf(file->path, sizeof(file->path), "%s", path);
	pick->n_files++;
	if (syms)
		pick->syms = file;
	if (runtime)
		pick->runtime = file;
	return pick->syms && pick->runtime;
}

static bool add_symbols(struct ps_dso *dso, struct ps_elf *syms, struct ps_elf *runtime,
			enum ps_addresses addresses)
{
	const struct ps_target target = {
		.table = &dso->table,
		.addresses = addresses,
		.mangled = dso->store->options.mangled,
		.segments = dso->segments,
		.n_segments = dso->n_segments,
	};

	return ps_elf_add_symbols(&target, syms, runtime);
}

/*
 * Adds the compressed table of symbols in a stripped file, which has those that its dynamic
 * symbols lack.
 */
static bool add_debugdata(struct ps_pick *pick, enum ps_addresses addresses)
{
	struct ps_elf inner;
	bool added;

	if (!ps_elf_open_debugdata(&inner, &pick->runtime->elf))
		return true;
	added = !inner.symtab || add_symbols(pick->dso, &inner, &pick->runtime->elf, addresses);
	ps_elf_close(&inner);
	return added;
}

static const char *explain_failure(struct ps_pick *pick)
{
	if (pick->dso->id.kind == PS_USER && pick->runtime && pick->runtime->elf.is_debug &&
	    !pick->dso->n_segments) {
		ps_dso_judge(pick->dso, pick->runtime->tried,
			     "a debug file, and no recorded mapping matches exactly one of its "
			     "segments");
		return "only a debug file was found, which does not say where its code "
		       "was mapped from: the binary itself is needed";
	}
	for (size_t i = 0; i < pick->n_files; i++)
		ps_dso_judge(pick->dso, pick->files[i].tried, "no symbols in it");
	if (pick->n_files)
		return "no symbols in it";
	if (pick->others)
		return "no file with its build-id was found";
	return pick->no_file ? pick->no_file : "no file was found";
}

/* Adds the symbols of the picked files. Returns false without memory. */
static bool add_picked(struct ps_pick *pick, enum ps_addresses addresses)
{
	struct ps_dso *dso = pick->dso;
	struct ps_elf *runtime;

	if (!pick->runtime)
		pick->runtime = pick->syms;
	if (!pick->runtime)
		return true;
	runtime = &pick->runtime->elf;
	if (!runtime->is_debug)
		dso->runtime = ps_store_text(dso->store, pick->runtime->path);
	else if (addresses == PS_FILE_OFFSETS &&
		 !ps_place_segments(runtime->elf, dso->mappings, dso->n_mappings,
				    dso->store->options.arch, &dso->segments, &dso->n_segments))
		return false;
	if (!pick->syms && !add_debugdata(pick, addresses))
		return false;
	if (!pick->syms)
		pick->syms = pick->runtime;
	return add_symbols(dso, &pick->syms->elf, runtime, addresses);
}

bool ps_pick_load(struct ps_pick *pick, enum ps_addresses addresses)
{
	struct ps_dso *dso = pick->dso;
	bool has_table = pick->syms, added = add_picked(pick, addresses);

	if (!dso->table.n) {
		dso->reason = added ? explain_failure(pick) : "no memory";
		return false;
	}
	dso->path = ps_store_text(dso->store, pick->syms->path);
	dso->is_stripped = !has_table;
	if (!has_table)
		ps_dso_judge(dso, pick->syms->tried,
			     "is what was mapped: has only the symbols of a stripped file");
	return true;
}
