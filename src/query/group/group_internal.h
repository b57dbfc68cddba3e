/* Shared by the files of groups: a table of keys, and how keys and measures are read. */
#ifndef PERFLUA_QUERY_GROUP_INTERNAL_H
#define PERFLUA_QUERY_GROUP_INTERNAL_H

#include "group_table.h"
#include "measure.h"

struct pq_group_key {
	struct pq_read value, other;
	struct pq_value last; /* value that was read last: it most often comes again */
	bool stays;	      /* `last` is text at an address that always has the same text */
};

#define PQ_PENDING 32

struct pq_groups {
	const struct pq_grouping *grouping;
	struct pq_fields *fields;
	struct pq_chains *chains; /* NULL: no key may be a chain */
	struct pq_texts texts;	  /* texts of keys, and of sets of values */
	struct pq_table table;
	bool bad_weight;
	struct pq_group_key *keys, *keys_end;	     /* [n_keys] */
	struct pq_measured *measured, *measured_end; /* [n_measures] */
	const struct pq_measured *limited; /* has values of at most `most`; NULL: none */
	uint64_t most;
	uint64_t n_aside;
	struct pq_time *times; /* [n_times] of PQ_M_TIMES */
	size_t n_times, times_room;
	struct pq_groups *whole; /* groups of grouping.whole; NULL: none */
	uint64_t *words;	 /* words of the record that was added last, as in a group */
	size_t last;		 /* its group; PQ_NO_GROUP: it has to be searched */
	/*
	 * states of a pending group that the record added last belongs to; NULL: it is not
	 * pending
	 */
	char *states;
	char *pending; /* [n_pending] groups, as in the table; NULL: see pq_groups_defer() */
	uint32_t pending_hashes[PQ_PENDING];
	size_t n_pending;
	uint64_t *others; /* words of the group of others; NULL: there is no limit */
	/* of a table of its own: key 0 of all groups, where their words have none */
	bool is_one_section;
	uint32_t section;
};

/* Returns the states of a group, those of its measures one after another. */
static inline char *pq_group_states(const struct pq_groups *groups, size_t g)
{
	return (char *)(pq_table_group(&groups->table, g) + groups->table.n_words);
}

/*
 * Says where the states of each measure are, and what works on them: without fields, on groups
 * that are put together. Returns the size of all states of a group.
 */
size_t pq_groups_place(struct pq_groups *groups);

/* Initializes the table as it is before the first record. Returns false without memory. */
bool pq_groups_begin(struct pq_groups *groups);

/* Returns whether the table is so large that its groups should be looked up together. */
bool pq_pending_fits(const struct pq_groups *groups);

/*
 * Adds a pending group with the words of the record that was entered. Returns its states, which
 * are zero; NULL: no memory.
 */
char *pq_pending_add(struct pq_groups *groups);

/* Frees what the states of the groups from `first` on own. */
void pq_groups_deinit_states(struct pq_groups *groups, size_t first);

/* Frees how keys and measures are read, and what served to add the last record. */
void pq_groups_forget_reads(struct pq_groups *groups);

#endif
