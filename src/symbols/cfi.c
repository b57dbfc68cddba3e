#include "cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vector.h"
#include "bundle.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/elf_parts.h"
#include "find.h"
#include "internal.h"
#include "load.h"
#include "memo.h"
#include "proof.h"

#define MAX_OPS	 255	    /* of all expressions in a row */
#define MAX_KEPT (1u << 17) /* addresses, and rows; when there are more, all are forgotten */

struct ps_cfi {
	struct ps_dso *dso;
	bool is_packed;		     /* rows and bytes are those of a bundle, and all known */
	struct ps_memo packed_bytes; /* address and number → bytes */
	struct ps_elf file, debug;   /* the mapped file, and its debug information */
	bool has_debug, asked_debug;
	uint16_t machine;
	Dwarf *dwarf;
	Dwarf_CFI *eh, *frame; /* .eh_frame of `file`, .debug_frame of `debug`; NULL: none */
	struct ps_memo known;  /* address → its row, or `nothing` */
	struct ps_row **rows;  /* [n_rows]: distinct ones */
	size_t n_rows, rows_room;
	struct pb_map by_content; /* numbers of `rows` */
};

/* Opens a file if its build-id is the recorded one. */
static bool open_as(struct ps_elf *elf, const struct ps_dso *dso, const char *path)
{
	const char *reason;

	if (!path || !ps_elf_open(elf, dso->store->options.symfs, path, &reason))
		return false;
	if (!dso->id.build_id.size || ps_build_id_equal(&elf->build_id, &dso->id.build_id))
		return true;
	ps_elf_close(elf);
	return false;
}

struct search {
	struct ps_cfi *cfi;
	const struct ps_dso *dso;
};

static bool try_file(void *arg, const struct ps_candidate *candidate)
{
	struct search *search = arg;

	if (candidate->found != PS_IMAGE ||
	    !open_as(&search->cfi->file, search->dso, candidate->path))
		return false;
	if (!search->cfi->file.is_debug)
		return true;
	ps_elf_close(&search->cfi->file);
	return false;
}

static bool take_rule(struct pb_cursor *c, unsigned n_ops, struct ps_rule *rule)
{
	uint64_t value;

	rule->reg = pb_take8(c);
	rule->kind = pb_take8(c);
	rule->from = pb_take8(c);
	rule->n_ops = pb_take8(c);
	value = ps_take_number(c);
	rule->value = (int32_t)(uint32_t)value;
	if (rule->kind < PS_EXPRESSION)
		return rule->reg < PS_REGISTERS && rule->from < PS_REGISTERS;
	return rule->kind <= PS_AT_EXPRESSION && rule->reg < PS_REGISTERS && value <= n_ops &&
	       rule->n_ops <= n_ops - value;
}

/*
 * Takes a row: number of rules, number of operations, return address, 1 for a signal frame,
 * lost registers, the CFA, the rules, the operations. Returns false if it is none, or without
 * memory.
 */
static bool take_row(struct pb_cursor *c, struct ps_row **ret)
{
	unsigned n_rules = pb_take8(c), n_ops = pb_take8(c);
	size_t size = sizeof(**ret) + n_rules * sizeof(struct ps_rule) +
		      n_ops * sizeof(struct ps_op);
	struct ps_row *row = n_rules <= PS_REGISTERS && !c->failed ? calloc(1, size) : NULL;
	struct ps_op *ops;
	bool ok;

	if (!row)
		return false;
	row->size = (uint32_t)size;
	row->n_rules = (uint16_t)n_rules;
	row->ra = pb_take8(c);
	row->signal = pb_take8(c);
	row->lost = ps_take_number(c);
	ok = row->ra < PS_REGISTERS && take_rule(c, n_ops, &row->cfa);
	for (unsigned i = 0; ok && i < n_rules; i++)
		ok = take_rule(c, n_ops, &row->rules[i]);
	ops = (struct ps_op *)(row->rules + n_rules);
	for (unsigned i = 0; ok && i < n_ops; i++) {
		ops[i].atom = ps_take_number(c);
		ops[i].number = ps_take_number(c);
		ops[i].number2 = ps_take_number(c);
		ops[i].offset = ps_take_number(c);
	}
	*ret = row;
	if (ok && !c->failed)
		return true;
	free(row);
	return false;
}

