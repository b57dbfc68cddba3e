/*
 * core.writer(file, path, options) -> writer | nil, message, error number or code
 *
 * Begins a recording like the File's, to which writer:write(record) adds records one by one.
 * Options are those of core.write(), and with `sideband` those of a cursor: its records are
 * written first, and records of their types, which a script writes, are taken for these.
 *
 * writer:finish() -> summary | nil, message, error number or code
 *
 * The summary is that of core.write(), too: pl_push_summary().
 */
#include "binding/record.h"
#include "perfdata/format/feature.h"
#include "write/writer.h"
#include "cursor.h"
#include "write.h"

void pl_push_feature_names(lua_State *L, const bool set[PD_FEATURES])
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (unsigned bit = 0; bit < PD_FEATURES; bit++) {
		const struct pd_feature *feature = pd_feature_by_bit(bit);

		if (!set[bit])
			continue;
		if (feature)
			lua_pushstring(L, feature->name);
		else if (bit == PD_FEATURE_BUNDLE)
			lua_pushliteral(L, "names that were packed");
		else
			lua_pushfstring(L, "feature %d", (int)bit);
		lua_rawseti(L, -2, ++n);
	}
}

static void set_features(lua_State *L, const char *name, const bool set[PD_FEATURES])
{
	pl_push_feature_names(L, set);
	lua_setfield(L, -2, name);
}

/* Sets the field `merged` of the table on the top: what was done to join recordings. */
static void push_merged(lua_State *L, const struct pw_merge *m)
{
	lua_newtable(L);
	pl_set_integer(L, "events", m->description.n_events);
	pl_set_integer(L, "doubles", m->doubles);
	pl_set_integer(L, "rebuilt", m->rebuilt);
	lua_pushboolean(L, m->has_other_names);
	lua_setfield(L, -2, "unpacked");
	lua_newtable(L);
	for (size_t i = 0; i < m->session->n_files; i++) {
		lua_pushinteger(L, (lua_Integer)m->parts[i].edits.shift);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "shifts");
	lua_setfield(L, -2, "merged");
}

void pl_push_summary(lua_State *L, const struct pl_writing *writing)
{
	const struct pw_summary *summary = &writing->writer.summary;
	const struct pw_chain_counts *counts = &writing->counts;

	lua_newtable(L);
	pl_set_integer(L, "records", summary->records);
	pl_set_integer(L, "samples", summary->samples);
	pl_set_integer(L, "bytes", summary->bytes);
	pl_set_integer(L, "plain_bytes", summary->plain_bytes);
	pl_set_integer(L, "sample_bytes", summary->sample_bytes);
	pl_set_integer(L, "aux_records", summary->aux_records);
	pl_set_integer(L, "aux_bytes", summary->aux_bytes);
	pl_set_integer(L, "unwound", counts->unwound);
	pl_set_integer(L, "kept_stacks", counts->kept);
	pl_set_integer(L, "merged_callchains", counts->joined);
	pl_set_integer(L, "unmatched_callchains", counts->unmatched);
	pl_set_integer(L, "damaged_samples", counts->damaged);
	pl_set_integer(L, "unturned_records", summary->unturned_records);
	pl_set_integer(L, "unturned_data", summary->unturned_data);
	set_features(L, "unturned", summary->unturned);
	set_features(L, "unreadable", summary->unreadable);
	set_features(L, "unfit", summary->unfit);
	if (writing->merge)
		push_merged(L, writing->merge);
}

enum {
	AT_FILE = 1,
	AT_PATH,
	AT_OPTIONS,
	AT_WRITER,
	AT_CURSOR,
};

#define FILE_VALUE 1 /* user value of the writer: the File */

struct writer {
	struct pl_writing writing;
	struct pl_file *file;
	struct pd_types written; /* types of which all records of the file are written */
	/* position of the last sample that was split by counter values */
	uint64_t offset, chunk_offset;
	uint16_t stream;
	bool splits;
	bool open;
};

static void end_writer(struct writer *w)
{
	pl_writing_end(&w->writing);
	w->open = false;
}

static int writer_gc(lua_State *L)
{
	end_writer(lua_touserdata(L, 1));
	return 0;
}

