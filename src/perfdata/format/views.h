/*
 * The views of records. Each has a description, and a function pd_open_NAME() that opens it at
 * an offset: it sets count and extra, or makes the value PD_NIL if the view does not fit the
 * body.
 */
#ifndef PERFLUA_PERFDATA_VIEWS_H
#define PERFLUA_PERFDATA_VIEWS_H

#include "record.h"

#define PD_VIEW_DECLARE(v)                            \
	extern const struct pd_view_desc pd_view_##v; \
	void pd_open_##v(const struct pd_record *rec, uint32_t at, struct pd_value *out)

PD_VIEW_DECLARE(sample_id);
PD_VIEW_DECLARE(attr);
PD_VIEW_DECLARE(callchain);
PD_VIEW_DECLARE(branch_stack);
PD_VIEW_DECLARE(read);
PD_VIEW_DECLARE(regs_user);
PD_VIEW_DECLARE(regs_intr);
PD_VIEW_DECLARE(data_src);
PD_VIEW_DECLARE(namespaces);
PD_VIEW_DECLARE(ids);	   /* of header_attr: the ids after the attr */
PD_VIEW_DECLARE(ips);	   /* a u64 count, then addresses */
PD_VIEW_DECLARE(priv);	   /* u64 items up to the end of the body */
PD_VIEW_DECLARE(id_index); /* the items of its field `entries` */
PD_VIEW_DECLARE(thread_map);
PD_VIEW_DECLARE(bpf_metadata); /* the items of its field `entries` */
PD_VIEW_DECLARE(cpus);
PD_VIEW_DECLARE(args);
extern const struct pd_view_desc pd_view_array; /* an argument of a tracepoint */
extern const struct pd_view_desc pd_view_map;	/* a mapping of the recorded system */

/*
 * Return how many bytes a part of a record takes, UINT32_MAX if it does not fit: a text from
 * `at` on with its NUL, a set of processors at `at`, the entries of an id_index, the counters
 * of a read record.
 */
uint32_t pd_measure_text(const struct pd_record *rec, uint32_t at);
uint32_t pd_measure_cpus(const struct pd_record *rec, uint32_t at);
uint32_t pd_measure_id_index(const struct pd_record *rec);
uint32_t pd_measure_read(const struct pd_record *rec);

/* Returns whether a field is the view of a tracepoint's arguments. */
static inline bool pd_is_args(const struct pd_bound *bound)
{
	return bound->kind == PD_K_VIEW && bound->field->view == &pd_view_args;
}

/* Returns whether `n` bytes at offset `at` lie in the record's body. */
static inline bool pd_fits(const struct pd_record *rec, uint32_t at, uint64_t n)
{
	uint32_t end = pd_body_end(rec);

	return at <= end && n <= end - at;
}

/*
 * Opens a view of a u64 count and as many entries of `each` bytes, which start at offset at +
 * 8.
 */
static inline void pd_open_counted(const struct pd_record *rec, uint32_t at, uint32_t each,
				   struct pd_value *out)
{
	if (!pd_fits(rec, at, 8) || pd_rec64(rec, at) > (pd_body_end(rec) - at - 8) / each) {
		out->type = PD_NIL;
		return;
	}
	out->view.count = (uint32_t)pd_rec64(rec, at);
	out->view.at = at + 8;
}

/* Set *out to a value. The bytes are not copied. */
static inline void pd_set_uint(struct pd_value *out, enum pd_type type, uint64_t v)
{
	out->type = type;
	out->u = v;
}

static inline void pd_set_int(struct pd_value *out, int64_t v)
{
	out->type = PD_INT;
	out->i = v;
}

static inline void pd_set_bytes(struct pd_value *out, enum pd_type type, const void *p,
				size_t n)
{
	out->type = type;
	out->s.p = p;
	out->s.n = n;
}

/* Sets *out to the text at `p`, which ends at its first NUL or after `n` bytes. */
static inline void pd_set_text(struct pd_value *out, const void *p, size_t n)
{
	struct pd_text text = pd_text_in(p, n);

	pd_set_bytes(out, PD_STR, text.p, text.n);
}

/* Sets *out to a constant name; NULL makes it PD_NIL. */
static inline void pd_set_name(struct pd_value *out, const char *name)
{
	out->type = PD_NIL;
	if (name)
		pd_set_bytes(out, PD_STR, name, strlen(name));
}

/* Returns the index of a member by its name, or that of the list's end if there is none. */
static inline unsigned pd_member_find(const struct pd_member *members, const char *name)
{
	unsigned m = 0;

	while (members[m].name && strcmp(members[m].name, name) != 0)
		m++;
	return m;
}

/*
 * Writes the text of a data_src into text[size], NUL included, as versions of perf with the
 * differences `as` (enum pd_perf_text) print it.
 */
void pd_data_src_print(const struct pd_view *view, unsigned as, char *text, size_t size);

/* A part of what the value of a data source says. */
enum pd_data_src_part {
	PD_SRC_LEVEL,
	PD_SRC_LEVELS, /* by mask and by number, as before PD_TEXT_ONE_LEVEL */
	PD_SRC_SNOOP,
	PD_SRC_DTLB,
	PD_SRC_LOCK,
	PD_SRC_BLK
};

void pd_data_src_print_part(enum pd_data_src_part part, uint64_t value, char *text,
			    size_t size);

/* Returns the name of a cpumode: "kernel", "user" … */
const char *pd_cpumode_name(unsigned mode);

/*
 * Sets *out to a question to the recorded system about `address`, which has the cpumode `mode`;
 * `field` is an enum pd_system_field.
 */
static inline void pd_ask(struct pd_value *out, uint32_t field, uint64_t address, unsigned mode)
{
	out->type = PD_SYSTEM;
	out->asked = (struct pd_asked){
		.field = field, .mode = mode, .address = address, .of_address = true
	};
}

/* An iterator over the frames of a call chain, which consumes the context markers. */
struct pd_frames {
	const struct pd_record *rec;
	uint32_t at, end;
	enum pd_cpumode mode;
};

/* Starts at the first frame. pd_frames_next() returns false after the last one. */
void pd_frames_init(struct pd_frames *frames, const struct pd_view *view);
/* frames->mode becomes its cpumode */
bool pd_frames_next(struct pd_frames *frames, uint64_t *ip);

/*
 * Returns true if all context markers of a chain are known. perf takes no frame of a chain with
 * others: see add_callchain_ip, tools/perf/util/machine.c.
 */
bool pd_frames_are_known(const struct pd_view *view);

/* Returns the name of a type of branch, as branch stacks have it. */
const char *pd_branch_type_name(unsigned type, unsigned new_type);

/* Returns true if an entry of a call chain is a context marker. */
bool pd_is_chain_marker(uint64_t entry);

/*
 * Reads the cookie of a chain whose user part comes later, see PERF_RECORD_CALLCHAIN_DEFERRED.
 * Returns false if the chain has none.
 */
bool pd_frames_cookie(const struct pd_view *view, uint64_t *cookie);

#endif
