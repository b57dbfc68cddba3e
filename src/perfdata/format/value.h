/*
 * Decoded values, and the ways composite ones are handed on.
 *
 * A value is a scalar, a string that points into the bytes it was decoded from, or a view: a
 * part of a record (call chain, registers …) that is decoded item by item when asked. A sink
 * takes values one after another: the binding's makes Lua tables of them, the printer's text or
 * JSON.
 */
#ifndef PERFLUA_PERFDATA_VALUE_H
#define PERFLUA_PERFDATA_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pd_event;
struct pd_record;
struct pd_value;

enum pd_type {
	PD_NIL,	    /* this record does not have it */
	PD_BOOL,    /* .u */
	PD_INT,	    /* .i */
	PD_UINT,    /* .u, shown in decimal */
	PD_ADDR,    /* .u, shown in hex */
	PD_FLOAT,   /* .f */
	PD_STR,	    /* .s, text */
	PD_HEX,	    /* .s, bytes that read as a string of hex digits: build-ids, tags */
	PD_BLOB,    /* .s, bytes as they are */
	PD_VIEW,    /* .view */
	PD_EVENT,   /* .event */
	PD_MACHINE, /* .asked: the recorded system knows it, which is not known here */
};

/* What a member of a view is, for the manual and the editor stubs. */
struct pd_member {
	const char *name;
	enum pd_type type;
	const char *doc; /* one sentence */
	bool is_time;	 /* nanoseconds: text shows seconds */
	bool of_system;	 /* the recorded system says it */
};

/* The inside of a member's initialiser; t is the end of a PD_ type's name. */
#define PD_MEMBER(t, n, text) .name = (n), .type = PD_##t, .doc = (text)

/*
 * A view: members of its own, then items, which are an array (key is NULL) or named (key gives
 * the name of item i). An item is a scalar (items is NULL) or has members itself. The view
 * points at its record and is valid as long as that is.
 */
struct pd_view {
	const struct pd_view_desc *desc;
	const struct pd_record *rec;
	uint32_t at;	/* offset of the part in the record */
	uint32_t count; /* items */
	uint64_t extra; /* the view's own: a mask, a layout, an offset */
	/*
	 * of a call chain: its frames, when they are not those that were recorded; whoever
	 * holds the view owns them
	 */
	const struct pd_frame *frames;
};

/* An address of a call chain, and the cpumode it ran in. */
struct pd_frame {
	uint64_t ip;
	uint64_t mode; /* enum pd_cpumode */
};

/* What the recorded system is asked: of the record, or of an address in it. */
struct pd_asked {
	uint32_t field; /* enum pd_machine_field */
	uint32_t mode;	/* enum pd_cpumode of the address */
	uint64_t address;
	bool of_address; /* else mode and address are the record's to say */
};

struct pd_view_desc {
	const char *name; /* as the manual calls it: "callchain" */
	const char *doc;
	const struct pd_member *members; /* ends with a NULL name; may be NULL */
	const struct pd_member *items;	 /* likewise; NULL: items are scalars */
	/* Value of member m of the view. */
	void (*member)(const struct pd_view *view, unsigned m, struct pd_value *out);
	/* Value of member m of item i (0-based, < count); for scalar items m is 0. */
	void (*item)(const struct pd_view *view, uint32_t i, unsigned m, struct pd_value *out);
	/* Name of item i, for views whose items are named; else NULL. */
	const char *(*key)(const struct pd_view *view, uint32_t i);
	/*
	 * Writes the view as perf prints it into text[size] (NUL-terminated); NULL: no such
	 * form.
	 */
	void (*print)(const struct pd_view *view, char *text, size_t size);
};

struct pd_value {
	enum pd_type type;
	union {
		int64_t i;
		uint64_t u;
		double f;
		struct {
			const char *p; /* not NUL-terminated */
			size_t n;
		} s;
		struct pd_view view;
		const struct pd_event *event;
		struct pd_asked asked;
	};
	char text[64]; /* where .s of composed text lies: such a value is not copied */
};

/*
 * Receives a composite value. Between begin and end come, in a table, pairs of key() and a
 * value (or a nested begin … end); in an array only values. A sink may leave by longjmp:
 * whoever feeds one holds nothing that would be lost.
 */
struct pd_sink {
	void (*begin)(struct pd_sink *sink, bool array);
	void (*end)(struct pd_sink *sink);
	void (*key)(struct pd_sink *sink, const char *name, size_t n);
	void (*value)(struct pd_sink *sink, const struct pd_value *value); /* never PD_VIEW */
};

/* Shorthands for those who feed a sink. */
void pd_sink_key(struct pd_sink *sink, const char *name);
void pd_sink_uint(struct pd_sink *sink, const char *key,
		  uint64_t v); /* key NULL: an array's item */
void pd_sink_int(struct pd_sink *sink, const char *key, int64_t v);
void pd_sink_addr(struct pd_sink *sink, const char *key, uint64_t v);
void pd_sink_bool(struct pd_sink *sink, const char *key, bool v);
void pd_sink_str(struct pd_sink *sink, const char *key, const void *p, size_t n);
void pd_sink_hex(struct pd_sink *sink, const char *key, const void *p, size_t n);
void pd_sink_blob(struct pd_sink *sink, const char *key, const void *p, size_t n);
void pd_sink_begin(struct pd_sink *sink, const char *key, bool array);
void pd_sink_end(struct pd_sink *sink);

/* Feeds a whole view to a sink: its members, then its items (under `items` if it has both). */
void pd_sink_view(struct pd_sink *sink, const struct pd_view *view);

#endif
