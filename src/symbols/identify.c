#include "identify.h"

#include <limits.h>
#include <stdio.h>

#include "find.h"
#include "internal.h"
#include "kallsyms.h"
#include "load.h"
#include "notes.h"
#include "proof.h"
#include "symbols/elf/elf.h"

static const struct ps_build_id none;

static struct ps_build_id identify_file(const struct ps_dso *dso, const char **reason)
{
	struct ps_doubt doubt;

	if (!ps_is_proven(dso, &doubt)) {
		*reason = doubt.reason;
		return none;
	}
	*reason = "no file with a build-id is at its path";
	return ps_wanted_build_id(dso);
}

/* Reads the build-id of "[module]", which the running kernel has loaded. */
static struct ps_build_id identify_loaded(const char *module)
{
	struct ps_build_id id = none;
	char path[NAME_MAX + 64];

	snprintf(path, sizeof(path), "/sys/module/%.*s/notes/.note.gnu.build-id",
		 (int)strcspn(module + 1, "]/"), module + 1);
	return ps_read_notes(path, &id) ? id : none;
}

/* Identifies a part of the kernel by that which its symbols were read from. */
static struct ps_build_id identify_system(struct ps_dso *dso, const char **reason)
{
	struct ps_build_id id = none;
	struct ps_elf elf;

	if (!ps_dso_load(dso)) {
		*reason = dso->reason;
		return none;
	}
	*reason = "nothing with a build-id was found for it";
	if (dso->packed)
		return none;
	if (dso->kallsyms)
		return dso->kallsyms->running && ps_read_notes(PS_KERNEL_NOTES, &id) ? id :
										       none;
	if (dso->id.kind == PS_MODULE && dso->list)
		return identify_loaded(dso->short_name);
	if (ps_elf_open(&elf, dso->store->options.symfs, dso->path, reason)) {
		id = elf.build_id;
		ps_elf_close(&elf);
	}
	return id;
}

struct ps_build_id ps_dso_identify(struct ps_dso *dso, const char **reason)
{
	*reason = NULL;
	if (dso->id.build_id.size)
		return dso->id.build_id;
	switch (dso->id.kind) {
	case PS_USER:
		return identify_file(dso, reason);
	case PS_KERNEL:
	case PS_MODULE:
	case PS_VDSO:
		return identify_system(dso, reason);
	default:
		return none;
	}
}