/* Reads the pieces of a binary that a bundle has: of one address the shorter ones first. */
static bool read_packed_bytes(struct ps_cfi *cfi, struct pb_cursor *c)
{
	uint64_t address = 0, before = 0;

	for (size_t n = ps_take_count(c); n; n--) {
		uint64_t from = address, size;
		const uint8_t *bytes;

		if (!ps_take_distance(c, 0, &address))
			return false;
		size = ps_take_number(c);
		bytes = pb_take(c, size);
		if (!bytes || (address == from && size <= before) ||
		    !ps_memo_put(&cfi->packed_bytes, address, size, bytes))
			return false;
		before = size;
	}
	return !c->failed;
}

/*
 * Reads the CFI of a bundle: machine; number of rows, and the rows; number of addresses, of
 * each the distance and the number of its row; number of pieces, of each the distance of its
 * address, its length and the bytes.
 */
static bool read_packed_cfi(struct ps_cfi *cfi, struct pb_cursor *c)
{
	uint64_t address = 0, least = 0;

	cfi->machine = (uint16_t)ps_take_number(c);
	for (size_t n = ps_take_count(c); n; n--) {
		if (!pb_reserve(cfi->rows, cfi->n_rows, cfi->rows_room) ||
		    !take_row(c, &cfi->rows[cfi->n_rows]))
			return false;
		cfi->n_rows++;
	}
	for (size_t n = ps_take_count(c); n; n--, least = 1) {
		uint64_t row;

		if (!ps_take_distance(c, least, &address))
			return false;
		row = ps_take_number(c);
		if (row >= cfi->n_rows || !ps_memo_put(&cfi->known, address, 0, cfi->rows[row]))
			return false;
	}
	return !c->failed && read_packed_bytes(cfi, c);
}

/* Takes the CFI of a bundle. Returns false if there is none. */
static bool open_packed(struct ps_cfi *cfi)
{
	const struct ps_packed *packed = ps_dso_packed(cfi->dso);
	struct pb_cursor c;

	cfi->is_packed = true;
	return packed && ps_packed_read(packed, PS_PACKED_CFI, &c) && read_packed_cfi(cfi, &c);
}

struct ps_cfi *ps_cfi_create(struct ps_dso *dso)
{
	struct ps_cfi *cfi = calloc(1, sizeof(*cfi));
	struct search search = { cfi, dso };
	struct ps_doubt doubt;
	GElf_Ehdr ehdr;

	if (!cfi)
		return NULL;
	cfi->dso = dso;
	cfi->file.fd = -1;
	/* the kernel's own image is not a file: the dso knows where it was written */
	if (dso->id.kind == PS_VDSO)
		ps_dso_load(dso);
	if (open_as(&cfi->file, dso, ps_dso_runtime(dso)) ||
	    (ps_is_proven(dso, &doubt) && ps_find(dso, try_file, &search))) {
		if (gelf_getehdr(cfi->file.elf, &ehdr))
			cfi->machine = ehdr.e_machine;
		cfi->eh = dwarf_getcfi_elf(cfi->file.elf);
	} else if (!open_packed(cfi)) {
		ps_cfi_destroy(cfi);
		return NULL;
	}
	if (dso->asked)
		ps_note_machine(dso->asked, cfi->machine);
	return cfi;
}

static void forget_rows(struct ps_cfi *cfi)
{
	for (size_t i = 0; i < cfi->n_rows; i++)
		free(cfi->rows[i]);
	free(cfi->rows);
	pb_map_deinit(&cfi->by_content);
	ps_memo_deinit(&cfi->known);
	cfi->rows = NULL;
	cfi->n_rows = cfi->rows_room = 0;
}

void ps_cfi_destroy(struct ps_cfi *cfi)
{
	if (!cfi)
		return;
	forget_rows(cfi);
	ps_memo_deinit(&cfi->packed_bytes);
	if (cfi->eh)
		dwarf_cfi_end(cfi->eh);
	if (cfi->dwarf)
		dwarf_end(cfi->dwarf);
	if (cfi->has_debug)
		ps_elf_close(&cfi->debug);
	ps_elf_close(&cfi->file);
	free(cfi);
}

uint16_t ps_cfi_machine(const struct ps_cfi *cfi)
{
	return cfi->machine;
}

static bool read_cfi_bytes(const struct ps_cfi *cfi, uint64_t address, void *bytes, size_t n)
{
	const void *packed;

	if (!cfi->is_packed)
		return address <= INT64_MAX &&
		       pread(cfi->file.fd, bytes, n, (off_t)address) == (ssize_t)n;
	packed = ps_memo_get(&cfi->packed_bytes, address, n);
	if (packed)
		memcpy(bytes, packed, n);
	return packed;
}

