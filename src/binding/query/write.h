/*
 * A recording that is being written, as a userdata: see write.c and write_records.c.
 */
#ifndef PERFLUA_BINDING_QUERY_WRITE_H
#define PERFLUA_BINDING_QUERY_WRITE_H

#include "binding/handle.h"
#include "inject/inject.h"
#include "scrub/scrub.h"
#include "write/directory.h"
#include "write/merge.h"
#include "write/outline.h"
#include "write/rewriter.h"
#include "write/thin.h"

struct pl_writing {
	struct pw_writer writer;
	struct pw_rewriter *rewriter; /* NULL: records are written as they are */
	struct pw_chain_counts counts;
	struct pw_merge *merge;	      /* NULL: there is one recording */
	struct pw_thinning *thinning; /* NULL: all samples are written */
	/* whose records a selection keeps, if has_threads; see selection.h */
	struct pb_id_map threads, processes;
	bool has_threads;
	struct pw_directory *directory; /* NULL: it is not a directory */
	int fd;				/* opened for it; -1: none, or closed */
};

/* Pushes one that writes nothing yet. [-0, +1] */
struct pl_writing *pl_push_writing(lua_State *L);

/* Frees the writer, and closes the file without finishing it. */
void pl_writing_end(struct pl_writing *writing);

/* Reads the options of struct pw_how from the table at `options`. */
struct pw_how pl_get_how(lua_State *L, int options);

/*
 * Returns the descriptor to write to, of the path or open file at `out`; -1, with errno, if the
 * file cannot be opened, or if `out` is nil.
 */
int pl_writing_open(lua_State *L, struct pl_writing *writing, int out);

/*
 * Closes a finished file or directory, and pushes its summary, or what a failure returns.
 * [-0, +1 | +3]
 */
int pl_writing_close(lua_State *L, struct pl_writing *writing);

/* Pushes the summary of a recording, also of one that is not finished. [-0, +1] */
void pl_push_summary(lua_State *L, const struct pl_writing *writing);

/* Pushes an array of the names of features that are set. [-0, +1] */
void pl_push_feature_names(lua_State *L, const bool set[PD_FEATURES]);

/* Pushes nil, the message and the code, or the error number, of a failure. [-0, +3] */
int pl_writing_failed(lua_State *L, const struct pw_writer *w, const struct pd_error *err);

/*
 * Scrubbing for Lua: the field `scrub` of a table of options is { rules = { KIND = ACTION },
 * key = KEY }, of the kinds and actions that core.scrub_kinds() returns.
 *
 * What scrubbing did is { kinds = { { name =, doc =, action =, n =, bytes =, distinct =,
 * examples = { TEXT, … } }, … }, names = { { SHOWN, KIND, NAME }, … }, of those that were
 * hashed, left_out =, unreadable = NUMBERS of records, features = NAMES of those that cannot be
 * read }.
 */

struct pl_scrubbing {
	struct pv_scrubber *scrubber;
	struct pw_description description;
};

/*
 * Pushes the scrubbing of `file` that the table at `options` describes, and returns it; pushes
 * nil and returns NULL if it describes none. [-0, +1]
 */
struct pl_scrubbing *pl_push_scrubbing(lua_State *L, struct pl_file *file, int options);

/* Describes the scrubbed recording: see pv_describe(). */
bool pl_scrubbing_describe(struct pl_scrubbing *scrubbing, struct pd_error *err);

/* Pushes what scrubbing did. [-0, +1] */
void pl_push_scrubbed(lua_State *L, const struct pl_scrubbing *scrubbing);

/*
 * Injecting for Lua, as a userdata of core.write(). The option `inject` is struct pj_asked:
 * `ids` is "hit" or "all", `mappings` "identified" or "used", and `known` has build-ids as
 * strings of bytes, by the names of binaries.
 */

struct pl_injecting {
	struct pj_injector *injector; /* NULL: not there yet, or freed */
	struct pj_known *known;
};

/*
 * Pushes what is injected into the records of a File; pushes nil, and returns NULL, if nothing
 * is. Raises without memory. [-0, +1]
 */
struct pl_injecting *pl_push_injecting(lua_State *L, struct pl_file *file, int options);

/*
 * Pushes the numbers that an injector counted, and `unidentified` binaries and `unread`
 * jitdumps: { { filename =, reason = } … }. [-0, +1]
 */
void pl_push_injected(lua_State *L, const struct pl_injecting *injecting);

/*
 * Returns the outline, for a copy of a time range (write/outline.h), that is the option
 * `outline` of the table at `options`, which keeps it; NULL if there is none. [-0, +0]
 */
const struct pw_outline *pl_get_outline(lua_State *L, int options);

/* Writes what the outline keeps of a File, and finishes. Returns false with *err. */
bool pl_write_outline(lua_State *L, const struct pl_file *f, struct pl_writing *writing,
		      const struct pw_outline *outline, struct pd_error *err);

#endif
