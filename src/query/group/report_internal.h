/* Shared by the files that make reports. */
#ifndef PERFLUA_QUERY_REPORT_INTERNAL_H
#define PERFLUA_QUERY_REPORT_INTERNAL_H

#include "base/map.h"
#include "group_internal.h"
#include "report.h"

/* The shown part of a frame. */
struct pq_report_part {
	const struct pq_text *dso;     /* NULL: not asked for */
	const struct pq_text *srcline; /* likewise */
	uint64_t symbol;	       /* as the word of a key */
	uint8_t mode;		       /* enum pd_cpumode */
	uint8_t type;		       /* enum pq_type of the symbol; PQ_NIL: not asked for */
	bool is_named;
};

/* A report in the making. */
struct pq_report_maker {
	const struct pq_report *report;
	struct pq_groups *from, *to;
	struct pq_report_sections *sections;
	bool has_dso, has_symbol, has_srcline, has_mode;
	/* with callers, groups are taken several times */
	enum pq_report_pass {
		PQ_PASS_PARTS,	/* frames that are shown alike are found */
		PQ_PASS_ROWS,	/* groups are added to rows */
		PQ_PASS_STACKS, /* stacks of rows are noted */
	} pass;
	size_t slot;		/* of the group that is being added */
	struct pq_table owners; /* words of `to` without those of frames */
	uint32_t *latest; /* [n_latest] of `to`: group of `from` that was added last, + 1 */
	size_t n_latest;
	uint32_t n_frames;
	struct pq_report_place *places; /* [n_frames + 2]: see report_frames.c */
	struct pb_map parts;		/* frames of which no two are shown alike */
	struct pb_set other_places; /* an owner and a frame, which has a row of another one */
	uint32_t *other_rows;	    /* [other_places.n] */
	size_t other_room;
	const struct pq_text **chain_texts; /* by number of a chain; NULL: not made yet */
	const struct pq_text *modes[PD_CPUMODE_GUEST_USER + 1];
	const struct pq_text *unknown;
	struct {
		struct pm_string_pool strings; /* paths */
		const char **shown;	       /* [strings.n]: NULL: the end of the path */
		size_t room;
	} binaries;
};

/* Sets *text to a text of the report. Returns false without memory. */
bool pq_report_set_text(const struct pq_text **text, struct pq_report_maker *m, const char *p,
			size_t n);

/*
 * Lists the binaries of the system whose short names are not the ends of their paths. Returns
 * false without memory.
 */
bool pq_report_read_binaries(struct pq_report_maker *m);

/*
 * Sets *part to that of a frame: m->n_frames stands for no address, the number after it for
 * call chains beyond the limit. Returns false without memory.
 */
bool pq_report_frame_part(struct pq_report_maker *m, uint32_t number,
			  struct pq_report_part *part);

/* Sets *part to that of the keys of group `g`. Returns false without memory. */
bool pq_report_group_part(struct pq_report_maker *m, size_t g, struct pq_report_part *part);

/* Sets m->to->words to those of a part beside the owner's. Returns false without memory. */
bool pq_report_set_words(struct pq_report_maker *m, const struct pq_report_part *part);

/* Prepares for the frames of m->from. Returns false without memory. */
bool pq_report_begin_frames(struct pq_report_maker *m);
void pq_report_end_frames(struct pq_report_maker *m);

/*
 * Finds out whether a frame is shown like one that was met before: PQ_PASS_PARTS. Returns false
 * without memory.
 */
bool pq_report_meet_frame(struct pq_report_maker *m, uint32_t frame);

/* Forgets what only served to find that out. */
void pq_report_have_met_frames(struct pq_report_maker *m);

/*
 * Returns the row of a frame that was met, and of the owner whose words m->to->words has. It is
 * added if it is new. Returns PQ_NO_GROUP without memory.
 */
size_t pq_report_find_row(struct pq_report_maker *m, uint32_t owner, uint32_t frame);

#endif