bool ps_cfi_bytes(const struct ps_cfi *cfi, uint64_t address, void *bytes, size_t n)
{
	bool read = read_cfi_bytes(cfi, address, bytes, n);

	if (read && cfi->dso->asked)
		ps_note_bytes(cfi->dso->asked, address, bytes, n);
	return read;
}

static bool has_debug_frame(Elf *elf)
{
	GElf_Shdr header;

	return ps_elf_section(elf, SHT_PROGBITS, ".debug_frame", &header);
}

/*
 * Opens the file with .debug_frame, when .eh_frame does not know an address. If it has none,
 * libdw is not asked, as it would unpack all debug information.
 */
static void open_debug(struct ps_cfi *cfi)
{
	struct ps_dso *dso = cfi->dso;
	Elf *elf = cfi->file.elf;

	cfi->asked_debug = true;
	if (!has_debug_frame(elf)) {
		ps_dso_load(dso);
		cfi->has_debug = !dso->packed && open_as(&cfi->debug, dso, dso->path);
		elf = cfi->has_debug ? cfi->debug.elf : NULL;
		if (!elf || !has_debug_frame(elf))
			return;
	}
	cfi->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	cfi->frame = cfi->dwarf ? dwarf_getcfi(cfi->dwarf) : NULL;
}

/* A row in the making. */
struct making {
	struct ps_row *row;
	struct ps_op ops[MAX_OPS];
	unsigned n_ops;
};

/* Returns false if the row would have too many operations, or a number is too large. */
static bool add_expression(struct making *making, struct ps_rule *rule, const Dwarf_Op *ops,
			   size_t n)
{
	if (n > MAX_OPS - making->n_ops)
		return false;
	rule->value = (int32_t)making->n_ops;
	rule->n_ops = (uint8_t)n;
	for (size_t i = 0; i < n; i++)
		making->ops[making->n_ops++] = (struct ps_op){ ops[i].atom, ops[i].number,
							       ops[i].number2, ops[i].offset };
	return true;
}

static bool set_value(struct ps_rule *rule, enum ps_rule_kind kind, uint64_t from,
		      uint64_t value)
{
	rule->kind = (uint8_t)kind;
	rule->from = (uint8_t)from;
	rule->value = (int32_t)value;
	return from < PS_REGISTERS && (uint64_t)(int64_t)rule->value == value;
}

/* Converts a rule. libdw's forms are those of dwarf_frame_register in libdw.h. */
static bool set_rule(struct making *making, struct ps_rule *rule, const Dwarf_Op *ops, size_t n)
{
	bool value = ops[n - 1].atom == DW_OP_stack_value;
	bool plus = n > 1 && ops[1].atom == DW_OP_plus_uconst;

	if (n == 1 && ops[0].atom == DW_OP_regx)
		return set_value(rule, PS_REGISTER, ops[0].number, 0);
	n -= value;
	if (n > 0 && ops[0].atom == DW_OP_call_frame_cfa && n == 1u + plus)
		return set_value(rule, value ? PS_CFA : PS_AT_CFA, 0, plus ? ops[1].number : 0);
	rule->kind = value ? PS_EXPRESSION : PS_AT_EXPRESSION;
	return add_expression(making, rule, ops, n);
}

static bool set_cfa(struct making *making, Dwarf_Frame *frame)
{
	struct ps_rule *rule = &making->row->cfa;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n == 0)
		return false;
	if (n == 1 && ops[0].atom == DW_OP_bregx)
		return set_value(rule, PS_REGISTER, ops[0].number, ops[0].number2);
	rule->kind = PS_EXPRESSION;
	return add_expression(making, rule, ops, n);
}

/*
 * Returns true if libdw says of a register that is not mentioned that it is lost, though
 * functions keep it: for rbx, number 3, its table of the ABI has 0. See x86_64_abi_cfi,
 * backends/x86_64_cfi.c of elfutils.
 */
static bool is_kept(uint16_t machine, uint8_t reg)
{
	return machine == EM_X86_64 && reg == 3;
}

