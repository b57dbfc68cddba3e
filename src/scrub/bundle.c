/*
 * Scrubs a bundle (symbols/bundle.h): its names go by the kinds of the records' names, so that
 * equal ones stay equal and binaries are found by them. It is written anew from what is known.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "internal.h"
#include "pack/text.h"
#include "symbols/bundle.h"

#define ROW_HEAD 4 /* bytes before the numbers of a row, and of a rule: see symbols/cfi.c */

/* A bundle in the making. */
struct maker {
	struct pv_scrubber *s;
	const struct ps_bundle *bundle;
	const struct ps_packed *packed; /* the binary at hand */
	struct pb_cursor c;
	struct pk_texts texts;
};

static bool drops(const struct maker *m, enum pv_kind kind)
{
	return m->s->rules.of[kind] == PV_DROP;
}

/* Puts what takes the place of a name; none if there is none, or its kind is dropped. */
static void put_name(struct maker *m, struct pb_string *out, enum pv_kind kind,
		     const char *text)
{
	struct pd_text shown = { text, 0 };

	if (text)
		shown = pv_meet_name(m->s, kind, (struct pd_text){ text, strlen(text) });
	pk_put_text(out, &m->texts, drops(m, kind) ? NULL : shown.p);
}

/* Copies bytes of code after their number; none if code is dropped. */
static void copy_code(struct maker *m, struct pb_string *out)
{
	size_t n = ps_take_count(&m->c);
	const uint8_t *bytes = pb_take(&m->c, n);

	if (!bytes || !pv_meet(m->s, PV_CODE, n))
		n = 0;
	pk_put(out, n);
	if (n)
		pb_string_add(out, (const char *)bytes, n);
}

static void copy_numbers(struct maker *m, struct pb_string *out, uint64_t n)
{
	while (n-- && !m->c.failed)
		pk_put(out, ps_take_number(&m->c));
}

/* Copies a row of call frame information: bytes and numbers. */
static void copy_row(struct maker *m, struct pb_string *out)
{
	const uint8_t *head = pb_take(&m->c, ROW_HEAD);
	unsigned n_rules = head ? head[0] : 0, n_ops = head ? head[1] : 0;

	if (head)
		pb_string_add(out, (const char *)head, ROW_HEAD);
	copy_numbers(m, out, 1);
	for (unsigned i = 0; i <= n_rules && !m->c.failed; i++) {
		const uint8_t *rule = pb_take(&m->c, ROW_HEAD);

		if (rule)
			pb_string_add(out, (const char *)rule, ROW_HEAD);
		copy_numbers(m, out, 1);
	}
	copy_numbers(m, out, UINT64_C(4) * n_ops);
}

static void copy_list(struct maker *m, const char *form, struct pb_string *out);

/* Returns the end of a list's form, after its parenthesis. */
static const char *skip_list(const char *form)
{
	unsigned depth = 0;

	do {
		depth += *form == '(';
		depth -= *form == ')';
	} while (*form++ && depth);
	return form;
}

/*
 * Copies data as a form describes them: n is a number, l that of a source line, f the name of
 * a function, p that of a source file, b that of a binary, t source text, x bytes of code, r a
 * row; *(…) is a list after its number, whose items may begin with the distance of an address,
 * a.
 */
static void copy_form(struct maker *m, const char *form, struct pb_string *out)
{
	static const struct {
		char letter;
		enum pv_kind kind;
	} names[] = {
		{ 'f', PV_FUNCTION }, { 'p', PV_SOURCE }, { 'b', PV_BINARY }, { 't', PV_TEXT }
	};

	while (*form && *form != ')' && !m->c.failed) {
		char what = *form++;
		uint64_t number;

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (what == names[i].letter)
				put_name(m, out, names[i].kind,
					 ps_take_string(&m->c, m->bundle));
		if (what == 'n' || what == 'l') {
			number = ps_take_number(&m->c);
			pk_put(out, what == 'l' && drops(m, PV_SOURCE) ? 0 : number);
		} else if (what == 'x') {
			copy_code(m, out);
		} else if (what == 'r') {
			copy_row(m, out);
		} else if (what == '*') {
			copy_list(m, form + 1, out);
			form = skip_list(form);
		}
	}
}

