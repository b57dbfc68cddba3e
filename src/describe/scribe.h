/*
 * A scribe encodes the records of a description. It knows the events that the description has
 * named so far, in the order of the file. Dumping asks one, too, whether what it has described
 * becomes the same bytes again.
 */
#ifndef PERFLUA_DESCRIBE_SCRIBE_H
#define PERFLUA_DESCRIBE_SCRIBE_H

#include "perfdata/format/coder.h"

struct pw_scribe_event {
	struct pd_shape shape;
	uint64_t first_id; /* 0: it has no ids */
};

struct pw_scribe {
	struct pw_scribe_event *events;
	size_t n_events, events_room;
	struct pd_shape bare; /* of records without an event */
	char arch[32];
	uint32_t e_machine;
	struct pd_coder coder;		   /* of the last record: its bytes are coder.out */
	const struct pd_record_desc *last; /* type of the last statement */
};

void pw_scribe_init(struct pw_scribe *s, bool swap, bool big);
void pw_scribe_deinit(struct pw_scribe *s);

/* Adds an event of `n` bytes of attr. Returns false if they are not an attr, or without
 * memory. */
bool pw_scribe_add_event(struct pw_scribe *s, const uint8_t *attr, size_t n, uint64_t first_id);

/* Takes the machine of a header feature, whose registers have names. */
void pw_scribe_take_feature(struct pw_scribe *s, uint64_t bit, const uint8_t *bytes, size_t n);

/* Returns the shape of an event by its number, from 0 on; of no event if there are none. */
const struct pd_shape *pw_scribe_shape(const struct pw_scribe *s, uint32_t event);

/* Returns whether records of a type differ from event to event. */
bool pw_has_event(const struct pd_record_desc *desc);

/*
 * Encodes the record of a statement, whose values it marks as used. Returns false with
 * s->coder.error, "LINE: FIELD: found …, expected …".
 */
bool pw_scribe_encode(struct pw_scribe *s, const char *name, struct pd_node *root);

/* Learns what a record says of events and features. Returns false without memory. */
bool pw_scribe_learn(struct pw_scribe *s, const uint8_t *bytes, size_t n);

#endif
