/*
 * Rows inside records: the items of a view, as fields of rows beside those of the record.
 *
 *	pq_items_begin(items);	the record was entered in its fields
 *	while (pq_items_next(items))
 *		… fields whose `item` is set are of this item …
 */
#ifndef PERFLUA_QUERY_ITEMS_H
#define PERFLUA_QUERY_ITEMS_H

#include "query/program/expr.h"

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

#endif
