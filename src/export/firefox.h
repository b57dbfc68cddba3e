/* Shared by the files of the format of the Firefox Profiler. */
#ifndef PERFLUA_EXPORT_FIREFOX_H
#define PERFLUA_EXPORT_FIREFOX_H

#include "perfdata/format/print_scalar.h"
#include "profile.h"

/* A stack: that of its caller, and a row of the table of frames more. */
struct firefox_stack {
	uint32_t caller; /* PE_NONE: it has none */
	uint32_t row;
};

struct firefox {
	const struct pe_profile *profile;
	struct pd_print *out;
	uint32_t *rows_at;     /* [frames + 1]: the first row of each frame */
	struct pe_set stacks;  /* of firefox_stack */
	uint32_t *of_entries;  /* [entries]: numbers of their stacks */
	uint32_t *by_thread;   /* [entries], in the order of PE_BY_THREAD */
	uint64_t start, spent; /* ns: time of the first entry; from there to the last */
};

/* Prints a key of an object, which has further ones before it. */
void pe_print_key(struct pd_print *out, const char *name);

/* Prints a text of the profile. */
void pe_print_text(const struct firefox *w, uint32_t text);

/* Prints nanoseconds as milliseconds. */
void pe_print_ms(struct pd_print *out, uint64_t ns);

/* Prints an array of n values, value i by print_value(w, i), as the next key of an object. */
void pe_print_column(const struct firefox *w, const char *name, size_t n,
		     void (*print_value)(const struct firefox *w, uint32_t i));

/* Makes the stacks of all entries. Returns false without memory. */
bool pe_firefox_stacks(struct firefox *w);

/* Prints the keys `libs` and `shared`. */
void pe_firefox_tables(const struct firefox *w);

#endif
