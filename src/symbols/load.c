/* Loads the symbols of a binary when one of its addresses is looked up. */
#include <string.h>

#include "load_internal.h"
#include "load.h"
#include "base/timing.h"
#include "bundle.h"
#include "symbols/elf/elf.h"
#include "symbols/jit/jitdump.h"

/* Adds the only symbol of a BPF program, the program itself. */
static bool load_bpf(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	const struct ps_symbol symbol = {
		.start = dso->id.start,
		.end = dso->id.start + dso->id.len,
		.name = dso->id.name,
		.length = (uint32_t)strlen(dso->id.name),
		.binding = PS_GLOBAL,
		.function = true,
	};

	(void)load_other;
	if (!dso->id.len || symbol.end < symbol.start) {
		dso->reason = "it has no address";
		return false;
	}
	return ps_table_add(&dso->table, &symbol, dso->id.len) &&
	       ps_table_finish(&dso->table, PS_FILE);
}

/* NULL: the kind has no symbols */
static ps_load_fn *const loaders[] = {
	[PS_USER] = ps_load_user, [PS_KERNEL] = ps_load_kernel, [PS_MODULE] = ps_load_module,
	[PS_VDSO] = ps_load_vdso, [PS_JIT] = ps_load_jit,	[PS_BPF] = load_bpf,
	[PS_DATA] = NULL,
};

static bool load_locked(struct ps_dso *dso)
{
	struct ps_interrupt *interrupt = dso->store->options.interrupt;
	ps_load_fn *load = loaders[dso->id.kind];
	bool loaded = false;

	if (dso->state != PS_UNTRIED)
		return dso->state == PS_LOADED;
	if (ps_interrupted(interrupt))
		return false;
	if (load)
		loaded = load(dso, load_locked);
	else
		dso->reason = "memory that is not mapped from a file";
	if (!loaded && interrupt && atomic_load(&interrupt->cut)) {
		/* forget what was read, which would be taken for all of it */
		ps_table_deinit(&dso->table);
		dso->reason = NULL;
		dso->n_tried = 0;
		return false;
	}
	if ((!loaded || dso->is_stripped) && ps_load_packed(dso))
		loaded = true;
	if (!loaded && !dso->reason)
		dso->reason = "no memory";
	/*
	 * write the state last: a reader without the lock then sees all that was written before
	 */
	__atomic_store_n(&dso->state, loaded ? PS_LOADED : PS_MISSING, __ATOMIC_RELEASE);
	return loaded;
}

bool ps_dso_load(struct ps_dso *dso)
{
	struct pb_lap lap;
	bool loaded;

	pthread_mutex_lock(&dso->store->lock);
	lap = pb_stage_enter(dso->state == PS_UNTRIED ? dso->store->options.timing : NULL, NULL,
			     PB_STAGE_SYMBOLS);
	loaded = load_locked(dso);
	pb_stage_leave_part(&lap, dso->name);
	pthread_mutex_unlock(&dso->store->lock);
	return loaded;
}

bool ps_dso_elf_address(struct ps_dso *dso, uint64_t address, uint64_t *elf_address)
{
	struct ps_elf elf;
	const char *reason;
	bool found;

	if (dso->id.kind == PS_KERNEL && dso->path && !dso->listed) {
		*elf_address = address - dso->bias;
		return true;
	}
	if (dso->id.kind != PS_USER && dso->id.kind != PS_VDSO)
		return false;
	if (!dso->runtime)
		return ps_segments_address(dso->segments, dso->n_segments, address,
					   elf_address);
	if (!ps_elf_open(&elf, dso->store->options.symfs, dso->runtime, &reason))
		return false;
	found = ps_elf_address(&elf, address, elf_address);
	ps_elf_close(&elf);
	return found;
}

const struct ps_symbol *ps_dso_symbol_at(struct ps_dso *dso, uint64_t address, uint64_t time)
{
	const struct ps_symbol *symbol = ps_dso_symbol(dso, address), *made = NULL;

	if (dso->jitdump)
		made = ps_jitdump_find(dso->jitdump, address, time);
	return made ? made : symbol;
}

uint64_t ps_dso_symbol_last(struct ps_dso *dso, uint64_t address, uint64_t time)
{
	return dso->jitdump && ps_dso_load(dso) ? ps_jitdump_last(dso->jitdump, address, time) :
						  UINT64_MAX;
}

size_t ps_dso_symbols(const struct ps_dso *dso)
{
	if (__atomic_load_n(&dso->state, __ATOMIC_ACQUIRE) != PS_LOADED)
		return 0;
	return dso->table.n + (dso->jitdump ? dso->jitdump->n : 0);
}
