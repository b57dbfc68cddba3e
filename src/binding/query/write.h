/*
 * A recording that is being written, as a userdata: see write.c and write_records.c.
 */
#ifndef PERFLUA_BINDING_QUERY_WRITE_H
#define PERFLUA_BINDING_QUERY_WRITE_H

#include "binding/handle.h"
#include "write/directory.h"
#include "write/merge.h"
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

#endif
