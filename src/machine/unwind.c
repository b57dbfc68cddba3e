#include "unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "unwind_expr.h"

#define LINK_REGISTER 30  /* of arm64, in perf's mask as in DWARF's numbers */
#define MAX_OPEN      512 /* files; then all are closed */

/*
 * The largest distance that a guessed frame pointer is believed: see unw_step,
 * src/x86_64/Gstep.c of libunwind.
 */
#define MAX_GUESS 0x4000

struct pm_unwinder {
	const struct pm_machine *machine;
	struct pb_id_map by_dso; /* the address of a dso → its place in list */
	struct ps_cfi **list;	 /* [n]; NULL: it has none */
	size_t n, capacity, n_open;
};

struct pm_unwinder *pm_unwinder_create(const struct pm_machine *machine)
{
	struct pm_unwinder *u = calloc(1, sizeof(*u));

	if (u)
		u->machine = machine;
	return u;
}

static void close_all(struct pm_unwinder *u)
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
	close_all(u);
	free(u->list);
	free(u);
}

/* What is known of the frames of a map's binary; NULL: nothing. */
static struct ps_cfi *cfi_of(struct pm_unwinder *u, const struct pm_map *map)
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

/* One sample's stack, from frame to frame. */
struct walk {
	struct pm_unwinder *u;
	const struct pm_where *where;
	const struct pm_unwind_arch *arch;
	const uint8_t *stack; /* [size], from address `start` on */
	uint64_t start, size;
	struct pm_regs regs; /* of the frame that was reached */
	bool called;	     /* its pc is a return address */
};

static uint64_t number(const uint8_t *bytes, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | bytes[n];
	return v;
}

/*
 * The stack as recorded, then what files say; those are of machines with the lower byte first.
 */
static bool memory(void *arg, uint64_t address, unsigned n, uint64_t *out)
{
	struct walk *w = arg;
	const struct pm_map *map;
	struct ps_cfi *cfi;
	uint8_t bytes[8];

	if (address >= w->start && w->size >= n && address - w->start <= w->size - n) {
		*out = number(w->stack + (address - w->start), n);
		return true;
	}
	map = pm_map_at(w->u->machine, w->where, address);
	cfi = map ? cfi_of(w->u, map) : NULL;
	if (!cfi || map->end - address < n ||
	    !ps_cfi_bytes(cfi, pm_map_address(map, address), bytes, n))
		return false;
	*out = number(bytes, n);
	return true;
}

static uint64_t masked(const struct walk *w, uint64_t v)
{
	return w->arch->word == 4 ? v & UINT32_MAX : v;
}

static bool value_of(struct walk *w, const struct ps_row *row, const struct ps_rule *rule,
		     uint64_t cfa, uint64_t *out)
{
	struct pm_context context = { &w->regs, cfa, w->arch->word, memory, w };
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
	*out = masked(w, *out);
	if (rule->kind == PS_AT_CFA || rule->kind == PS_AT_EXPRESSION)
		return memory(w, *out, w->arch->word, out);
	return true;
}

/* Signs of pointer authentication stand in what is 0 or all ones in an address. */
static uint64_t code_address(const struct walk *w, uint64_t v)
{
	if (w->arch->machine != EM_AARCH64 || v >> 55 & 1)
		return v;
	return v & ((UINT64_C(1) << 48) - 1);
}

/* Goes on to the caller as a row says; false: there is none, or it cannot be found. */
static bool step(struct walk *w, const struct ps_row *row)
{
	uint64_t values[PS_REGISTERS], found = 0, cfa = 0, sp = 0, pc;
	struct pm_regs *regs = &w->regs;

	/* so the first frame of a thread is marked: see the AMD64 ABI, 3.4.1 */
	if (row->lost >> w->arch->fp & 1)
		return false;
	/*
	 * on x86 a return address is no register, but has a number, by which expressions ask
	 * for the pc
	 */
	if (row->ra >= w->arch->n)
		pm_regs_set(regs, row->ra, regs->pc);
	if (!value_of(w, row, &row->cfa, 0, &cfa))
		return false;
	for (unsigned i = 0; i < row->n_rules; i++) {
		values[i] = 0;
		if (value_of(w, row, &row->rules[i], cfa, &values[i]))
			found |= UINT64_C(1) << i;
	}
	pm_regs_get(regs, w->arch->sp, &sp);
	/* rules are about the registers as they were: only now they change */
	regs->known &= ~row->lost;
	for (unsigned i = 0; i < row->n_rules; i++) {
		regs->known &= ~(UINT64_C(1) << row->rules[i].reg);
		if (found >> i & 1)
			pm_regs_set(regs, row->rules[i].reg, values[i]);
	}
	if (!pm_regs_get(regs, row->ra, &pc))
		return false;
	pc = code_address(w, pc);
	if (pc == regs->pc && sp == cfa)
		return false;
	regs->pc = pc;
	w->called = !row->signal;
	return pc != 0;
}

