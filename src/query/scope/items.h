/*
 * Rows inside records: the items of a view, as fields of rows beside those of the record.
 *
 *	pq_items_begin(items);	the record was entered in its fields
 *	while (pq_items_next(items))
 *		… fields whose `item` is set are of this item …
 */
#ifndef PERFLUA_QUERY_ITEMS_H
#define PERFLUA_QUERY_ITEMS_H

#include "perfdata/format/views.h"
#include "query/chains/stacks.h"
#include "query/program/expr.h"
#include "once.h"

/* The rows that are made of each record. */
struct pq_unnest {
	unsigned name; /* name of the field that has the view */
	const struct pd_view_desc *view;
	const struct pq_node *filter; /* condition on rows; NULL: all pass */
	/*
	 * only the first row of a record with each value is kept; NULL: all rows are
	 */
	const struct pq_node *once;
	bool inlined; /* inlined functions of call chains are items, too, before their frame */
};

/* Returns the view of that name if its items can be rows, else NULL. */
const struct pd_view_desc *pq_unnest_view(const char *name);

/*
 * Returns the number of a member of the items of such a view, for `item` of pq_field; 0 if none
 * has that name. The member is absent where rows are items of another view, or records.
 */
uint16_t pq_item_member(const struct pd_view_desc *view, const char *name);

/*
 * Return true if the recorded system must be asked for the items, or for member `item` of them.
 */
bool pq_items_ask(const struct pq_unnest *unnest, const struct pd_session *session);
bool pq_item_asks(uint16_t item);

struct pq_items;

/*
 * Returns the items of the records of `fields`, which then reads their members. Both belong to
 * one thread. The description must outlive the items. Returns NULL without memory.
 */
struct pq_items *pq_items_create(const struct pq_unnest *unnest, struct pq_fields *fields);
void pq_items_destroy(struct pq_items *items);

/* Begins with the record that was entered in the fields. */
void pq_items_begin(struct pq_items *items);

/*
 * Goes to the record's next item that is a row. Returns false if none is left, or after a
 * failure, which sets fields->failed.
 */
bool pq_items_next(struct pq_items *items);

/* Shared by the files of items: rows inside records, and how their members are read. */

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
