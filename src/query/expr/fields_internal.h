/*
 * What the files of fields share: how a field is read that is no plain load.
 */
#ifndef PERFLUA_QUERY_FIELDS_INTERNAL_H
#define PERFLUA_QUERY_FIELDS_INTERNAL_H

#include "base/map.h"
#include "base/vector.h"
#include "fields.h"
#include "strings.h"

/* Room for the text of a field: what is not the record's, the system's or a binary's. */
struct pq_room {
	char *p;
	size_t capacity;
};

struct pq_fields_internal {
	const struct pq_field **list; /* [n]: by number */
	size_t n, capacity;
	struct pd_record of_row; /* of rows: without bytes or layout */
	unsigned time;		 /* the number of that name */
	struct pq_room *rooms; /* [n]; made with the first layout, after which no field comes */
	size_t n_rooms;
	struct pq_bound **bounds; /* [n_bounds] */
	size_t n_bounds, bounds_room;
	struct pb_map by_layout;  /* of bounds, by where layout and event lie */
	struct pq_texts numbers;  /* of threads without a name: as texts of `comm` stay */
	struct pq_chains *chains; /* of pq_fields_under; NULL: not asked yet */
};

/* Reads `comm`: its text stays where it is, and is another one's if it lies elsewhere. */
void pq_read_comm(struct pq_fields *fields, uint32_t field, struct pq_value *out);

/* Where what decides the name of a thread lies, if both are plain loads. */
void pq_place_comm(const struct pq_fields *fields, const struct pd_layout *layout,
		   struct pq_load *load);

/*
 * Binds an argument of a tracepoint, "args.x", to the event of the record that was entered. Of
 * an event whose tracepoint is not known (yet) it stays what pq_follow finds.
 */
void pq_bind_arg(const struct pq_fields *fields, const struct pq_field *field,
		 struct pq_load *load);

/*
 * Is a value what the query took the field for when it was made? See kind in struct pq_field.
 */
bool pq_fits(const struct pq_field *field, const struct pd_value *value);

/* Makes room for n bytes of a field's text; NULL: no memory, which is noted. */
char *pq_room(struct pq_fields *fields, uint32_t field, size_t n);

/*
 * What a decoded value is to a query. A composite is true, by which it is told from an absent
 * one.
 */
void pq_from_decoded(struct pq_fields *fields, uint32_t field, const struct pd_value *value,
		     struct pq_value *out);

/*
 * Goes a field's steps from its root, and asks the recorded system where they need it. PD_NIL:
 * there is no such part. What has items that are no values, and of inlined functions the whole,
 * is left as PD_BOOL; *count is then the number of its items, and of any other composite the
 * view says it.
 */
void pq_follow(struct pq_fields *fields, uint32_t field, struct pd_value *value,
	       uint32_t *count);

#endif
