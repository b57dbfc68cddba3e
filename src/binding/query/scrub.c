#include "write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "binding/system.h"
#include "cursor.h"

#define EXAMPLES 3

static int scrubbing_gc(lua_State *L)
{
	struct pl_scrubbing *scrubbing = lua_touserdata(L, 1);

	pv_scrubber_destroy(scrubbing->scrubber);
	scrubbing->scrubber = NULL;
	pw_description_deinit(&scrubbing->description);
	return 0;
}

static enum pv_action to_action(lua_State *L, enum pv_kind kind)
{
	const char *name = luaL_checkstring(L, -1);

	for (unsigned i = 0; i < PV_ACTIONS; i++)
		if (strcmp(name, pv_actions[i]) == 0 && (pv_kinds[kind].can >> i & 1))
			return (enum pv_action)i;
	luaL_error(L, "%s cannot be '%s'", pv_kinds[kind].name, name);
	return PV_DROP;
}

struct pl_scrubbing *pl_push_scrubbing(lua_State *L, struct pl_file *file, int options)
{
	struct pm_system *system = NULL;
	struct pl_scrubbing *scrubbing;
	struct pv_rules rules;
	const char *key;
	size_t n;

	if (lua_getfield(L, options, "scrub") == LUA_TNIL)
		return NULL;
	lua_getfield(L, -1, "rules");
	for (unsigned kind = 0; kind < PV_KINDS; kind++) {
		lua_getfield(L, -1, pv_kinds[kind].name);
		rules.of[kind] = to_action(L, (enum pv_kind)kind);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	lua_getfield(L, -1, "key");
	key = luaL_checklstring(L, -1, &n);
	scrubbing = pl_push_finalized(L, sizeof(*scrubbing), scrubbing_gc);
	pw_description_init(&scrubbing->description);
	if (rules.of[PV_ADDRESSES] == PV_RELATIVE)
		system = pl_system(L, file);
	scrubbing->scrubber = pv_scrubber_create(file->file, system, &rules, key, n);
	if (!scrubbing->scrubber)
		luaL_error(L, "no memory to scrub");
	if (!pl_file_passes(file))
		scrubbing->scrubber->session = file->session;
	lua_replace(L, -3);
	lua_pop(L, 1);
	return scrubbing;
}

bool pl_scrubbing_describe(struct pl_scrubbing *scrubbing, struct pd_error *err)
{
	return pv_describe(scrubbing->scrubber, &scrubbing->description, err) &&
	       (!pv_failed(scrubbing->scrubber) ||
		pd_error_set(err, "ENOMEM", scrubbing->scrubber->file->path, PD_NO_OFFSET,
			     "no memory to scrub"));
}

/* The names of a kind. */
struct summed {
	size_t distinct;
	const struct pv_name *examples[EXAMPLES]; /* the most frequent ones; NULL: no more */
};

static void add_example(struct summed *sum, const struct pv_name *name)
{
	sum->distinct++;
	for (size_t i = 0; i < EXAMPLES; i++) {
		const struct pv_name *shorter = sum->examples[i];

		if (shorter && shorter->n >= name->n)
			continue;
		sum->examples[i] = name;
		if (!shorter)
			return;
		name = shorter;
	}
}

static void push_kind(lua_State *L, const struct pv_scrubber *s, enum pv_kind kind,
		      const struct summed *sum)
{
	lua_createtable(L, 0, 7);
	pl_set_string(L, "name", pv_kinds[kind].name);
	pl_set_string(L, "doc", pv_kinds[kind].doc);
	pl_set_string(L, "action", pv_actions[s->rules.of[kind]]);
	pl_set_integer(L, "n", s->found[kind].n);
	pl_set_integer(L, "bytes", s->found[kind].bytes);
	pl_set_integer(L, "distinct", sum->distinct);
	lua_newtable(L);
	for (lua_Integer i = 0; i < EXAMPLES && sum->examples[i]; i++) {
		struct pd_text shown = sum->examples[i]->shown;

		lua_pushlstring(L, shown.p, shown.n);
		lua_rawseti(L, -2, i + 1);
	}
	lua_setfield(L, -2, "examples");
}

static void push_names(lua_State *L, const struct pv_scrubber *s)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (size_t i = 0; i < s->names.n; i++) {
		const struct pv_name *name = &s->names.list[i];
		enum pv_action action = s->rules.of[name->kind];

		if (action != PV_HASH && action != PV_BASE)
			continue;
		lua_createtable(L, 3, 0);
		lua_pushlstring(L, name->shown.p, name->shown.n);
		lua_rawseti(L, -2, 1);
		lua_pushstring(L, pv_kinds[name->kind].name);
		lua_rawseti(L, -2, 2);
		lua_pushlstring(L, name->text.p, name->text.n);
		lua_rawseti(L, -2, 3);
		lua_rawseti(L, -2, ++n);
	}
}

