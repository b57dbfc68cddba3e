/*
 * A description that takes the place of that of the recording whose records are written: the
 * events with their attrs and ids, and the header features that differ.
 */
#ifndef PERFLUA_WRITE_DESCRIPTION_H
#define PERFLUA_WRITE_DESCRIPTION_H

#include "base/string_builder.h"
#include "perfdata/container/file.h"

/* How a header feature of a description is found. */
enum pw_origin {
	PW_ORIGINAL, /* that of the recording */
	PW_REPLACED, /* `bytes` are its content */
	PW_DROPPED,
};

struct pw_described_feature {
	enum pw_origin origin;
	uint8_t *bytes; /* [n], owned */
	size_t n;
};

struct pw_description {
	/* they own `attr_bytes`, `ids` and `name`, which late records may change elsewhere */
	struct pd_event *events;
	size_t n_events, room; /* n_events 0: those of the recording */
	struct pw_described_feature features[PD_FEATURES];
	bool drops_event_types; /* the names of events that recordings of version 1 have */
};

/* Prepares a description with the events and features of the recording. */
void pw_description_init(struct pw_description *d);
void pw_description_deinit(struct pw_description *d);

/*
 * Adds a copy of an event of `file`, with its ids, and at least PD_ATTR_MIN bytes of its attr.
 * Returns it; NULL with *err. Events that were added before may move.
 */
struct pd_event *pw_add_event(struct pw_description *d, struct pd_file *file,
			      const struct pd_event *event, struct pd_error *err);

/* Adds copies of all events of `file`. Returns false with *err. */
bool pw_add_events(struct pw_description *d, struct pd_file *file, struct pd_error *err);

/* Reads the bytes of an event's attr, all event->attr_size. Returns false with *err. */
bool pw_read_attr(struct pd_file *file, const struct pd_event *event, uint8_t *bytes,
		  struct pd_error *err);

/*
 * Makes `bytes`, from malloc, which the description owns from now on, the content of a feature.
 */
void pw_replace_feature(struct pw_description *d, unsigned bit, uint8_t *bytes, size_t n);
void pw_drop_feature(struct pw_description *d, unsigned bit);

/*
 * Returns the content of the feature EVENT_DESC for `n` events, which the caller frees, and
 * sets *size. Their attrs are in `attr_bytes`. NULL with *err.
 */
uint8_t *pw_make_event_desc(const struct pd_event *events, size_t n, bool swap, size_t *size,
			    struct pd_error *err);

/* Add a number, or a text as features have it, to the content of a feature. */
void pw_add32(struct pb_string *s, uint32_t value, bool swap);
void pw_add_text(struct pb_string *s, const char *text, bool swap);

/* Adds what another string has, and its failure, and frees that. */
void pw_add_string(struct pb_string *s, struct pb_string *from);

/*
 * Returns the bytes of a string, which the caller frees, and sets *size. NULL with *err without
 * memory.
 */
uint8_t *pw_take_bytes(struct pb_string *s, size_t *size, struct pd_error *err);

#endif
