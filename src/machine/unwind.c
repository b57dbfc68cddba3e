#include "unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "perfdata/format/perf_text.h"

#define LINK_REGISTER 30  /* of arm64: bit in perf's mask, and DWARF number */
#define MAX_OPEN      512 /* files; when there are more, all are closed */

/*
 * The largest distance of a guessed frame pointer: see unw_step, src/x86_64/Gstep.c of
 * libunwind.
 */
#define MAX_GUESS 0x4000

struct pm_unwinder {
	const struct pm_system *system;
	struct pb_id_map by_dso; /* address of a dso → number in `list` */
	struct ps_cfi **list;	 /* [n]; NULL: the binary has none */
	size_t n, capacity, n_open;
};

struct pm_unwinder *pm_unwinder_create(const struct pm_system *system)
{
	struct pm_unwinder *u = calloc(1, sizeof(*u));

	if (u)
		u->system = system;
	return u;
}

static void close_all_cfi(struct pm_unwinder *u)
{
	while (u->n)
		ps_cfi_destroy(u->list[--u->n]);
	pb_id_map_deinit(&u->by_dso);
	u->n_open = 0;
}

void pm_unwinder_destroy(struct pm_unwinder *u)
{
	if (!u)
		return;
	close_all_cfi(u);
	free(u->list);
	free(u);
}

/* Returns the call frame information of a map's binary; NULL: none. */
static struct ps_cfi *get_cfi(struct pm_unwinder *u, const struct pm_map *map)
{
	struct ps_dso *dso = map->dso;
	uint32_t at;

	if (dso->id.kind != PS_USER && dso->id.kind != PS_VDSO)
		return NULL;
	at = pb_id_map_find(&u->by_dso, (uintptr_t)dso);
	if (at != UINT32_MAX)
		return u->list[at];
	if (!pb_reserve(u->list, u->n, u->capacity) ||
	    !pb_id_map_add(&u->by_dso, (uintptr_t)dso, (uint32_t)u->n))
		return NULL;
	u->list[u->n] = ps_cfi_create(dso);
	u->n_open += u->list[u->n] != NULL;
	return u->list[u->n++];
}

/* A walk over the frames of one sample's stack. */
struct walk {
	struct pm_unwinder *u;
	const struct pm_addr_context *context;
	const struct pm_unwind_arch *arch;
	const uint8_t *stack; /* [size]: copy of the stack, from address `start` on */
	uint64_t start, size;
	struct pm_regs regs; /* registers of the frame that was reached */
	bool is_return;	     /* the pc of that frame is a return address */
	bool at_root;	     /* that frame is the outermost of its thread */
	bool guessed;	     /* one of the callers was guessed */
};

static uint64_t load_little_endian(const uint8_t *bytes, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | bytes[n];
	return v;
}

/*
 * Reads memory from the copy of the stack, else from the binary mapped there. All supported
 * machines that unwind are little-endian.
 */
static bool read_memory(void *arg, uint64_t address, unsigned n, uint64_t *out)
{
	struct walk *w = arg;
	const struct pm_map *map;
	struct ps_cfi *cfi;
	uint8_t bytes[8];

	if (address >= w->start && w->size >= n && address - w->start <= w->size - n) {
		*out = load_little_endian(w->stack + (address - w->start), n);
		return true;
	}
	map = pm_map_at(w->u->system, w->context, address);
	cfi = map ? get_cfi(w->u, map) : NULL;
	if (!cfi || map->end - address < n ||
	    !ps_cfi_bytes(cfi, pm_map_address(map, address), bytes, n))
		return false;
	*out = load_little_endian(bytes, n);
	return true;
}

static uint64_t mask_to_word(const struct walk *w, uint64_t v)
{
	return w->arch->word == 4 ? v & UINT32_MAX : v;
}

static bool evaluate_rule(struct walk *w, const struct ps_row *row, const struct ps_rule *rule,
			  uint64_t cfa, uint64_t *out)
{
	struct pm_expr_context context = { &w->regs, cfa, w->arch->word, read_memory, w };
	bool found = false;

	switch ((enum ps_rule_kind)rule->kind) {
	case PS_REGISTER:
		found = pm_regs_get(&w->regs, rule->from, out);
		*out += (uint64_t)(int64_t)rule->value;
		break;
	case PS_CFA:
	case PS_AT_CFA:
		found = true;
		*out = cfa + (uint64_t)(int64_t)rule->value;
		break;
	case PS_EXPRESSION:
	case PS_AT_EXPRESSION:
		found = pm_evaluate(&context, ps_row_ops(row) + rule->value, rule->n_ops, out);
		break;
	}
	if (!found)
		return false;
	*out = mask_to_word(w, *out);
	if (rule->kind == PS_AT_CFA || rule->kind == PS_AT_EXPRESSION)
		return read_memory(w, *out, w->arch->word, out);
	return true;
}

