/* Shared by the files of the format of the Firefox Profiler. */
#ifndef PERFLUA_EXPORT_FIREFOX_H
#define PERFLUA_EXPORT_FIREFOX_H

#include "perfdata/format/print_scalar.h"
#include "profile.h"

struct firefox {
	const struct pe_profile *profile;
	struct pd_print *out;
	uint32_t *by_thread;	  /* [entries], in the order of PE_BY_THREAD */
	uint64_t *last;		  /* [threads]: see pe_thread_times() */
	struct firefox_row *rows; /* [n_rows], by thread and event */
	size_t n_rows;
	/*
	 * Number of the event whose samples say how busy threads are: of several clocks one, as
	 * each has all the time; PE_NONE: there is no clock.
	 */
	uint32_t clock;
	uint64_t start, spent; /* ns: time of the first entry; from there to the last */
};

/* A thread of the format, as its viewer shows it. */
struct firefox_identity {
	struct pd_text name, process;
	int32_t pid, tid;
	bool is_main; /* it stands for its process */
};

/* Prints a key of an object, which has further ones before it. */
void pe_print_key(struct pd_print *out, const char *name);

/* Prints a text of the profile. */
void pe_print_text(const struct firefox *w, uint32_t text);

/* Prints nanoseconds as milliseconds. */
void pe_print_ms(struct pd_print *out, uint64_t ns);

/* Begins the profile with its key `meta`, whose object is left open. */
void pe_firefox_meta(const struct firefox *w, const char *title, bool has_samples);

/* Begins the object of a thread. */
void pe_firefox_identity(struct pd_print *out, const struct firefox_identity *identity);

/* Prints the keys `libs` and `shared`. */
void pe_firefox_tables(const struct firefox *w);

#endif
