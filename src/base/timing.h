/*
 * Measures where the time goes: the stages of passes over recordings, with the time of the
 * caller, the processor time of all threads, and what was read.
 *
 *	struct pb_pass *pass = pb_pass_begin(timing, "groups of samples", number);
 *	struct pb_lap lap = pb_stage_enter(timing, pass, PB_STAGE_GROUPS);
 *	…
 *	pb_stage_leave(&lap);
 *	pb_pass_end(pass);
 *
 * At any moment a thread is in one stage. A stage that is entered inside of another one takes
 * its time from it, so the stages add up. The thread that makes the timing is the caller: it
 * is always in a stage, PB_STAGE_OTHER if it entered none. Other threads are known from their
 * first enter to the leave that belongs to it.
 *
 * A thread asks the monotonic clock at every change of its stage. About each millisecond it
 * also asks the clock of its processor time, which is slow, and shares that time out among the
 * stages since. So stages are for blocks and batches, not for records.
 *
 * All functions take NULL for a timing or a pass, and then do nothing: time is not measured.
 */
#ifndef PERFLUA_BASE_TIMING_H
#define PERFLUA_BASE_TIMING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pb_stage {
	PB_STAGE_OPEN,	     /* recordings are opened */
	PB_STAGE_READ,	     /* bytes are read */
	PB_STAGE_DECOMPRESS, /* and decompressed */
	PB_STAGE_ORDER,	     /* records are put in the order of time */
	PB_STAGE_NAMES,	     /* the recorded system is built of side-band records */
	PB_STAGE_SYMBOLS,    /* symbols and source lines of binaries are loaded */
	PB_STAGE_COUNTS,     /* records are counted for stat and doctor */
	PB_STAGE_GROUPS,     /* groups are added up, and merged */
	PB_STAGE_ROWS,	     /* values of loops, rows of results are made */
	PB_STAGE_TEXT,	     /* text and files are written */
	PB_STAGE_OTHER,	     /* all else that the caller does: Lua */
	PB_STAGES
};

extern const char *const pb_stage_names[PB_STAGES];

struct pb_stage_time {
	uint64_t wall;	    /* ns of the caller */
	uint64_t processor; /* ns of all threads */
	uint64_t records, bytes;
};

struct pb_timing;

struct pb_pass {
	const char *what; /* NULL: what is done outside of passes */
	unsigned session; /* the number given to pb_pass_begin() */
	unsigned times;	  /* passes that this entry stands for */
	uint64_t wall;	  /* ns from the beginning to the end, of those that ended */
	struct pb_stage_time stages[PB_STAGES];
	/* private: */
	struct pb_timing *timing;
	unsigned n_open;
	uint64_t begun;
	struct pb_pass *outer; /* pass and stage of the caller when it began */
	enum pb_stage outer_stage;
};

/* A part of a stage that is named, such as a binary: ns in the threads that loaded it. */
struct pb_timed_part {
	char name[120];
	unsigned session; /* of the pass that it belongs to */
	uint64_t wall;
};

#define PB_PASSES      128 /* entries: later passes share the last one */
#define PB_TIMED_PARTS 64  /* the heaviest */
#define PB_SLOTS       128 /* threads at a time: those of more loops are not measured */

/* The stage of a thread, and the time that is not yet shared out. */
struct pb_slot_of_thread;

/* The stage that a thread was in before it entered another one. */
struct pb_lap {
	struct pb_timing *timing; /* NULL: nothing is measured */
	struct pb_slot_of_thread *slot;
	struct pb_pass *pass;
	enum pb_stage stage;
	bool is_first;	/* the thread was in no stage */
	uint64_t begun; /* monotonic ns */
};

/* Creates a timing; the calling thread is the caller. Returns NULL without memory. */
struct pb_timing *pb_timing_create(void);
void pb_timing_destroy(struct pb_timing *timing);

/* Begins a pass in the caller's thread. `what` is not copied. Returns NULL for NULL. */
struct pb_pass *pb_pass_begin(struct pb_timing *timing, const char *what, unsigned session);

/*
 * Ends a pass. If the caller is still in one of its stages, as an error left it there, it goes
 * back to where it was before the pass.
 */
void pb_pass_end(struct pb_pass *pass);

/* Returns the pass that began last of those that have not ended; NULL for NULL. */
struct pb_pass *pb_pass_current(struct pb_timing *timing);

/* Returns the entry of work outside passes; NULL for NULL. */
struct pb_pass *pb_pass_none(struct pb_timing *timing);

/*
 * The slow paths of the functions below. pb_timing_leave_part() also adds the time since the
 * stage was entered to the part of that name.
 */
struct pb_lap pb_timing_enter(struct pb_timing *timing, struct pb_pass *pass,
			      enum pb_stage stage);
void pb_timing_leave(const struct pb_lap *lap);
void pb_timing_leave_part(const struct pb_lap *lap, const char *name);
void pb_timing_count(struct pb_timing *timing, struct pb_pass *pass, enum pb_stage stage,
		     uint64_t records, uint64_t bytes);

/*
 * Enters a stage of a pass. A pass of NULL is that of the stage that the thread is in, or else
 * the current one. The caller leaves it by pb_stage_leave() in the same thread.
 */
static inline struct pb_lap pb_stage_enter(struct pb_timing *timing, struct pb_pass *pass,
					   enum pb_stage stage)
{
	return timing ? pb_timing_enter(timing, pass, stage) :
			(struct pb_lap){ .timing = NULL };
}

static inline void pb_stage_leave(const struct pb_lap *lap)
{
	if (lap->timing)
		pb_timing_leave(lap);
}

/* Leaves a stage that was spent on the part of that name, which is copied. */
static inline void pb_stage_leave_part(const struct pb_lap *lap, const char *name)
{
	if (lap->timing)
		pb_timing_leave_part(lap, name);
}

/* Counts records and bytes of a stage; for the pass see pb_stage_enter(). */
static inline void pb_stage_count(struct pb_timing *timing, struct pb_pass *pass,
				  enum pb_stage stage, uint64_t records, uint64_t bytes)
{
	if (timing)
		pb_timing_count(timing, pass, stage, records, bytes);
}

/* The figures up to now. */
struct pb_timing_report {
	/* [n]; the first is for work outside passes */
	struct pb_pass passes[PB_PASSES];
	size_t n;
	struct pb_timed_part parts[PB_TIMED_PARTS]; /* [n_parts], in no order */
	size_t n_parts;
	uint64_t wall;	       /* ns since the timing was made */
	uint64_t start;	       /* ns of processor time of the process before that */
	uint64_t user, system; /* ns of the process */
	uint64_t peak;	       /* bytes: the most that the process had in memory */
};

/*
 * Sets *report, which is large. Other threads may be at work: of the time of theirs that is not
 * shared out yet nothing is there.
 */
void pb_timing_report(struct pb_timing *timing, struct pb_timing_report *report);

#endif
