/*
 * Shared by the files of reports.
 */
#ifndef PERFLUA_QUERY_REPORT_INTERNAL_H
#define PERFLUA_QUERY_REPORT_INTERNAL_H

#include "group_internal.h"
#include "base/map.h"
#include "base/vector.h"
#include "report.h"

/* The visible part of a frame. Parts are distinct. There may be very many. */
struct pq_report_part {
	union {
		const char *symbol; /* if named; equal texts have one address */
		uint64_t address;
	};
	uint32_t dso; /* number of a name; PM_NO_STRING: not asked for */
	uint8_t mode;
	bool placed;
	bool named; /* false: the symbol is not asked for, or not known */
};

/* Identifies a row by the keys of its own and its part. There may be very many rows. */
struct pq_report_item {
	uint32_t owner;
	uint32_t part;
	uint32_t latest; /* last group that was added to its children */
	uint64_t samples, period, children;
};

/* A row as it is shown. */
struct pq_report_shown {
	struct pq_report_part part;
	uint32_t group; /* a group with the row's own keys */
	uint64_t samples, period, children;
};

struct pq_report {
	struct pq_groups *groups;
	const struct pq_report_asked *asked;
	unsigned by;
	bool *own; /* [n_keys]: the key is not a part of what is shown of a frame */
	struct pb_secret secret;
	struct pm_string_pool strings; /* texts that are shown */
	struct {
		struct pm_string_pool strings; /* names of binaries */
		const char **shown;	       /* [strings.n] */
		size_t room;
	} binaries; /* Binaries whose short names are not the end of their path. */
	struct pq_report_part *parts;
	size_t n_parts, parts_room;
	struct pb_map by_part;
	uint32_t *first_rows; /* by part: its first row; UINT32_MAX: none yet */
	size_t first_room;
	uint32_t *part_of_frame; /* by number of a frame; UINT32_MAX: not known yet */
	uint32_t *owners;	 /* [n_owners]: a group that has those keys */
	size_t n_owners, owners_room;
	struct pb_map by_owner;
	struct pq_report_item *rows;
	size_t n_rows, rows_room;
	size_t taken;			    /* groups that were added up */
	struct pb_map by_row;		    /* rows that are not their part's first */
	struct pq_report_shown *shown;	    /* [n_rows]: the rows in their order */
	struct pq_report_section *sections; /* sections in the order of their rows */
	size_t n_sections;
};

/* Returns the name of a part's function. */
static inline struct pd_text pq_report_symbol(const struct pq_report *report,
					      const struct pq_report_part *part)
{
	struct pd_text text = { part->named ? part->symbol : NULL, 0 };

	if (part->named)
		text.n = report->asked->callers ? strlen(part->symbol) :
						  pq_text_of(part->symbol)->size;
	return text;
}

/* Adds numbers of at most PQ_TOO_LARGE, which stands for all that is larger. */
static inline uint64_t pq_report_sum(uint64_t a, uint64_t b)
{
	return a >= PQ_TOO_LARGE || b >= PQ_TOO_LARGE - a ? PQ_TOO_LARGE : a + b;
}

/*
 * Makes `shown` and `sections`, and frees rows and parts. Returns false without memory.
 */
bool pq_report_sort(struct pq_report *report);

/* Returns the event of a row; NULL if it is not known. */
static inline const struct pd_event *pq_report_event(const struct pq_report *report,
						     const struct pq_report_item *row)
{
	struct pq_value value = { .type = PQ_NIL };

	if (report->asked->event_key != SIZE_MAX)
		pq_groups_key(report->groups, report->owners[row->owner],
			      report->asked->event_key, &value);
	return value.type == PQ_EVENT ? value.event : NULL;
}

#endif