/* An item of a list: what follows its address. */
struct item {
	uint64_t address;
	size_t from, n; /* bytes */
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Returns whether an address of the binary stays, and moves it where addresses are to. */
static bool move(struct maker *m, uint64_t *address)
{
	const struct ps_dso_id *id = &m->packed->id;

	if (!m->s->places || (id->kind != PS_KERNEL && id->kind != PS_JIT))
		return true;
	return pv_move(m->s, id->kind == PS_JIT ? id->pid : PM_KERNEL, address);
}

static void copy_list(struct maker *m, const char *form, struct pb_string *out)
{
	bool has_address = *form == 'a';
	struct pb_string bytes = { 0 };
	struct item *items = NULL;
	size_t n_items = 0, room = 0;
	uint64_t address = 0;

	for (size_t n = ps_take_count(&m->c); n && !m->c.failed; n--) {
		struct item item = { .from = bytes.n };

		if (has_address && !ps_take_distance(&m->c, 0, &address))
			break;
		item.address = address;
		copy_form(m, form + has_address, &bytes);
		item.n = bytes.n - item.from;
		if (has_address && !move(m, &item.address))
			bytes.n = item.from;
		else if (pb_reserve(items, n_items, room))
			items[n_items++] = item;
		else
			out->failed = true;
	}
	if (n_items)
		qsort(items, n_items, sizeof(*items), compare_items);
	pk_put(out, n_items);
	address = 0;
	for (size_t i = 0; i < n_items && !bytes.failed; i++) {
		if (has_address)
			pk_put(out, items[i].address - address);
		address = items[i].address;
		pb_string_add(out, bytes.n ? bytes.p + items[i].from : "", items[i].n);
	}
	out->failed |= bytes.failed;
	pb_string_deinit(&bytes);
	free(items);
}

/* The forms of the parts of a binary, as symbols/ reads them; see copy_form(). */
static const struct {
	const char *form;
	enum pv_kind kind; /* it is left out if this is dropped */
} parts[PS_PACKED_PARTS] = {
	[PS_PACKED_SEGMENTS] = { "*(nnn)", PV_BASICS },
	[PS_PACKED_SYMBOLS] = { "*(anfn)", PV_FUNCTION },
	[PS_PACKED_JIT] = { "nn*(anfnnn)", PV_FUNCTION },
	[PS_PACKED_LINES] = { "*(a*(fppl))", PV_BASICS },
	[PS_PACKED_CFI] = { "n*(r)*(nn)*(nx)", PV_STACKS },
	[PS_PACKED_CODE] = { "*(nnnnnbnx)", PV_CODE },
};

/* Copies the parts of the binary at hand but for its identity. */
static void copy_parts(struct maker *m, struct pb_string *out)
{
	struct pb_string part = { 0 };

	for (unsigned i = PS_PACKED_ID + 1; i < PS_PACKED_PARTS; i++) {
		if (!ps_packed_read(m->packed, i, &m->c))
			continue;
		if (drops(m, parts[i].kind)) {
			pv_meet(m->s, parts[i].kind, m->packed->parts[i].n);
			continue;
		}
		copy_form(m, parts[i].form, &part);
		pk_put_part(out, i, &part);
		if (m->c.failed)
			break;
	}
	pb_string_deinit(&part);
}

/* Puts the name of the binary at hand, which machine/binaries.c makes of that of a mapping. */
static void put_own_name(struct maker *m, struct pb_string *out)
{
	const struct ps_dso_id *id = &m->packed->id;
	struct pd_text name = { id->name, strlen(id->name) };
	char made[sizeof("/tmp/perf--2147483648.map")];

	snprintf(made, sizeof(made), "/tmp/perf-%d.map", id->pid);
	if (id->kind != PS_JIT || strcmp(name.p, made) != 0)
		name = pv_meet_name(m->s, PV_BINARY, name);
	pk_put_text(out, &m->texts, name.p);
}

/* Puts what tells the file at hand from others of its name: its build-id, device and inode. */
static void put_file(struct maker *m, struct pb_string *out)
{
	const struct ps_file_id *file = &m->packed->id.file;
	struct ps_build_id id = m->packed->id.build_id;
	uint8_t recorded[PV_INODE_SIZE] = { 0 };
	bool swap = m->s->file->swap, stays = m->s->rules.of[PV_BINARY] == PV_KEEP;

	if (id.size && !pv_build_id(m->s, id.bytes, id.size))
		id.size = 0;
	pk_put(out, id.size);
	pb_string_add(out, (const char *)id.bytes, id.size);
	pv_store32(recorded, file->major, swap);
	pv_store32(recorded + 4, file->minor, swap);
	pv_store64(recorded + 8, file->inode, swap);
	pv_store64(recorded + 16, file->generation, swap);
	if (!stays)
		pv_inode(m->s, recorded);
	pk_put(out, pb_load32(recorded, swap));
	pk_put(out, pb_load32(recorded + 4, swap));
	pk_put(out, pb_load64(recorded + 8, swap));
	pk_put(out, pb_load64(recorded + 16, swap));
	pk_put(out, file->is_ambiguous);
}

/*
 * Puts the identity of the binary at hand, and where its names come from, as symbols/bundle.c
 * reads it. Returns false if nothing is to be told of it.
 */
static bool put_identity(struct maker *m, struct pb_string *out)
{
	const struct ps_packed *packed = m->packed;
	const struct ps_dso_id *id = &packed->id;
	bool moves = m->s->places && (id->kind == PS_KERNEL || id->kind == PS_MODULE);
	uint64_t start = id->start, reference = id->reference_address;
	const char *proof = packed->proof;

	if (moves && (id->guest || !pv_move(m->s, PM_KERNEL, &start)))
		return false;
	if (moves && reference - id->start < id->len)
		pv_move(m->s, PM_KERNEL, &reference);
	pk_put(out, id->kind);
	pk_put(out, id->guest);
	put_own_name(m, out);
	put_name(m, out, PV_BINARY, id->shown);
	put_file(m, out);
	pk_put(out, start);
	pk_put(out, id->len);
	pk_put_text(out, &m->texts, NULL); /* the name at the reference address */
	pk_put(out, reference);
	pk_put(out, (uint32_t)id->pid);
	pk_put(out, packed->bias - (id->start - start));
	pk_put(out, packed->listed);
	pk_put_text(out, &m->texts, proof && pk_is_proof(proof) ? proof : NULL);
	put_name(m, out, PV_BINARY, packed->path);
	pk_put_text(out, &m->texts, NULL); /* the source of that path */
	put_name(m, out, PV_BINARY, packed->runtime);
	put_name(m, out, PV_BINARY, packed->debug);
	return true;
}

/* Returns whether the binary at hand can be told from others by what stays of its identity. */
static bool is_told(const struct maker *m)
{
	const struct ps_dso_id *id = &m->packed->id;

	return !drops(m, PV_BINARY) || id->kind == PS_JIT ||
	       pv_is_common_mapping((struct pd_text){ id->name, strlen(id->name) });
}

static void copy_binaries(struct maker *m, struct pb_string *out)
{
	struct pb_string identity = { 0 }, others = { 0 }, binary = { 0 };

	for (size_t i = 0; (m->packed = ps_bundle_at(m->bundle, i)) && !m->c.failed; i++) {
		if (is_told(m))
			copy_parts(m, &others);
		if (others.n && put_identity(m, &identity)) {
			pk_put_part(&binary, PS_PACKED_ID, &identity);
			pk_append(&binary, &others);
			pk_put_part(out, PS_BUNDLE_DSO, &binary);
		}
		out->failed |= others.failed;
		pb_string_clear(&identity);
		pb_string_clear(&others);
	}
	pb_string_deinit(&identity);
	pb_string_deinit(&others);
	pb_string_deinit(&binary);
}

/* Copies the text of source files, if it stays, and they can be told from others. */
static void copy_sources(struct maker *m, struct pb_string *out)
{
	struct pb_string part = { 0 };

	for (size_t i = 0; !m->c.failed && ps_bundle_source_at(m->bundle, i, &m->c); i++) {
		if (!pv_meet(m->s, PV_TEXT, pb_cursor_left(&m->c)) || drops(m, PV_SOURCE))
			continue;
		copy_form(m, "pn*(nt)", &part);
		pk_put_part(out, PS_BUNDLE_SOURCE, &part);
	}
	pb_string_deinit(&part);
}

bool pv_bundle(struct pv_scrubber *s, const uint8_t *bytes, size_t n, struct pb_string *out)
{
	const char *reason;
	struct ps_bundle *bundle = ps_bundle_open(bytes, n, &reason);
	struct maker m = { .s = s, .bundle = bundle };
	struct pb_string all = { 0 };
	bool ok;

	if (!bundle)
		return false;
	copy_binaries(&m, &all);
	copy_sources(&m, &all);
	ok = !m.c.failed && (!all.n || pk_seal(&m.texts, &all, out, &reason));
	out->failed |= all.failed || m.texts.bytes.failed;
	pk_texts_deinit(&m.texts);
	pb_string_deinit(&all);
	ps_bundle_destroy(bundle);
	return ok;
}