/* Returns the writer, which must be open, and its File, too. */
static struct writer *check_writer(lua_State *L)
{
	struct writer *w = lua_touserdata(L, lua_upvalueindex(1));

	if (!w->open)
		luaL_error(L, "the writer is closed");
	if (w->file->closed)
		luaL_error(L, "the file that the recording is like is closed");
	return w;
}

/* Returns whether the record stands for one more value of the sample that was written last. */
static bool is_repeated(struct writer *w, const struct pd_record *rec)
{
	bool repeated = w->splits && rec->layout->split && rec->offset == w->offset &&
			rec->chunk_offset == w->chunk_offset && rec->stream == w->stream;

	w->splits = rec->layout->split;
	w->offset = rec->offset;
	w->chunk_offset = rec->chunk_offset;
	w->stream = rec->stream;
	return repeated;
}

/* writer:write(record) -> true | nil, message, error number or code */
static int write_record(lua_State *L)
{
	struct writer *w = check_writer(L);
	struct pl_record *r = pl_check_record(L, 1);
	struct pd_record rec = r->rec;
	struct pd_error err;
	bool own = r->file == w->file;
	bool left_out = own && (pd_types_has(&w->written, rec.type) || is_repeated(w, &rec));

	if (!left_out && ((!own && !pw_adopt(w->writing.writer.like, &rec, &err)) ||
			  !pw_write(&w->writing.writer, &rec, &err)))
		return pl_writing_failed(L, &w->writing.writer, &err);
	lua_pushboolean(L, 1);
	return 1;
}

static int finish_writer(lua_State *L)
{
	struct writer *w = check_writer(L);
	struct pd_error err;
	bool ok;
	int n;

	ok = pw_writer_finish(&w->writing.writer, &err);
	n = ok ? pl_writing_close(L, &w->writing) :
		 pl_writing_failed(L, &w->writing.writer, &err);
	end_writer(w);
	return n;
}

/* Writes the records that a cursor of the options yields. Returns false with *err. */
static bool write_sideband(lua_State *L, struct writer *w, struct pd_error *err)
{
	struct pl_cursor *cursor = pl_push_cursor(L, AT_FILE, AT_OPTIONS, "write");
	struct pd_record rec;
	bool ok = true;
	int got = 0;

	w->written = cursor->scope.types;
	pd_types_add(&w->written, PD_RECORD_FINISHED_ROUND);
	while (ok && (got = pl_cursor_read(L, cursor, AT_CURSOR, &rec, err)) > 0)
		ok = pw_write(&w->writing.writer, &rec, err);
	if (ok)
		pl_cursor_end(L, cursor, got < 0 ? err : NULL);
	pl_cursor_close(cursor);
	return ok;
}

/* Pushes the functions of the writer, as a table. */
static void push_functions(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "write", write_record },
		{ "finish", finish_writer },
		{ NULL, NULL },
	};

	luaL_newlibtable(L, functions);
	lua_pushvalue(L, AT_WRITER);
	luaL_setfuncs(L, functions, 1);
}

int pl_push_writer(lua_State *L)
{
	struct pl_file *f = pl_check_open_file(L, AT_FILE);
	struct writer *w;
	struct pw_how how;
	struct pd_error err;

	luaL_checkstring(L, AT_PATH);
	luaL_checktype(L, AT_OPTIONS, LUA_TTABLE);
	luaL_argcheck(L, f->session->n_files == 1, AT_FILE, "one recording expected");
	lua_settop(L, AT_OPTIONS);
	how = pl_get_how(L, AT_OPTIONS);
	w = pl_push_finalized(L, sizeof(*w), writer_gc);
	w->writing.fd = -1;
	w->file = f;
	lua_pushvalue(L, AT_FILE);
	lua_setiuservalue(L, AT_WRITER, FILE_VALUE);
	if (pl_writing_open(L, &w->writing, AT_PATH) < 0)
		return luaL_fileresult(L, 0, NULL);
	w->open = true;
	if (!pw_writer_init(&w->writing.writer, f->session->files[0], w->writing.fd, &how,
			    &err) ||
	    (pl_get_flag(L, AT_OPTIONS, "sideband") && !write_sideband(L, w, &err)))
		return pl_writing_failed(L, &w->writing.writer, &err);
	push_functions(L);
	return 1;
}
