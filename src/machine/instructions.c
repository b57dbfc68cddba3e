/* The instruction and the line of source text at the ip of a record. */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/vector.h"
#include "disasm/disasm.h"
#include "resolver.h"
#include "symbols/code.h"
#include "symbols/source.h"

#define PAGE	UINT64_C(4096)
#define LONGEST 16 /* bytes of an instruction */

static const struct pd_asked own_ip = { 0 };

/* The code of a function, or where none is known of a page and the start of the next. */
struct function {
	const void *owner; /* the symbol, or the binary */
	uint64_t start;	   /* address in the binary */
	struct ps_code code;
	struct pi_decoder *decoder; /* NULL: the code is not there, or not known */
};

/* The decoder for the code of a machine; NULL: there is none. */
struct machine_decoder {
	struct pi_machine machine;
	struct pi_decoder *decoder;
};

/* A source file by its path, which is a binary's and stays. */
struct file {
	const char *path;
	struct ps_source *source; /* NULL: it cannot be read */
};

struct pm_instructions {
	struct pb_secret secret;
	struct function *functions; /* [n_functions] */
	size_t n_functions, functions_room;
	struct pb_map by_start;		  /* numbers of functions */
	struct machine_decoder *decoders; /* [n_decoders] */
	size_t n_decoders, decoders_room;
	struct file *files; /* [n_files] */
	size_t n_files, files_room;
	struct pb_map by_path;
	struct pi_text text; /* of the last instruction */
};

static struct pm_instructions *get_instructions(struct pm_resolver *r)
{
	if (!r->instructions) {
		r->instructions = calloc(1, sizeof(*r->instructions));
		if (r->instructions)
			pb_secret_make(&r->instructions->secret);
	}
	return r->instructions;
}

void pm_instructions_destroy(struct pm_instructions *instructions)
{
	if (!instructions)
		return;
	for (size_t i = 0; i < instructions->n_functions; i++) {
		ps_code_deinit(&instructions->functions[i].code);
	}
	for (size_t i = 0; i < instructions->n_files; i++)
		ps_source_destroy(instructions->files[i].source);
	for (size_t i = 0; i < instructions->n_decoders; i++)
		pi_decoder_destroy(instructions->decoders[i].decoder);
	free(instructions->functions);
	free(instructions->decoders);
	free(instructions->files);
	pb_map_deinit(&instructions->by_start);
	pb_map_deinit(&instructions->by_path);
	free(instructions);
}

struct wanted {
	const struct pm_instructions *instructions;
	const void *key;
	uint64_t start;
};

static bool has_start(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct function *function = &wanted->instructions->functions[item];

	return function->owner == wanted->key && function->start == wanted->start;
}

static bool has_path(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;

	return wanted->instructions->files[item].path == wanted->key;
}

/* Returns the decoder for a machine; NULL: there is none. */
static struct pi_decoder *find_decoder(struct pm_instructions *instructions,
				       const struct pi_machine *machine)
{
	struct machine_decoder *added;
	const char *reason;

	for (size_t i = 0; i < instructions->n_decoders; i++) {
		const struct pi_machine *known = &instructions->decoders[i].machine;

		if (known->machine == machine->machine && known->is_64 == machine->is_64 &&
		    known->is_big == machine->is_big)
			return instructions->decoders[i].decoder;
	}
	if (!pb_reserve(instructions->decoders, instructions->n_decoders,
			instructions->decoders_room))
		return NULL;
	added = &instructions->decoders[instructions->n_decoders++];
	added->machine = *machine;
	added->decoder = pi_decoder_create(machine, &reason);
	return added->decoder;
}

static void read_function(struct pm_instructions *instructions, struct function *function,
			  struct ps_dso *dso, const struct ps_symbol *symbol)
{
	struct ps_code *code = &function->code;
	const char *reason;

	if (ps_dso_code(dso, symbol, code, &reason))
		function->decoder = find_decoder(instructions,
						 &(struct pi_machine){ code->machine,
								       code->is_64,
								       code->is_big });
}

