#define _GNU_SOURCE
#include "kallsyms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elf/file.h"
#include "symbols/elf/text.h"

/* The kernel has no longer names: KSYM_NAME_LEN, and the module's. */
#define MAX_NAME 1024

struct entry {
	uint64_t address;
	char type;
	const char *name;
	size_t length;
	bool module;
};

/* Returns false if it is not a line of a kallsyms file. */
static bool parse_kallsyms_line(struct ps_line_text line, struct entry *entry)
{
	if (!ps_text_hex(&line, &entry->address) || line.end - line.at < 4 ||
	    line.at[0] != ' ' || line.at[2] != ' ')
		return false;
	entry->type = line.at[1];
	entry->name = line.at + 3;
	entry->length = (size_t)(line.end - entry->name);
	entry->module = memchr(entry->name, '\t', entry->length);
	return entry->length <= MAX_NAME && !memchr(entry->name, '\0', entry->length);
}

/*
 * Skips mapping symbols of ARM, and those of the entry trampoline, which are elsewhere, too:
 * see map__process_kallsym_symbol and maps__split_kallsyms, tools/perf/util/symbol.c.
 */
static bool is_wanted_symbol(const struct entry *entry)
{
	static const char trampoline[] = "__entry_SYSCALL_64_trampoline";

	return strchr("TWDB", toupper((unsigned char)entry->type)) && entry->type &&
	       entry->name[0] != '$' &&
	       !(entry->length == sizeof(trampoline) - 1 &&
		 memcmp(entry->name, trampoline, entry->length) == 0);
}

static bool add_kernel_symbol(struct ps_kallsyms *kallsyms, const struct entry *entry)
{
	char type = (char)toupper((unsigned char)entry->type);
	const struct ps_symbol symbol = {
		.start = entry->address,
		.name = entry->name,
		.length = (uint32_t)entry->length,
		.binding = entry->type == 'W'  ? PS_WEAK :
			   entry->type == type ? PS_GLOBAL :
						 PS_LOCAL,
		.function = type == 'T' || type == 'W',
	};

	return ps_table_add(entry->module ? &kallsyms->modules : &kallsyms->kernel, &symbol, 0);
}

static bool is_named(const struct entry *entry, const char *name)
{
	return !entry->module && name && strlen(name) == entry->length &&
	       memcmp(name, entry->name, entry->length) == 0;
}

/* Facts about the whole text. */
struct seen {
	bool addresses; /* some address is not 0 */
	bool found;	/* the reference symbol was found */
	uint64_t reference;
};

static bool add_lines(struct ps_kallsyms *kallsyms, const char *text, size_t size,
		      const char *reference, struct seen *seen)
{
	const char *at = text;
	struct ps_line_text line;
	struct entry entry;

	while (ps_text_line(&at, text + size, &line)) {
		if (!parse_kallsyms_line(line, &entry))
			continue;
		seen->addresses |= entry.address != 0;
		if (!seen->found && is_named(&entry, reference)) {
			seen->found = true;
			seen->reference = entry.address;
		}
		if (is_named(&entry, "_etext"))
			kallsyms->ends[0] = entry.address;
		else if (is_named(&entry, "_edata"))
			kallsyms->ends[1] = entry.address;
		if (is_wanted_symbol(&entry) && !add_kernel_symbol(kallsyms, &entry))
			return false;
	}
	return true;
}

static const char *find_fault(const struct ps_kallsyms *kallsyms, const struct seen *seen,
			      struct ps_reference reference)
{
	if (!kallsyms->kernel.n)
		return "no symbols in it";
	if (!seen->addresses)
		return "its addresses are hidden (kernel.kptr_restrict)";
	if (reference.name && reference.address && !seen->found)
		return "lacks the symbol that tells the kernel's relocation";
	return NULL;
}

static void clear_symbols(struct ps_kallsyms *kallsyms)
{
	ps_table_deinit(&kallsyms->kernel);
	ps_table_deinit(&kallsyms->modules);
}

bool ps_kallsyms_parse(struct ps_kallsyms *kallsyms, const char *text, size_t size,
		       struct ps_reference reference, struct ps_interrupt *interrupt,
		       const char **reason)
{
	struct seen seen = { 0 };

	memset(kallsyms, 0, sizeof(*kallsyms));
	kallsyms->kernel.interrupt = kallsyms->modules.interrupt = interrupt;
	if (add_lines(kallsyms, text, size, reference.name, &seen))
		*reason = find_fault(kallsyms, &seen, reference);
	else
		*reason = "no memory";
	if (*reason) {
		clear_symbols(kallsyms);
		return false;
	}
	if (seen.found && reference.address)
		kallsyms->delta = reference.address - seen.reference;
	ps_table_move(&kallsyms->kernel, kallsyms->delta);
	if (ps_table_finish(&kallsyms->kernel, PS_SYSTEM) &&
	    ps_table_finish(&kallsyms->modules, PS_SYSTEM))
		return true;
	*reason = "no memory";
	clear_symbols(kallsyms);
	return false;
}

struct ps_kallsyms *ps_kallsyms_read(int fd, const struct stat *status,
				     struct ps_reference reference,
				     struct ps_interrupt *interrupt, const char **reason)
{
	struct ps_kallsyms *kallsyms;
	size_t size;
	char *text = ps_text_take(fd, status, &size, reason);

	if (!text)
		return NULL;
	kallsyms = malloc(sizeof(*kallsyms));
	if (!kallsyms)
		*reason = "no memory";
	if (kallsyms &&
	    !ps_kallsyms_parse(kallsyms, text, size, reference, interrupt, reason)) {
		free(kallsyms);
		kallsyms = NULL;
	}
	free(text);
	return kallsyms;
}

bool ps_kallsyms_is_elsewhere(const char *path, struct ps_reference reference)
{
	char text[4096]; /* the kernel gives a page at most */
	const char *at = text, *end = text, *reason;
	struct ps_line_text line;
	struct entry entry;
	struct stat status;
	int fd = ps_file_open_chosen(path, &status, &reason);

	if (fd >= 0) {
		ssize_t n = read(fd, text, sizeof(text));

		if (n > 0)
			end = memrchr(text, '\n', (size_t)n); /* a line may be cut */
		close(fd);
	}
	while (end && ps_text_line(&at, end, &line))
		if (parse_kallsyms_line(line, &entry) && is_named(&entry, reference.name))
			return entry.address && entry.address != reference.address;
	return false;
}

void ps_kallsyms_destroy(struct ps_kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	clear_symbols(kallsyms);
	free(kallsyms);
}

static size_t find_first_from(const struct ps_table *table, uint64_t address)
{
	size_t low = 0, high = table->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->symbols[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool ps_kallsyms_module(const struct ps_kallsyms *kallsyms, const char *name, uint64_t start,
			uint64_t len, struct ps_table *table)
{
	const struct ps_table *modules = &kallsyms->modules;

	for (size_t i = find_first_from(modules, start); i < modules->n; i++) {
		struct ps_symbol symbol = modules->symbols[i];
		const char *tab = strchr(symbol.name, '\t');

		if (symbol.start - start >= len)
			break;
		if (!tab || strcmp(tab + 1, name) != 0)
			continue;
		symbol.length = (uint32_t)(tab - symbol.name);
		symbol.start -= start;
		symbol.end -= start;
		if (!ps_table_add(table, &symbol, symbol.end - symbol.start))
			return false;
	}
	return ps_table_finish(table, PS_SYSTEM);
}