/* A jump, a push and a jump: an entry of .plt before it was resolved. */
static bool is_plt(struct walk *w)
{
	uint64_t jump, push;

	return w->arch->machine == EM_X86_64 && memory(w, w->regs.pc, 8, &jump) &&
	       memory(w, w->regs.pc + 8, 8, &push) && (jump & 0xffff) == 0x25ff &&
	       (jump >> 48 & 0xff) == 0x68 && (push >> 24 & 0xff) == 0xe9;
}

/*
 * Of code that nothing is known of it is guessed that it keeps a frame pointer, as code made at
 * run time mostly does; false: what is there cannot be one.
 */
static bool guess(struct walk *w)
{
	const struct pm_unwind_arch *arch = w->arch;
	uint64_t sp, fp, caller_fp, pc;

	if (!pm_regs_get(&w->regs, arch->sp, &sp))
		return false;
	if (is_plt(w)) {
		if (!memory(w, sp, arch->word, &pc))
			return false;
		pm_regs_set(&w->regs, arch->sp, sp + arch->word);
	} else {
		if (!pm_regs_get(&w->regs, arch->fp, &fp) || fp < sp || fp - sp > MAX_GUESS ||
		    !memory(w, fp, arch->word, &caller_fp) ||
		    !memory(w, fp + arch->word, arch->word, &pc))
			return false;
		w->regs.known = 0;
		pm_regs_set(&w->regs, arch->fp, caller_fp);
		pm_regs_set(&w->regs, arch->sp, fp + 2u * arch->word);
	}
	w->regs.pc = code_address(w, pc);
	w->called = true;
	return pm_map_at(w->u->machine, w->where, w->regs.pc - 1) != NULL;
}

static bool go_on(struct walk *w)
{
	uint64_t address = w->regs.pc - w->called;
	const struct pm_map *map = pm_map_at(w->u->machine, w->where, address);
	const struct ps_row *row;
	struct ps_cfi *cfi;

	if (!map)
		return false;
	/* only here: during a step its row is of one of them */
	if (w->u->n_open >= MAX_OPEN)
		close_all(w->u);
	if (map->dso->id.kind == PS_JIT)
		return guess(w);
	cfi = cfi_of(w->u, map);
	if (!cfi || !w->arch->machine || ps_cfi_machine(cfi) != w->arch->machine)
		return false;
	row = ps_cfi_row(cfi, pm_map_address(map, address));
	return row ? step(w, row) : guess(w);
}

/* The parts of a sample that unwinding needs; false: they are not all there. */
static bool read_sample(struct walk *w, const struct pd_record *rec)
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

	return read_sample(&w, rec);
}

size_t pm_unwind(struct pm_unwinder *u, const struct pd_record *rec,
		 const struct pm_where *where, uint64_t *ips, size_t n)
{
	struct pm_where user = *where;
	struct walk w = { .u = u, .where = &user };
	size_t got = 0;

	user.mode = PD_CPUMODE_USER;
	if (!n || !read_sample(&w, rec))
		return 0;
	/* of a caller the call is shown, not what follows it */
	for (size_t steps = 0; steps < n; steps++) {
		uint64_t shown = w.regs.pc - w.called;

		if (shown)
			ips[got++] = shown;
		if (!go_on(&w))
			break;
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
		    const struct pm_where *where, uint64_t ip, uint64_t *caller)
{
	struct pm_where user = *where;
	struct walk w = { .u = u, .where = &user, .regs = { .pc = ip } };
	uint32_t at, size;

	user.mode = PD_CPUMODE_USER;
	if (!pd_part_find(rec, PD_PART_REGS_USER, &at, &size) || size < 16)
		return false;
	w.arch = pm_unwind_arch(rec->layout->shape, pd_rec64(rec, at));
	if (!w.arch)
		return false;
	pm_regs_set(&w.regs, LINK_REGISTER, pd_rec64(rec, at + 8));
	/* a frame's address is needed, but nothing is read there */
	pm_regs_set(&w.regs, w.arch->sp, 0);
	if (!go_on(&w))
		return false;
	*caller = w.regs.pc - w.called;
	return true;
}
