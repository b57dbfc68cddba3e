/*
 * Descriptions of records, views, events and features, from the tables of perfdata: for the
 * manual, the editor stubs and the checks of queries.
 */
#include "value.h"
#include "functions.h"

static const char *type_kind(enum pd_type type)
{
	static const char *const kinds[] = {
		[PD_NIL] = "nil",	[PD_BOOL] = "boolean", [PD_INT] = "signed",
		[PD_UINT] = "unsigned", [PD_ADDR] = "address", [PD_FLOAT] = "float",
		[PD_STR] = "string",	[PD_HEX] = "string",   [PD_BLOB] = "bytes",
		[PD_VIEW] = "view",	[PD_EVENT] = "event",  [PD_SYSTEM] = "nil",
	};

	return kinds[type];
}

static const char *field_kind(const struct pd_field *field)
{
	static const enum pd_type types[] = {
		[PD_K_U8] = PD_UINT,	 [PD_K_U16] = PD_UINT,	 [PD_K_U32] = PD_UINT,
		[PD_K_S32] = PD_INT,	 [PD_K_X32] = PD_ADDR,	 [PD_K_U64] = PD_UINT,
		[PD_K_S64] = PD_INT,	 [PD_K_X64] = PD_ADDR,	 [PD_K_F64] = PD_FLOAT,
		[PD_K_BOOL8] = PD_BOOL,	 [PD_K_FLAG] = PD_BOOL,	 [PD_K_CSTR] = PD_STR,
		[PD_K_CHARS] = PD_STR,	 [PD_K_HEX] = PD_HEX,	 [PD_K_VIEW] = PD_VIEW,
		[PD_K_COMPUTE] = PD_NIL, [PD_K_SYSTEM] = PD_NIL,
	};

	return type_kind(field->kind == PD_K_COMPUTE || field->kind == PD_K_SYSTEM ?
				 field->type :
				 types[field->kind]);
}

void pl_push_field(lua_State *L, const struct pd_field *field)
{
	lua_createtable(L, 0, 4);
	pl_set_string(L, "name", field->name);
	pl_set_string(L, "kind", field_kind(field));
	pl_set_string(L, "doc", field->doc);
	if (field->view)
		pl_set_string(L, "view", field->view->name);
}

void pl_push_member(lua_State *L, const struct pd_member *member)
{
	lua_createtable(L, 0, 3);
	pl_set_string(L, "name", member->name);
	pl_set_string(L, "kind", type_kind(member->type));
	pl_set_string(L, "doc", member->doc);
}

static void push_fields(lua_State *L, const struct pd_field *field)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (; field->name; field++) {
		pl_push_field(L, field);
		lua_rawseti(L, -2, ++n);
	}
}

/*
 * core.types() -> array of {id, name, doc, container, trailer, fields}; [0] is of every record
 */
int pl_types(lua_State *L)
{
	lua_Integer n = 0;

	lua_newtable(L);
	lua_createtable(L, 0, 1);
	push_fields(L, pd_common_fields);
	lua_setfield(L, -2, "fields");
	lua_rawseti(L, -2, 0);
	for (uint32_t type = 1; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (!desc)
			continue;
		lua_createtable(L, 0, 6);
		lua_pushinteger(L, type);
		lua_setfield(L, -2, "id");
		pl_set_string(L, "name", desc->name);
		pl_set_string(L, "doc", desc->doc);
		lua_pushboolean(L, desc->container);
		lua_setfield(L, -2, "container");
		lua_pushboolean(L, desc->trailer);
		lua_setfield(L, -2, "trailer");
		push_fields(L, desc->fields);
		lua_setfield(L, -2, "fields");
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

/* Pushes an array of {name, kind, doc}; nil if the list is NULL. [-0, +1] */
static void push_members(lua_State *L, const struct pd_member *member)
{
	lua_Integer n = 0;

	if (!member) {
		lua_pushnil(L);
		return;
	}
	lua_newtable(L);
	for (; member->name; member++) {
		pl_push_member(L, member);
		lua_rawseti(L, -2, ++n);
	}
}

/* Adds the views of a table of fields to the array at `views`, each name once. */
static void add_views(lua_State *L, int views, const struct pd_field *field)
{
	for (; field->name; field++) {
		const struct pd_view_desc *desc = field->view;

		if (!desc || lua_getfield(L, views, desc->name) != LUA_TNIL) {
			if (desc)
				lua_pop(L, 1);
			continue;
		}
		lua_pop(L, 1);
		lua_createtable(L, 0, 5);
		pl_set_string(L, "name", desc->name);
		pl_set_string(L, "doc", desc->doc);
		lua_pushboolean(L, desc->key != NULL);
		lua_setfield(L, -2, "named");
		push_members(L, desc->members);
		lua_setfield(L, -2, "members");
		push_members(L, desc->items);
		lua_setfield(L, -2, "items");
		lua_setfield(L, views, desc->name);
	}
}

/* core.views() -> table: name of a view -> {name, doc, named, members, items} */
int pl_views(lua_State *L)
{
	lua_settop(L, 0);
	lua_newtable(L);
	add_views(L, 1, pd_common_fields);
	for (uint32_t type = 1; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc)
			add_views(L, 1, desc->fields);
	}
	return 1;
}

/* core.features() -> array of {bit, name, doc} */
int pl_feature_names(lua_State *L)
{
	size_t n;
	const struct pd_feature *table = pd_feature_table(&n);

	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(L, 0, 3);
		lua_pushinteger(L, table[i].bit);
		lua_setfield(L, -2, "bit");
		pl_set_string(L, "name", table[i].name);
		pl_set_string(L, "doc", table[i].doc);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}
