/*
 * The code of a function: its bytes, and the instructions that they are. Only what is asked for
 * becomes text, as functions may have millions of instructions.
 *
 * A Code owns its bytes, so it outlives the File. Its methods, of instruction `i` from 1 on:
 *
 * - #code: number of instructions
 * - facts() -> { path, machine, address, size, unknown, written }: of the file; the address of
 *   the first byte in it; the number of bytes, and of those that cannot be decoded; when the
 *   file was last written, in s
 * - at(i) -> offset, size, kind, target | nil, is_target: offsets in the code
 * - text(i) -> name, operands, target: address | nil
 * - bytes(i) -> string
 * - find(offset) -> number of the instruction that covers it | nil
 */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "disasm/disasm.h"
#include "symbols/code.h"
#include "symbols/dso.h"

struct code {
	struct ps_code bytes;
	struct pi_decoder *decoder;
	struct pi_code *decoded; /* NULL: it is not decoded yet, or was freed */
	uint32_t *boundaries;	 /* only while it is decoded */
};

static int code_gc(lua_State *L)
{
	struct code *code = lua_touserdata(L, 1);

	pi_code_destroy(code->decoded);
	pi_decoder_destroy(code->decoder);
	ps_code_deinit(&code->bytes);
	free(code->boundaries);
	*code = (struct code){ 0 };
	return 0;
}

static int refuse_code(lua_State *L, const char *reason, const char *path)
{
	lua_pushnil(L);
	lua_pushstring(L, reason);
	lua_pushstring(L, path);
	return 3;
}

/* Decodes the code; sampled addresses are boundaries. Returns false and sets *reason. */
static bool decode_function(struct code *code, const struct pa_function *function,
			    const char **reason)
{
	const struct ps_code *bytes = &code->bytes;
	uint64_t start = function->hits->symbol->start;
	const struct pi_machine machine = { bytes->machine, bytes->is_64, bytes->is_big };
	size_t n = 0;

	code->decoder = pi_decoder_create(&machine, reason);
	if (!code->decoder)
		return false;
	*reason = "no memory";
	code->boundaries = malloc(function->n * sizeof(*code->boundaries));
	if (!code->boundaries)
		return false;
	for (size_t i = 0; i < function->n; i++)
		if (function->hits[i].address - start < bytes->size)
			code->boundaries[n++] = (uint32_t)(function->hits[i].address - start);
	code->decoded = pi_code_create(code->decoder, bytes->bytes, bytes->size, bytes->address,
				       code->boundaries, n);
	free(code->boundaries);
	code->boundaries = NULL;
	return code->decoded;
}

/* Sets *code to the bytes and the machine in a table. Returns false and sets *reason. */
static bool take_bytes(lua_State *L, const struct pa_function *function, struct ps_code *code,
		       const char **reason)
{
	const char *bytes;

	luaL_checkstack(L, 4, "code");
	lua_getfield(L, 2, "bytes");
	lua_getfield(L, 2, "machine");
	lua_getfield(L, 2, "is_64");
	lua_getfield(L, 2, "is_big");
	bytes = luaL_checklstring(L, -4, &code->size);
	code->address = function->hits->symbol->start;
	code->machine = (uint16_t)luaL_checkinteger(L, -3);
	code->is_64 = lua_toboolean(L, -2);
	code->is_big = lua_toboolean(L, -1);
	code->bytes = malloc(code->size + 1);
	if (code->bytes)
		memcpy(code->bytes, bytes, code->size);
	lua_pop(L, 4);
	*reason = "no memory";
	return code->bytes;
}

/* Changes bytes of the code as an array { offset, bytes, offset, bytes … } says. */
static void patch_bytes(lua_State *L, struct ps_code *code)
{
	lua_Integer n = lua_istable(L, 3) ? luaL_len(L, 3) : 0;

	for (lua_Integer i = 1; i < n; i += 2, lua_pop(L, 2)) {
		uint64_t offset;
		const char *bytes;
		size_t size;

		lua_rawgeti(L, 3, i);
		lua_rawgeti(L, 3, i + 1);
		offset = (uint64_t)luaL_checkinteger(L, -2);
		bytes = luaL_checklstring(L, -1, &size);
		for (size_t k = 0; k < size; k++)
			if (offset + k < code->size)
				code->bytes[offset + k] = (unsigned char)bytes[k];
	}
}

