/* A store has the binaries of a machine, each once, and says where to look for their files. */
#ifndef PERFLUA_SYMBOLS_STORE_H
#define PERFLUA_SYMBOLS_STORE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pb_timing;
struct ps_build_id;
struct ps_interrupt;
struct ps_dso;
struct ps_dso_id;
struct ps_store;

/* Options of call chains: which functions a report looks for, and where chains come from. */
struct ps_chain_options {
	/* extended regular expressions of functions' names; NULL: not given */
	const regex_t *parent; /* of perf report --parent */
	const regex_t *root;   /* of perf report --ignore-callees */
	bool from_caller;      /* the parent is the match nearest to the first caller */
	bool is_named;	       /* callers without a function are left out, in reports */
	/*
	 * Branches that the processor keeps of a call stack, of perf report --stitch-lbr; 0:
	 * call stacks are as they were recorded
	 */
	uint32_t lbr_depth;
	/* Chains begin with the branches of branch stacks, in the order of the chain */
	enum ps_branches {
		PS_BRANCHES_NONE,
		PS_BRANCHES_CALLEE,
		PS_BRANCHES_CALLER
	} branches;
	/* branches, and calls, of such a chain, 0: as many as in perf; else as of pq_report */
	uint32_t max_frames;
	/* which chains have inlined functions, where frames are addresses */
	enum ps_inlined {
		PS_INLINED_NONE,
		PS_INLINED_UNWOUND,
		PS_INLINED_ALL
	} inlined;
};

/* Options of a store. Strings, which are copied, and `interrupt` may be NULL: not given. */
struct ps_options {
	const char *symfs;    /* directory that stands for the root of the recorded machine */
	const char *kallsyms; /* file with the kernel's symbols */
	const char *vmlinux;  /* file of the kernel */
	const char *buildid_dir; /* instead of ~/.debug */
	const char *kcore_dir;	 /* the recording's kcore_dir with a copy of kallsyms */
	const char *release;	 /* release of the recorded kernel: uname -r */
	const char *arch;	 /* architecture of the recorded machine: uname -m */
	const char *host;	 /* name of the recorded machine: uname -n */
	bool debuginfod;	 /* ask the servers in DEBUGINFOD_URLS */
	bool any_binary;	 /* believe files without a recorded build-id */
	bool mangled;		 /* do not demangle names of C++ and Rust */
	bool whole_paths;	 /* source files have their whole paths */
	bool collects;		 /* note what is wanted from binaries: asked.h */
	/* ends loading; the store is one of its users */
	struct ps_interrupt *interrupt;
	const struct ps_chain_options *chains; /* borrowed; NULL: none */
	struct pb_timing *timing;	       /* measures loading; NULL: nothing is measured */
};

/* Creates a store without binaries. Returns NULL without memory. */
struct ps_store *ps_store_create(const struct ps_options *options);

/*
 * Gives the store back. It lives on for those who keep it, whom it tells no more than source
 * lines.
 */
void ps_store_destroy(struct ps_store *store);

/* Keep the source lines of a store, and let go of them. All users are of one thread. */
void ps_store_keep(struct ps_store *store);
void ps_store_release(struct ps_store *store);

/*
 * Frees what source lines are read from: the lines that were asked for stay, and others are not
 * known any more.
 */
void ps_store_end_lines(struct ps_store *store);

/*
 * Unpacks the section of a recording that perflua pack made: binaries that are not found here
 * have its names. Is called once. Returns false and sets *reason, a constant, if it cannot be
 * used.
 */
bool ps_store_set_bundle(struct ps_store *store, const uint8_t *bytes, size_t n,
			 const char **reason);

/* Returns whether the bundle has code or source text. */
bool ps_store_has_source(const struct ps_store *store);

/* Returns, once, whether names that were asked for were not read because of an interrupt. */
bool ps_store_was_cut(const struct ps_store *store);

/*
 * Returns the binary *id, adding it if it is new. It is the store's. Returns NULL without
 * memory.
 */
struct ps_dso *ps_store_dso(struct ps_store *store, const struct ps_dso_id *id);

/*
 * Sets the build-id of a binary that was mapped without one. Ignored once its symbols were
 * looked for.
 */
void ps_dso_set_build_id(struct ps_dso *dso, const struct ps_build_id *id);

/* Give the number of binaries, and binary `i` in the order in which they were met. */
size_t ps_store_count(const struct ps_store *store);
struct ps_dso *ps_store_at(const struct ps_store *store, size_t i);

#endif
