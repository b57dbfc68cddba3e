/* Shared by the files that make reports. */
#ifndef PERFLUA_QUERY_REPORT_INTERNAL_H
#define PERFLUA_QUERY_REPORT_INTERNAL_H

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
	bool has_dso, has_symbol, has_srcline;
	size_t slot;		/* of the group that is being added */
	struct pq_table owners; /* words of `to` without those of frames */
	/* [frames]: where each was found last: owner + 1, 0 if nowhere yet; group of `to` */
	struct pq_report_place {
		uint32_t owner, group;
	} * places;
	uint32_t *latest; /* [n_latest] of `to`: group of `from` that was added last, + 1 */
	size_t n_latest;
	bool is_noting; /* stacks of rows are noted; all groups were added */
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

#define PQ_NO_FRAME UINT32_MAX

/*
 * Sets *part to that of a frame; PQ_NO_FRAME: of no address. Returns false without memory.
 */
bool pq_report_frame_part(struct pq_report_maker *m, uint32_t number,
			  struct pq_report_part *part);

/* Names a part that stands for call chains beyond the limit. Returns false without memory. */
bool pq_report_name_others(struct pq_report_maker *m, struct pq_report_part *part);

/* Sets *part to that of the keys of group `g`. Returns false without memory. */
bool pq_report_group_part(struct pq_report_maker *m, size_t g, struct pq_report_part *part);

#endif