/*
 * Strips the signature of arm64's pointer authentication, which lies in bits that are otherwise
 * all 0 or all 1.
 */
static uint64_t strip_pointer_auth(const struct walk *w, uint64_t v)
{
	if (w->arch->elf_machine != EM_AARCH64 || v >> 55 & 1)
		return v;
	return v & ((UINT64_C(1) << 48) - 1);
}

/*
 * Moves on to the caller by the rules of a CFI row. Returns false if there is none, or it
 * cannot be found.
 */
static bool apply_cfi_row(struct walk *w, const struct ps_row *row)
{
	uint64_t values[PS_REGISTERS], found = 0, cfa = 0, sp = 0, pc;
	struct pm_regs *regs = &w->regs;

	/* the outermost frame of a thread is marked so: see the AMD64 ABI, 3.4.1 */
	w->at_root = (row->lost >> w->arch->fp & 1) || (row->lost >> row->ra & 1);
	if (w->at_root)
		return false;
	/*
	 * On x86 the return address has a DWARF number but no register; expressions use the
	 * number to ask for the pc.
	 */
	if (row->ra >= w->arch->n)
		pm_regs_set(regs, row->ra, regs->pc);
	if (!evaluate_rule(w, row, &row->cfa, 0, &cfa))
		return false;
	for (unsigned i = 0; i < row->n_rules; i++) {
		values[i] = 0;
		if (evaluate_rule(w, row, &row->rules[i], cfa, &values[i]))
			found |= UINT64_C(1) << i;
	}
	pm_regs_get(regs, w->arch->sp, &sp);
	/* rules refer to the old registers, so change them only now */
	regs->known &= ~row->lost;
	for (unsigned i = 0; i < row->n_rules; i++) {
		regs->known &= ~(UINT64_C(1) << row->rules[i].reg);
		if (found >> i & 1)
			pm_regs_set(regs, row->rules[i].reg, values[i]);
	}
	if (!pm_regs_get(regs, row->ra, &pc))
		return false;
	pc = strip_pointer_auth(w, pc);
	if (pc == regs->pc && sp == cfa)
		return false;
	regs->pc = pc;
	w->is_return = !row->signal;
	w->at_root = !pc;
	return pc != 0;
}

/* Returns true if the pc is in an unresolved entry of .plt: a jump, a push and a jump. */
static bool is_plt_entry(struct walk *w)
{
	uint64_t jump, push;

	return w->arch->elf_machine == EM_X86_64 && read_memory(w, w->regs.pc, 8, &jump) &&
	       read_memory(w, w->regs.pc + 8, 8, &push) && (jump & 0xffff) == 0x25ff &&
	       (jump >> 48 & 0xff) == 0x68 && (push >> 24 & 0xff) == 0xe9;
}

/*
 * Guesses the caller of code without CFI, which is mostly code made at run time: such code
 * usually has a frame pointer. Returns false if what is there cannot be one.
 */
static bool guess_caller(struct walk *w)
{
	const struct pm_unwind_arch *arch = w->arch;
	uint64_t sp, fp, caller_fp, pc;

	if (!pm_regs_get(&w->regs, arch->sp, &sp))
		return false;
	if (is_plt_entry(w)) {
		if (!read_memory(w, sp, arch->word, &pc))
			return false;
		pm_regs_set(&w->regs, arch->sp, sp + arch->word);
	} else {
		if (!pm_regs_get(&w->regs, arch->fp, &fp) || fp < sp || fp - sp > MAX_GUESS ||
		    !read_memory(w, fp, arch->word, &caller_fp) ||
		    !read_memory(w, fp + arch->word, arch->word, &pc))
			return false;
		w->guessed = true;
		w->regs.known = 0;
		pm_regs_set(&w->regs, arch->fp, caller_fp);
		pm_regs_set(&w->regs, arch->sp, fp + 2u * arch->word);
	}
	w->regs.pc = strip_pointer_auth(w, pc);
	w->is_return = true;
	return pm_map_at(w->u->system, w->context, w->regs.pc - 1) != NULL;
}

/* Returns the map of the frame that was reached; NULL: none. */
static const struct pm_map *find_map(const struct walk *w)
{
	return pm_map_at(w->u->system, w->context, w->regs.pc - w->is_return);
}

