/* Shared by the files of the format of the Firefox Profiler. */
#ifndef PERFLUA_EXPORT_FIREFOX_H
#define PERFLUA_EXPORT_FIREFOX_H

#include "perfdata/format/print_scalar.h"
#include "profile.h"

/* The samples of a thread and event: a thread of the format. */
struct firefox_row {
	size_t from, to;	 /* entries by_thread[from … to - 1] */
	size_t all_from, all_to; /* those of the thread's rows together */
	uint32_t thread, event;
	uint32_t leader; /* thread that its process is named after */
	bool is_leading; /* of the thread's rows the one of the main event, else the first */
	bool is_main;	 /* of its process's rows the one that stands for the process */
	uint64_t weight;
};

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

static inline const struct pe_entry *pe_firefox_entry(const struct firefox *w, size_t i)
{
	return &w->profile->entries[w->by_thread[i]];
}

/* Finds the rows. Returns false without memory. */
bool pe_firefox_rows(struct firefox *w);

#define PE_FIREFOX_SHOWN 15 /* rows; there may be thousands */

/* Fills shown[PE_FIREFOX_SHOWN] with the rows to see at first. Returns how many they are. */
size_t pe_firefox_shown(const struct firefox *w, size_t *shown);

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