int pl_push_code(lua_State *L, const struct pa_function *function, struct ps_dso *dso)
{
	const char *reason;
	struct code *code;
	bool found;

	luaL_checkstack(L, 4, "code");
	code = lua_newuserdatauv(L, sizeof(*code), 0);
	*code = (struct code){ 0 };
	luaL_setmetatable(L, PL_CODE);
	found = lua_istable(L, 2) ?
			take_bytes(L, function, &code->bytes, &reason) :
			ps_dso_code(dso, function->hits->symbol, &code->bytes, &reason);
	if (!found)
		return refuse_code(L, reason, NULL);
	patch_bytes(L, &code->bytes);
	if (!decode_function(code, function, &reason))
		return refuse_code(L, reason, code->bytes.path);
	return 1;
}

static const struct code *check_code(lua_State *L)
{
	return luaL_checkudata(L, 1, PL_CODE);
}

static size_t check_place(lua_State *L, const struct code *code)
{
	lua_Integer i = luaL_checkinteger(L, 2);

	luaL_argcheck(L, i >= 1 && (size_t)i <= pi_code_size(code->decoded), 2,
		      "no such instruction");
	return (size_t)i - 1;
}

static int code_at(lua_State *L)
{
	static const char *const kinds[] = {
		[PI_PLAIN] = "plain",	[PI_JUMP] = "jump",	  [PI_CALL] = "call",
		[PI_RETURN] = "return", [PI_UNKNOWN] = "unknown",
	};
	const struct code *code = check_code(L);
	const struct pi_instruction *insn = pi_code_at(code->decoded, check_place(L, code));

	lua_pushinteger(L, insn->offset);
	lua_pushinteger(L, insn->size);
	lua_pushstring(L, kinds[insn->kind]);
	if (insn->has_target)
		lua_pushinteger(L, insn->target);
	else
		lua_pushnil(L);
	lua_pushboolean(L, insn->is_target);
	return 5;
}

static int code_text(lua_State *L)
{
	const struct code *code = check_code(L);
	struct pi_text text;

	pi_code_text(code->decoded, check_place(L, code), &text);
	lua_pushstring(L, text.name);
	lua_pushstring(L, text.operands);
	if (!text.has_target)
		return 2;
	lua_pushinteger(L, (lua_Integer)text.target);
	return 3;
}

static int code_bytes(lua_State *L)
{
	const struct code *code = check_code(L);
	const struct pi_instruction *insn = pi_code_at(code->decoded, check_place(L, code));

	lua_pushlstring(L, (const char *)code->bytes.bytes + insn->offset, insn->size);
	return 1;
}

static int code_find(lua_State *L)
{
	const struct code *code = check_code(L);
	lua_Integer offset = luaL_checkinteger(L, 2);

	if (offset < 0 || (size_t)offset >= code->bytes.size || !pi_code_size(code->decoded))
		return 0;
	lua_pushinteger(L, (lua_Integer)pi_code_find(code->decoded, (uint32_t)offset) + 1);
	return 1;
}

static int code_len(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)pi_code_size(check_code(L)->decoded));
	return 1;
}

static int code_facts(lua_State *L)
{
	const struct ps_code *bytes = &check_code(L)->bytes;
	const struct pi_machine machine = { bytes->machine, bytes->is_64, bytes->is_big };
	char text[32];

	lua_createtable(L, 0, 6);
	pl_set_string(L, "path", bytes->path);
	pl_set_string(L, "machine", pi_machine_name(&machine, text));
	pl_set_integer(L, "address", bytes->address);
	pl_set_integer(L, "size", bytes->size);
	pl_set_integer(L, "unknown", pi_code_unknown(check_code(L)->decoded));
	if (bytes->written) {
		lua_pushinteger(L, bytes->written);
		lua_setfield(L, -2, "written");
	}
	return 1;
}

void pl_code_register(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "at", code_at },     { "text", code_text },	{ "bytes", code_bytes },
		{ "find", code_find }, { "facts", code_facts }, { NULL, NULL },
	};

	luaL_newmetatable(L, PL_CODE);
	luaL_newlib(L, methods);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, code_len);
	lua_setfield(L, -2, "__len");
	lua_pushcfunction(L, code_gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
}