/* Moves on to the caller of the frame in `map`. Returns false if that cannot be found. */
static bool find_caller(struct walk *w, const struct pm_map *map)
{
	uint64_t address = w->regs.pc - w->is_return;
	const struct ps_row *row;
	struct ps_cfi *cfi;
	uint64_t fp;

	w->at_root = false;
	if (!map)
		return false;
	/* Close files only here: a CFI row belongs to one while it is applied. */
	if (w->u->n_open >= MAX_OPEN)
		close_all_cfi(w->u);
	if (map->dso->id.kind == PS_JIT)
		return guess_caller(w);
	cfi = get_cfi(w->u, map);
	if (!cfi || !w->arch->elf_machine || ps_cfi_machine(cfi) != w->arch->elf_machine)
		return false;
	row = ps_cfi_row(cfi, pm_map_address(map, address));
	if (row)
		return apply_cfi_row(w, row);
	/* the code that a process begins with has no CFI; see the AMD64 ABI, 3.4.1 */
	w->at_root = pm_regs_get(&w->regs, w->arch->fp, &fp) && !fp;
	return guess_caller(w);
}

/*
 * Returns true if no code is in a map: what looked like a return address is none. Old kernels
 * recorded no protection.
 */
static bool is_data(const struct walk *w, const struct pm_map *map)
{
	return map->prot && !map->executable &&
	       w->u->system->session->text & PD_TEXT_CODE_FRAMES;
}

/* Reads the parts of a sample that unwinding needs. Returns false if one is missing. */
static bool read_unwind_input(struct walk *w, const struct pd_record *rec)
{
	uint32_t regs, stack, regs_size, stack_size;
	uint64_t size, used;

	if (!pd_part_find(rec, PD_PART_REGS_USER, &regs, &regs_size) || regs_size <= 8 ||
	    !pd_part_find(rec, PD_PART_STACK_USER, &stack, &stack_size) || stack_size < 16)
		return false;
	w->arch = pm_unwind_arch(rec->layout->shape, pd_rec64(rec, regs));
	if (!w->arch)
		return false;
	size = stack_size - 16;
	used = pd_rec64(rec, stack + 8 + (uint32_t)size);
	w->stack = rec->bytes + stack + 8;
	w->size = used < size ? used : size;
	return w->size && pm_regs_read(&w->regs, w->arch, rec, regs + 8) &&
	       pm_regs_get(&w->regs, w->arch->sp, &w->start);
}

bool pm_unwinder_knows(const struct pd_record *rec)
{
	struct walk w;

	return read_unwind_input(&w, rec);
}

size_t pm_unwind(struct pm_unwinder *u, const struct pd_record *rec,
		 const struct pm_addr_context *context, uint64_t *ips, size_t n, bool *is_whole)
{
	struct pm_addr_context user = *context;
	struct walk w = { .u = u, .context = &user };
	size_t got = 0;

	user.mode = PD_CPUMODE_USER;
	*is_whole = false;
	if (!n || !read_unwind_input(&w, rec))
		return 0;
	/* show a caller's call, and not the instruction after it */
	for (size_t steps = 0; steps < n; steps++) {
		uint64_t shown = w.regs.pc - w.is_return;
		const struct pm_map *map = find_map(&w);

		if (steps && map && is_data(&w, map))
			break;
		if (shown)
			ips[got++] = shown;
		if (!find_caller(&w, map)) {
			*is_whole = w.at_root && !w.guessed;
			break;
		}
	}
	return got;
}

bool pm_unwinder_knows_leaf(const struct pd_shape *shape)
{
	return shape->regs_user == UINT64_C(1) << LINK_REGISTER && shape->arch &&
	       strcmp(shape->arch->name, "arm64") == 0 &&
	       (shape->sample_type & (PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER)) ==
		       PD_SAMPLE_REGS_USER;
}

bool pm_unwind_leaf(struct pm_unwinder *u, const struct pd_record *rec,
		    const struct pm_addr_context *context, uint64_t ip, uint64_t *caller)
{
	struct pm_addr_context user = *context;
	struct walk w = { .u = u, .context = &user, .regs = { .pc = ip } };
	uint32_t at, size;

	user.mode = PD_CPUMODE_USER;
	if (!pd_part_find(rec, PD_PART_REGS_USER, &at, &size) || size < 16)
		return false;
	w.arch = pm_unwind_arch(rec->layout->shape, pd_rec64(rec, at));
	if (!w.arch)
		return false;
	pm_regs_set(&w.regs, LINK_REGISTER, pd_rec64(rec, at + 8));
	/* A CFA must be computable, though nothing is read there. */
	pm_regs_set(&w.regs, w.arch->sp, 0);
	if (!find_caller(&w, find_map(&w)))
		return false;
	*caller = w.regs.pc - w.is_return;
	return true;
}
