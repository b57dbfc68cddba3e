/* Shared by the files of items: rows inside records, and how their members are read. */
#ifndef PERFLUA_QUERY_ITEMS_INTERNAL_H
#define PERFLUA_QUERY_ITEMS_INTERNAL_H

#include "items.h"
#include "once.h"
#include "perfdata/format/views.h"
#include "query/chains/stacks.h"

#define PQ_BRANCH_SIZE 24 /* bytes: source, target and flags */

struct pq_items {
	const struct pq_unnest *unnest;
	struct pq_fields *fields;
	struct pq_expr *filter; /* NULL: there is none */
	struct pq_once once;
	struct pd_view view;  /* the record's view; unused for call chains */
	unsigned view_number; /* number of the view, as in those of its members */
	uint32_t n, next;     /* number of items; the one that comes next */
	const uint8_t *words; /* bytes of the next item; NULL: its view has no words */
	size_t size;	      /* bytes of an item; 0: its view has no words */
	bool is_row;	      /* an item is the row; else there is none to be read */
	uint32_t index;	      /* index of the item that is the row */
	/* The frames of a call chain. */
	struct pd_frame frames[PM_MAX_FRAMES];
	const struct ps_line *lines; /* [n_lines]: lines of the row's frame, if asked for */
	size_t n_lines, line;	     /* the line that is the row */
	/* Resolves addresses; NULL until the first one is looked up. */
	struct pq_chains *chains;
	bool entered;	       /* the record was entered in `chains` */
	uint32_t at[3];	       /* frames at the row's addresses; UINT32_MAX: not asked yet */
	struct pq_frame frame; /* that pq_items_frame() returned last */
};

/* Returns the number of a view whose items can be rows, as those of its members have it. */
unsigned pq_items_view_number(const struct pd_view_desc *view);

/*
 * Returns the frame at an address of the row, that of its frame, or the source (0) or target
 * (1) of a branch, or the target of the branch before it (2), which must be there; valid until
 * the next one is looked up. NULL without memory.
 */
const struct pq_frame *pq_items_frame(struct pq_items *items, unsigned which);

/* Sets how a member of the items is read: see struct pq_fields. */
void pq_items_load(const struct pq_items *items, uint16_t item, struct pq_load *load);

/* Returns true if the row is a function that was inlined, not the frame's own. */
static inline bool pq_items_is_inlined(const struct pq_items *items)
{
	return items->unnest->inlined && items->line + 1 < items->n_lines;
}

#endif