/* Returns the code of the function or page at an address; NULL without memory. */
static struct function *find_code(struct pm_instructions *instructions, struct ps_dso *dso,
				  const struct ps_symbol *symbol, uint64_t address)
{
	const struct ps_symbol page = { .start = address & ~(PAGE - 1),
					.end = (address & ~(PAGE - 1)) + PAGE + LONGEST };
	const struct wanted wanted = { instructions, symbol ? (const void *)symbol : dso,
				       symbol ? symbol->start : page.start };
	uint32_t hash = pb_hash_pair(&instructions->secret, (uintptr_t)wanted.key,
				     wanted.start);
	const struct pb_slot *slot = pb_map_find(&instructions->by_start, hash, has_start,
						 &wanted);
	struct function *function;

	if (slot && slot->item)
		return &instructions->functions[slot->item - 1];
	if (!pb_reserve(instructions->functions, instructions->n_functions,
			instructions->functions_room) ||
	    !pb_map_add(&instructions->by_start, hash, (uint32_t)instructions->n_functions))
		return NULL;
	function = &instructions->functions[instructions->n_functions++];
	*function = (struct function){ .owner = wanted.key, .start = wanted.start };
	read_function(instructions, function, dso, symbol ? symbol : &page);
	return function;
}

bool pm_instruction_of(struct pm_resolver *r, const struct pd_record *rec,
		       struct pm_instruction *out)
{
	struct pm_instructions *instructions = get_instructions(r);
	struct pm_dso_address at;
	const struct ps_symbol *symbol;
	const struct function *function;
	uint64_t offset;
	size_t size;

	if (!instructions || !pm_asked_dso(r, rec, &own_ip, &at) || !at.dso)
		return false;
	symbol = pm_symbol_at(r, at.dso, at.address, at.time);
	function = find_code(instructions, at.dso, symbol, at.address);
	if (!function || !function->decoder)
		return false;
	offset = at.address - function->start;
	if (offset >= function->code.size)
		return false;
	size = pi_decode(function->decoder, function->code.bytes + offset,
			 function->code.size - offset, function->code.address + offset,
			 &instructions->text);
	*out = (struct pm_instruction){
		.bytes = function->code.bytes + offset,
		.size = size,
		.name = instructions->text.name,
		.operands = instructions->text.operands,
	};
	return size;
}

/* Returns the text of a file; NULL: it cannot be read. */
static struct ps_source *find_file(struct pm_instructions *instructions, struct ps_store *store,
				   const char *path)
{
	uint32_t hash = pb_hash_pair(&instructions->secret, (uintptr_t)path, 0);
	const struct wanted wanted = { instructions, path, 0 };
	const struct pb_slot *slot = pb_map_find(&instructions->by_path, hash, has_path,
						 &wanted);
	const char *reason;
	struct file *file;

	if (slot && slot->item)
		return instructions->files[slot->item - 1].source;
	if (!pb_reserve(instructions->files, instructions->n_files, instructions->files_room) ||
	    !pb_map_add(&instructions->by_path, hash, (uint32_t)instructions->n_files))
		return NULL;
	file = &instructions->files[instructions->n_files++];
	file->path = path;
	file->source = ps_source_open(store, path, &reason);
	return file->source;
}

bool pm_source_line_of(struct pm_resolver *r, const struct pd_record *rec,
		       struct pm_source_line *out)
{
	struct pm_instructions *instructions = get_instructions(r);
	const struct ps_line *lines;
	struct pm_dso_address at;
	struct ps_source *source;

	if (!instructions || !pm_asked_dso(r, rec, &own_ip, &at) || !at.dso ||
	    !ps_dso_lines(at.dso, at.address, &lines) || !lines[0].file || !lines[0].line)
		return false;
	source = find_file(instructions, at.dso->store, lines[0].file);
	out->file = lines[0].file;
	out->line = lines[0].line;
	out->text.p = source ? ps_source_line(source, out->line, &out->text.n) : NULL;
	return out->text.p;
}
