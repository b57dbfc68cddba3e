/*
 * Which event a record is of, and so how it is laid out.
 */
#ifndef PERFLUA_PERFDATA_BIND_H
#define PERFLUA_PERFDATA_BIND_H

#include "file.h"
#include "record.h"

struct pd_binder {
	const struct pd_file *file;
	bool by_id;	       /* several events: each record is asked for its own */
	uint16_t sample_id_at; /* offset of a sample's id; 0: it has none */
	uint16_t other_id_at;  /* of another record's, from its end; 0: none */
};

void pd_binder_init(struct pd_binder *binder, const struct pd_file *file);

/* Sets rec->event and rec->layout by its type and bytes. */
void pd_bind(const struct pd_binder *binder, struct pd_record *rec);

#endif
