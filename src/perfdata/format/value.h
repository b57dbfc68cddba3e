/*
 * Decoded values, and how composite ones are passed on.
 *
 * A value is a scalar, a string that points into the bytes it was decoded from, or a view: a
 * part of a record (call chain, registers) whose items are decoded one by one when they are
 * asked for. A sink receives values one after another: the binding's builds Lua tables, the
 * printer's writes text or JSON.
 */
#ifndef PERFLUA_PERFDATA_VALUE_H
#define PERFLUA_PERFDATA_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pd_coder;
struct pd_event;
struct pd_record;
struct pd_value;

enum pd_type {
	PD_NIL,	   /* the record has no such value */
	PD_BOOL,   /* .u */
	PD_INT,	   /* .i */
	PD_UINT,   /* .u, shown in decimal */
	PD_ADDR,   /* .u, shown in hex */
	PD_FLOAT,  /* .f */
	PD_STR,	   /* .s, text */
	PD_HEX,	   /* .s, bytes shown as a string of hex digits: build-ids, tags */
	PD_BLOB,   /* .s, bytes as they are */
	PD_VIEW,   /* .view */
	PD_EVENT,  /* .event */
	PD_SYSTEM, /* .asked: only the recorded system can answer */
};

/* The description of a view's member, for the manual and the editor stubs. */
struct pd_member {
	const char *name;
	enum pd_type type;
	const char *doc; /* one sentence */
	bool is_time;	 /* in nanoseconds; printed as seconds */
	bool of_system;	 /* the value comes from the recorded system */
};

/* The inside of a member's initialiser; `t` is the end of a PD_ type's name. */
#define PD_MEMBER(t, n, text) .name = (n), .type = PD_##t, .doc = (text)

/*
 * A view has members, then items. Items form an array (desc->key is NULL) or have names
 * (desc->key returns the name of item i). An item is a scalar (desc->items is NULL) or has
 * members itself. The view points to its record and is valid as long as that.
 */
struct pd_view {
	const struct pd_view_desc *desc;
	const struct pd_record *rec;
	uint32_t at;	/* offset of the part in the record */
	uint32_t count; /* number of items */
	uint64_t extra; /* for the view's own use: a mask, a layout, an offset */
	/*
	 * of a call chain, frames in place of the recorded ones; the owner of the view owns
	 * them
	 */
	const struct pd_frame *frames;
};

/* An address of a call chain and its cpumode. */
struct pd_frame {
	uint64_t ip;
	uint32_t mode;	 /* enum pd_cpumode */
	uint32_t branch; /* 0; else see pm_branch_of() */
};

/* A question to the recorded system about a record, or about an address in it. */
struct pd_asked {
	uint32_t field; /* enum pd_system_field */
	uint32_t mode;	/* enum pd_cpumode of the address */
	uint64_t address;
	bool of_address; /* `address` and `mode` are set; if not the record's own are meant */
	bool is_implied; /* the address says whether it is of the kernel, not `mode` */
};

struct pd_view_desc {
	const char *name; /* as in the manual: "callchain" */
	const char *doc;
	const struct pd_member *members; /* ends with a NULL name; may be NULL */
	const struct pd_member *items;	 /* the same for items; NULL: items are scalars */
	/* Sets *out to member `m` of the view. */
	void (*member)(const struct pd_view *view, unsigned m, struct pd_value *out);
	/* Sets *out to member `m` of item `i`, 0-based and < count; for scalar items m is 0. */
	void (*item)(const struct pd_view *view, uint32_t i, unsigned m, struct pd_value *out);
	/* Returns the name of item `i`; NULL if items have no names. */
	const char *(*key)(const struct pd_view *view, uint32_t i);
	/* Writes perf's text of the view into text[size], with a NUL; NULL: perf has none. */
	void (*print)(const struct pd_view *view, char *text, size_t size);
	/*
	 * Codes the bytes of the view as `name`; see coder.h. NULL: another field's code does.
	 */
	void (*code)(struct pd_coder *c, const char *name);
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
	/* memory for .s of composed text; a value that uses it must not be copied */
	char text[64];
};

/*
 * Receives a composite value. Between begin() and end() come pairs of key() and a value (or a
 * nested begin … end) in a table, only values in an array. A sink may leave by longjmp, so the
 * code that feeds it must hold no resources.
 */
struct pd_sink {
	void (*begin)(struct pd_sink *sink, bool array);
	void (*end)(struct pd_sink *sink);
	void (*key)(struct pd_sink *sink, const char *name, size_t n);
	void (*value)(struct pd_sink *sink, const struct pd_value *value); /* never PD_VIEW */
};

/* Feed one value to a sink, under `key`; NULL: as an item of an array. */
void pd_sink_key(struct pd_sink *sink, const char *name);
void pd_sink_uint(struct pd_sink *sink, const char *key, uint64_t v);
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