static bool set_registers(struct making *making, Dwarf_Frame *frame, uint16_t machine)
{
	struct ps_row *row = making->row;
	Dwarf_Op mem[3], *ops;
	size_t n;

	for (uint8_t reg = 0; reg < PS_REGISTERS; reg++) {
		struct ps_rule *rule = &row->rules[row->n_rules];

		if (dwarf_frame_register(frame, reg, mem, &ops, &n) != 0)
			return false;
		if (n == 0 && (!ops || is_kept(machine, reg)))
			continue; /* the value stays the same */
		if (n == 0) {
			row->lost |= UINT64_C(1) << reg;
			continue;
		}
		*rule = (struct ps_rule){ .reg = reg };
		if (!set_rule(making, rule, ops, n))
			return false;
		row->n_rules++;
	}
	return true;
}

struct wanted {
	const struct ps_cfi *cfi;
	const struct ps_row *row;
};

static bool has_content(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct ps_row *row = wanted->cfi->rows[item];

	return row->size == wanted->row->size && memcmp(row, wanted->row, row->size) == 0;
}

/* Returns the kept row with that content; NULL: no memory. */
static const struct ps_row *keep_row(struct ps_cfi *cfi, struct making *making)
{
	struct ps_row *row = making->row;
	const struct wanted wanted = { cfi, row };
	size_t ops = making->n_ops * sizeof(struct ps_op);
	struct pb_slot *slot;
	struct ps_row *kept;
	uint32_t hash;

	row->size = (uint32_t)(sizeof(*row) + row->n_rules * sizeof(row->rules[0]) + ops);
	memcpy(row->rules + row->n_rules, making->ops, ops);
	hash = pb_hash_bytes(&cfi->dso->store->secret, row, row->size);
	if (!pb_map_reserve(&cfi->by_content) ||
	    !pb_reserve(cfi->rows, cfi->n_rows, cfi->rows_room))
		return NULL;
	slot = pb_map_find(&cfi->by_content, hash, has_content, &wanted);
	if (slot->item)
		return cfi->rows[slot->item - 1];
	kept = malloc(row->size);
	if (!kept)
		return NULL;
	memcpy(kept, row, row->size);
	pb_map_fill(&cfi->by_content, slot, hash, (uint32_t)cfi->n_rows);
	cfi->rows[cfi->n_rows++] = kept;
	return kept;
}

static const struct ps_row *build_row(struct ps_cfi *cfi, uint64_t address)
{
	union {
		struct ps_row row;
		uint8_t room[sizeof(struct ps_row) + PS_REGISTERS * sizeof(struct ps_rule) +
			     MAX_OPS * sizeof(struct ps_op)];
	} place = { .row = { .size = 0 } };
	struct making making = { .row = &place.row };
	const struct ps_row *row = NULL;
	Dwarf_Frame *frame = NULL;
	bool signal = false;
	int ra;

	if (!cfi->eh || dwarf_cfi_addrframe(cfi->eh, address, &frame) != 0) {
		if (!cfi->asked_debug)
			open_debug(cfi);
		if (!cfi->frame || dwarf_cfi_addrframe(cfi->frame, address, &frame) != 0)
			return NULL;
	}
	ra = dwarf_frame_info(frame, NULL, NULL, &signal);
	if (ra >= 0 && ra < PS_REGISTERS && set_cfa(&making, frame) &&
	    set_registers(&making, frame, cfi->machine)) {
		place.row.ra = (uint8_t)ra;
		place.row.signal = signal;
		row = keep_row(cfi, &making);
	}
	free(frame);
	return row;
}

static const struct ps_row *find_row(struct ps_cfi *cfi, uint64_t address)
{
	static const struct ps_row nothing; /* stands for an address without a row */
	const struct ps_row *row = ps_memo_get(&cfi->known, address, 0);
	uint64_t in_file;

	if (row || cfi->is_packed)
		return row == &nothing ? NULL : row;
	/*
	 * addresses outside the file are not remembered: a recording could ask for any number
	 * of them
	 */
	if (!ps_elf_address(&cfi->file, address, &in_file))
		return NULL;
	if (cfi->known.n >= MAX_KEPT)
		forget_rows(cfi);
	row = build_row(cfi, in_file);
	ps_memo_put(&cfi->known, address, 0, row ? row : &nothing);
	return row;
}

const struct ps_row *ps_cfi_row(struct ps_cfi *cfi, uint64_t address)
{
	const struct ps_row *row = find_row(cfi, address);

	if (row && cfi->dso->asked)
		ps_note_row(cfi->dso->asked, address, row);
	return row;
}