void pl_push_scrubbed(lua_State *L, const struct pl_scrubbing *scrubbing)
{
	const struct pv_scrubber *s = scrubbing->scrubber;
	struct summed sums[PV_KINDS] = { { 0 } };

	for (size_t i = 0; i < s->names.n; i++)
		add_example(&sums[s->names.list[i].kind], &s->names.list[i]);
	lua_createtable(L, 0, 5);
	lua_createtable(L, PV_KINDS, 0);
	for (unsigned kind = 0; kind < PV_KINDS; kind++) {
		push_kind(L, s, (enum pv_kind)kind, &sums[kind]);
		lua_rawseti(L, -2, (lua_Integer)kind + 1);
	}
	lua_setfield(L, -2, "kinds");
	push_names(L, s);
	lua_setfield(L, -2, "names");
	pl_push_feature_names(L, s->unread);
	lua_setfield(L, -2, "features");
	pl_set_integer(L, "left_out", s->left_out);
	pl_set_integer(L, "unreadable", s->unreadable);
}

int pl_scrub_kinds(lua_State *L)
{
	lua_createtable(L, PV_KINDS, 0);
	for (unsigned kind = 0; kind < PV_KINDS; kind++) {
		lua_createtable(L, 0, 5);
		pl_set_string(L, "name", pv_kinds[kind].name);
		pl_set_string(L, "doc", pv_kinds[kind].doc);
		pl_set_string(L, "share", pv_actions[pv_kinds[kind].share]);
		pl_set_string(L, "anonymous", pv_actions[pv_kinds[kind].anonymous]);
		lua_newtable(L);
		for (unsigned i = 0; i < PV_ACTIONS; i++) {
			lua_pushboolean(L, pv_kinds[kind].can >> i & 1);
			lua_setfield(L, -2, pv_actions[i]);
		}
		lua_setfield(L, -2, "can");
		lua_rawseti(L, -2, (lua_Integer)kind + 1);
	}
	return 1;
}

int pl_sha256(lua_State *L)
{
	uint8_t digest[PB_SHA256_SIZE];
	struct pb_sha256 sha;
	size_t n;
	const char *text = luaL_checklstring(L, 1, &n);

	pb_sha256_init(&sha);
	pb_sha256_add(&sha, text, n);
	pb_sha256_end(&sha, digest);
	lua_pushlstring(L, (const char *)digest, sizeof(digest));
	return 1;
}

int pl_random_key(lua_State *L)
{
	uint8_t key[PB_SHA256_SIZE];

	if (getentropy(key, sizeof(key)))
		return luaL_error(L, "no random numbers: %s", strerror(errno));
	lua_pushlstring(L, (const char *)key, sizeof(key));
	return 1;
}

int pl_file_sharing(lua_State *L)
{
	enum {
		AT_FILE = 1,
		AT_OPTIONS,
		AT_CURSOR,
		AT_SCRUBBING
	};
	struct pl_file *f = pl_check_open_file(L, AT_FILE);
	struct pl_scrubbing *scrubbing;
	struct pl_cursor *cursor;
	struct pd_record rec;
	struct pd_error err;
	int got;

	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	lua_settop(L, AT_OPTIONS);
	cursor = pl_push_cursor(L, AT_FILE, AT_OPTIONS, "sharing");
	cursor->walk.options.types = cursor->others = PD_ALL_TYPES;
	cursor->walk.options.split = false;
	scrubbing = pl_push_scrubbing(L, f, AT_OPTIONS);
	luaL_argcheck(L, scrubbing, AT_OPTIONS, "no rules");
	while ((got = pl_cursor_read(L, cursor, AT_CURSOR, &rec, &err)) > 0)
		pv_record(scrubbing->scrubber, &rec);
	pl_cursor_end(L, cursor, got < 0 ? &err : NULL);
	pl_cursor_close(cursor);
	if (!pl_scrubbing_describe(scrubbing, &err)) {
		lua_pushnil(L);
		lua_pushstring(L, err.message);
		lua_pushstring(L, err.code);
		return 3;
	}
	pl_push_scrubbed(L, scrubbing);
	return 1;
}
