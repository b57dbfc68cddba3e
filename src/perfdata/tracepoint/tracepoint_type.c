#include "tracepoint.h"

#include <stdlib.h>

/* Sizes of declared types; LONG is the recorded kernel's. */
#define LONG	0
#define UNKNOWN UINT32_MAX

/* helpers of a print format that are looked at; real ones have a few */
#define MAX_HELPERS 1024

static const struct {
	const char *name;
	uint32_t size;
	bool is_signed;
} types[] = {
	{ "char", 1, true },	   { "bool", 1, false },
	{ "_Bool", 1, false },	   { "u8", 1, false },
	{ "s8", 1, true },	   { "__u8", 1, false },
	{ "__s8", 1, true },	   { "uint8_t", 1, false },
	{ "int8_t", 1, true },	   { "short", 2, true },
	{ "u16", 2, false },	   { "s16", 2, true },
	{ "__u16", 2, false },	   { "__s16", 2, true },
	{ "__le16", 2, false },	   { "__be16", 2, false },
	{ "uint16_t", 2, false },  { "int16_t", 2, true },
	{ "umode_t", 2, false },   { "int", 4, true },
	{ "u32", 4, false },	   { "s32", 4, true },
	{ "__u32", 4, false },	   { "__s32", 4, true },
	{ "__le32", 4, false },	   { "__be32", 4, false },
	{ "uint32_t", 4, false },  { "int32_t", 4, true },
	{ "uint", 4, false },	   { "pid_t", 4, true },
	{ "uid_t", 4, false },	   { "gid_t", 4, false },
	{ "dev_t", 4, false },	   { "gfp_t", 4, false },
	{ "u64", 8, false },	   { "s64", 8, true },
	{ "__u64", 8, false },	   { "__s64", 8, true },
	{ "__le64", 8, false },	   { "__be64", 8, false },
	{ "uint64_t", 8, false },  { "int64_t", 8, true },
	{ "loff_t", 8, true },	   { "sector_t", 8, false },
	{ "ino_t", LONG, false },  { "long", LONG, true },
	{ "ulong", LONG, false },  { "size_t", LONG, false },
	{ "ssize_t", LONG, true }, { "uintptr_t", LONG, false },
};

/* The parts of a declared type. */
struct declared {
	struct pd_text base; /* its last word that names a type */
	unsigned longs;	     /* number of words "long" */
	bool is_unsigned, is_pointer, is_array, is_enum;
	const char *brackets; /* the last group of brackets; NULL: none */
	enum pd_arg_storage storage;
};

static bool word_is(struct pd_text word, const char *what)
{
	return strncmp(what, word.p, word.n) == 0 && !what[word.n];
}

static void add_type_word(struct declared *d, struct pd_text word)
{
	static const char *const nothing[] = { "const",	 "volatile", "signed",
					       "__user", "struct",   "union" };

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		if (word_is(word, nothing[i]))
			return;
	if (word_is(word, "__data_loc")) {
		d->storage = PD_ARG_DATA;
	} else if (word_is(word, "__rel_loc")) {
		d->storage = PD_ARG_REL;
	} else if (word_is(word, "enum")) {
		d->is_enum = true;
	} else if (word_is(word, "unsigned")) {
		d->is_unsigned = true;
	} else if (word_is(word, "int") && d->base.n) {
		; /* "long int" is the same as long */
	} else {
		d->longs += word_is(word, "long");
		d->base = word;
	}
}

/*
 * Returns the end of a parenthesised attribute: "__attribute__((user))" does not change values.
 */
static const char *skip_attribute(const char *p)
{
	unsigned depth = 0;

	do {
		depth += *p == '(';
		depth -= *p == ')';
		p += *p != 0;
	} while (*p && depth);
	return p;
}

static struct declared take_apart(const char *type)
{
	struct declared d = { .base = { "", 0 } };

	for (const char *p = type; *p;) {
		const char *start = p;

		if (*p == '[') {
			d.is_array = true;
			d.brackets = p;
			while (*p && *p != ']')
				p++;
		} else if (*p == '(') {
			p = skip_attribute(p);
		} else if (pd_is_word(*p)) {
			while (pd_is_word(*p))
				p++;
			if (!(*p == '(' && strncmp(start, "__attribute__", 13) == 0))
				add_type_word(&d,
					      (struct pd_text){ start, (size_t)(p - start) });
		} else {
			d.is_pointer = d.is_pointer || *p == '*';
			p++;
		}
	}
	return d;
}

/* Returns the bytes of one value and sets *is_signed; UNKNOWN for a type that is not known. */
static uint32_t find_type_size(const struct declared *d, unsigned long_size, bool *is_signed)
{
	*is_signed = false;
	if (d->is_pointer)
		return long_size;
	*is_signed = !d->is_unsigned;
	if (d->is_enum || (!d->base.n && d->is_unsigned))
		return 4;
	if (d->longs > 1)
		return 8;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (word_is(d->base, types[i].name)) {
			*is_signed = types[i].is_signed && !d->is_unsigned;
			return types[i].size == LONG ? long_size : types[i].size;
		}
	}
	*is_signed = false;
	return UNKNOWN;
}

