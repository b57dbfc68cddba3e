/* Shared by the files of fields: reads fields that are not plain loads. */
#ifndef PERFLUA_QUERY_FIELDS_INTERNAL_H
#define PERFLUA_QUERY_FIELDS_INTERNAL_H

#include "base/map.h"
#include "base/string_builder.h"
#include "fields.h"
#include "query/chains/strings.h"

#define PQ_BUILD_IDS 64 /* a power of two */

#define PQ_RECENT_BOUNDS 16

struct pq_fields_internal {
	const struct pq_field **list; /* [n]: by number */
	size_t n, capacity;
	struct pd_record of_row; /* the record that stands for rows: without bytes or layout */
	unsigned time;		 /* number of the name "time" */
	/*
	 * [n_rooms]: the texts of fields that neither the record, the system nor a binary owns;
	 * made with the first layout, after which no field is added
	 */
	struct pb_string *rooms;
	size_t n_rooms;
	struct pq_bound **bounds; /* [n_bounds] */
	size_t n_bounds, bounds_room;
	struct pb_map by_layout; /* numbers of `bounds`, by the addresses of layout and event */
	/* those entered last, by the hash of layout and event; NULL: none */
	const struct pq_bound *recent[PQ_RECENT_BOUNDS];
	/*
	 * names of threads without a name, and digits of build-ids; like other texts of `comm`
	 * and of mappings they do not move
	 */
	struct pq_texts texts;
	/* the digits of build-ids, by a hash of where these are */
	struct pq_build_id {
		struct ps_build_id id;
		const struct pq_text *text; /* NULL: free */
	} build_ids[PQ_BUILD_IDS];
	struct pq_chains *chains; /* for pq_fields_under(); NULL: not used yet */
};

/* Sets *load to how a field is read from records like the one that was entered. */
void pq_load_init(struct pq_fields *fields, uint32_t field, struct pq_load *load);

/* Reads `comm`. Its text does not move, and texts at different addresses differ. */
void pq_read_comm(struct pq_fields *fields, uint32_t field, struct pq_value *out);

/* Sets load->called_end and what belongs to it, if thread and time are plain loads. */
void pq_place_comm(const struct pq_fields *fields, const struct pd_layout *layout,
		   struct pq_load *load);

/*
 * Binds an argument of a tracepoint, "args.x", to the event of the record that was entered. If
 * its tracepoint is not known (yet), pq_follow() finds it for each record.
 */
void pq_bind_arg(const struct pq_fields *fields, const struct pq_field *field,
		 struct pq_load *load);

/* Binds a member of the mapping at ip, "map.x". */
void pq_bind_map(const struct pq_fields *fields, const struct pq_field *field,
		 struct pq_load *load);

/*
 * Returns true if a value is of the kind that the query expects: see kind in struct pq_field.
 */
bool pq_fits(const struct pq_field *field, const struct pd_value *value);

/*
 * Returns a buffer for n bytes of a field's text; NULL: no memory, and fields->failed is set.
 */
char *pq_room(struct pq_fields *fields, uint32_t field, size_t n);

/*
 * Follows a field's steps from its root, and asks the recorded system if they need it. The
 * result is PD_NIL if there is no such part. An array whose items have members, and the inlined
 * functions as a whole, become PD_BOOL; *count is then the number of items. For other
 * composites the view has it.
 */
void pq_follow(struct pq_fields *fields, uint32_t field, struct pd_value *value,
	       uint32_t *count);

#endif
