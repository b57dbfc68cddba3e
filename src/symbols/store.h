/*
 * The binaries of a recording, each once, and where files for them are looked for.
 */
#ifndef PERFLUA_SYMBOLS_STORE_H
#define PERFLUA_SYMBOLS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_build_id;
struct ps_interrupt;
struct ps_dso;
struct ps_dso_id;
struct ps_store;

/* Strings may be NULL: not given. They are copied. `interrupt` may be NULL, too. */
struct ps_options {
	const char *symfs;    /* a directory that stands for the root of the recorded machine */
	const char *kallsyms; /* a file: the kernel's symbols */
	const char *vmlinux;  /* a file: the kernel */
	const char *buildid_dir; /* instead of ~/.debug */
	const char *kcore_dir;	 /* of the recording: holds its kallsyms */
	const char *release;	 /* of the recorded kernel, as uname -r says it */
	const char *arch;	 /* of the recorded machine, as uname -m says it */
	const char *host;	 /* its name, as uname -n says it */
	bool debuginfod;	 /* ask the servers that DEBUGINFOD_URLS names */
	bool any_binary;	 /* believe files without a recorded build-id */
	bool mangled;		 /* leave names of C++ and Rust as the compiler made them */
	struct ps_interrupt *interrupt; /* ends the loading; it must stay */
};

/* NULL: no memory. */
struct ps_store *ps_store_create(const struct ps_options *options);
void ps_store_destroy(struct ps_store *store);

/* The binary of that description, made when it is new; the store's. NULL: no memory. */
struct ps_dso *ps_store_dso(struct ps_store *store, const struct ps_dso_id *id);

/*
 * What a table says of a binary after it was met; where symbols were looked for by then, it
 * comes too late.
 */
void ps_dso_set_build_id(struct ps_dso *dso, const struct ps_build_id *id);

/* All of them, as they were met. */
size_t ps_store_count(const struct ps_store *store);
struct ps_dso *ps_store_at(const struct ps_store *store, size_t i);

#endif