static bool is_integer_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * Returns the bytes of an item of an array of fixed size: the field's size divided by the
 * number in brackets, if that is a plain number ("32 + 1" is not), else the size of the type.
 */
static uint32_t find_array_item_size(const struct pd_tracepoint_field *field,
				     const struct declared *d, uint32_t declared_size)
{
	char *end;
	unsigned long n = d->brackets ? strtoul(d->brackets + 1, &end, 10) : 0;

	return n && *end == ']' && field->size % n == 0 ? field->size / (uint32_t)n :
							  declared_size;
}

static bool is_text_type(const struct declared *d)
{
	return word_is(d->base, "char") && !d->is_unsigned && !d->is_pointer;
}

static void set_single_type(struct pd_tracepoint_field *field, const struct declared *d)
{
	if (!is_integer_size(field->size))
		field->kind = PD_ARG_BYTES;
	else if (d->is_pointer && field->size >= 4)
		field->kind = PD_ARG_POINTER;
	else
		field->kind = PD_ARG_INT;
}

static void set_array_type(struct pd_tracepoint_field *field, const struct declared *d,
			   uint32_t declared_size, unsigned long_size)
{
	bool fixed = field->storage == PD_ARG_FIXED;

	field->element = fixed ? find_array_item_size(field, d, declared_size) : declared_size;
	field->kind = PD_ARG_LIST;
	if (word_is(d->base, "cpumask_t")) {
		field->kind = PD_ARG_BITS;
		field->element = long_size;
	} else if (is_text_type(d)) {
		field->kind = PD_ARG_TEXT;
		field->element = 1;
	} else if (!is_integer_size(field->element) ||
		   (fixed && field->size % field->element)) {
		field->kind = PD_ARG_BYTES;
		field->element = 1;
	}
	field->count = fixed ? field->size / field->element : 0;
}

void pd_tracepoint_type(struct pd_tracepoint_field *field, unsigned long_size, uint64_t sign)
{
	struct declared d = take_apart(field->type);
	uint32_t declared_size = find_type_size(&d, long_size, &field->is_signed);

	if (sign != UINT64_MAX)
		field->is_signed = sign != 0;
	field->storage = (uint8_t)d.storage;
	if (d.storage == PD_ARG_DATA && field->size == 2)
		field->storage = PD_ARG_SHORT;
	else if (d.storage == PD_ARG_FIXED && d.is_array && field->size == 0)
		field->storage = PD_ARG_REST;
	if (field->storage == d.storage && d.storage != PD_ARG_FIXED && field->size != 4) {
		/* a descriptor has four bytes: the field is plain bytes */
		field->storage = PD_ARG_FIXED;
		field->kind = PD_ARG_BYTES;
	} else if (field->storage != PD_ARG_FIXED || d.is_array ||
		   word_is(d.base, "cpumask_t")) {
		set_array_type(field, &d, declared_size, long_size);
	} else {
		set_single_type(field, &d);
	}
	if (field->kind == PD_ARG_POINTER || d.is_pointer)
		field->is_signed = false;
}

static enum pd_arg_kind find_helper_kind(struct pd_text helper)
{
	static const struct {
		const char *helper;
		enum pd_arg_kind kind;
	} helpers[] = {
		{ "__get_bitmask", PD_ARG_BITS },
		{ "__get_rel_bitmask", PD_ARG_BITS },
		{ "__get_cpumask", PD_ARG_BITS },
		{ "__get_rel_cpumask", PD_ARG_BITS },
		{ "__get_sockaddr", PD_ARG_SOCKADDR },
		{ "__get_rel_sockaddr", PD_ARG_SOCKADDR },
		{ "__get_sockaddr_rel", PD_ARG_SOCKADDR },
	};

	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (word_is(helper, helpers[i].helper))
			return helpers[i].kind;
	return PD_ARG_INT;
}

static struct pd_text take_word(const char **p)
{
	const char *start = *p;

	while (pd_is_word(**p))
		(*p)++;
	return (struct pd_text){ start, (size_t)(*p - start) };
}

static void set_kind(struct pd_tracepoint_field *fields, uint32_t n, struct pd_text name,
		     enum pd_arg_kind kind, unsigned long_size)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!fields[i].element || fields[i].count || !word_is(name, fields[i].name))
			continue;
		fields[i].kind = (uint8_t)kind;
		fields[i].element = kind == PD_ARG_BITS ? long_size : 1;
		return;
	}
}

void pd_tracepoint_printed(struct pd_tracepoint_field *fields, uint32_t n,
			   const char *print_fmt, unsigned long_size)
{
	const char *p = print_fmt;

	for (unsigned i = 0; i < MAX_HELPERS && (p = strstr(p, "__get_")) != NULL; i++) {
		enum pd_arg_kind kind = find_helper_kind(take_word(&p));

		p += strspn(p, " ");
		if (*p != '(' || kind == PD_ARG_INT)
			continue;
		p++;
		p += strspn(p, " ");
		set_kind(fields, n, take_word(&p), kind, long_size);
	}
}
