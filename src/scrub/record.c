#include <stdlib.h>

#include "internal.h"
#include "perfdata/format/attr.h"
#include "perfdata/format/event.h"
#include "perfdata/format/fields.h"
#include "perfdata/format/views.h"

#define HEADER	   8
#define MISC_AT	   4
#define ROOM	   ((size_t)UINT16_MAX + 1)
#define ATTR_KNOWN 144 /* PERF_ATTR_SIZE_VER9 */
#define MMAP2_ID   40  /* device and inode, or a build-id */

struct pv_scrubber *pv_scrubber_create(struct pd_file *file, struct pm_system *system,
				       const struct pv_rules *rules, const void *key, size_t n)
{
	bool moves = rules->of[PV_ADDRESSES] == PV_RELATIVE;
	bool is_x86 = file->arch && strcmp(file->arch->name, "x86") == 0;
	struct pv_scrubber *s = calloc(1, sizeof(*s));
	const struct pd_field_names *names = &file->field_names;

	if (!s)
		return NULL;
	s->file = file;
	s->rules = *rules;
	pv_names_init(&s->names, &s->rules, key, n);
	s->filename = pd_field_name_id(names, "filename", 8);
	s->comm = pd_field_name_id(names, "comm", 4);
	s->path = pd_field_name_id(names, "path", 4);
	s->name = pd_field_name_id(names, "name", 4);
	s->has_formats = file->tracing && file->tracing->complete &&
			 pd_file_feature(file, PD_FEATURE_TRACING_DATA);
	/* x86 has user addresses of 47 bits; elsewhere kernels begin at 0xc000000000000000 */
	s->impossible.from = UINT64_C(1) << (is_x86 ? 47 : 56);
	s->impossible.to = is_x86 ? UINT64_C(0xff00000000000000) : UINT64_C(0xc000000000000000);
	s->room = malloc(ROOM);
	s->mapped = pv_mapped_create();
	if (moves)
		s->places = pv_places_create(system);
	if (s->room && s->mapped && (!moves || s->places))
		return s;
	pv_scrubber_destroy(s);
	return NULL;
}

void pv_scrubber_destroy(struct pv_scrubber *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_plans; i++)
		pv_plan_destroy(s->plans[i]);
	free(s->plans);
	free(s->room);
	pv_places_destroy(s->places);
	pv_mapped_destroy(s->mapped);
	pv_names_deinit(&s->names);
	free(s);
}

bool pv_failed(const struct pv_scrubber *s)
{
	return s->failed || s->names.failed;
}

bool pv_finish(struct pv_scrubber *s, struct pd_record *rec, uint32_t size)
{
	if (size > PV_RECORD_MOST)
		return false;
	pv_store16(s->room + 6, (uint16_t)size, rec->layout->swap);
	rec->bytes = s->room;
	rec->size = size;
	return true;
}

void pv_attr(const struct pv_scrubber *s, uint8_t *bytes, size_t n)
{
	enum {
		BREAKPOINT_ADDRESS = 56
	};

	if (s->places && n >= PD_ATTR_MIN &&
	    pb_load32(bytes, s->file->swap) == PD_TYPE_BREAKPOINT)
		memset(bytes + BREAKPOINT_ADDRESS, 0, 8);
	if (n > ATTR_KNOWN)
		memset(bytes + ATTR_KNOWN, 0, n - ATTR_KNOWN);
}

/* Makes zeros of the bytes between the known part of a record and its trailer. */
static bool scrub_plain(struct pv_scrubber *s, struct pd_record *rec)
{
	uint32_t extent = pd_record_extent(rec), trailer = rec->layout->trailer_size;

	if (extent == rec->size)
		return true;
	if (!extent || extent > rec->size) {
		s->unreadable++;
		return false;
	}
	memcpy(s->room, rec->bytes, rec->size);
	memset(s->room + extent - trailer, 0, rec->size - extent);
	return pv_finish(s, rec, rec->size);
}

/*
 * Replaces the text at offset `at`, up to which the bytes of the record are in s->room already,
 * and what follows it up to the trailer.
 */
static bool put_text(struct pv_scrubber *s, struct pd_record *rec, uint32_t at,
		     struct pd_text text)
{
	uint32_t trailer = rec->size - pd_body_end(rec), size;

	if (text.n > PV_RECORD_MOST - at - trailer - 8)
		return false;
	size = (at + (uint32_t)text.n + 8) & ~7u; /* at least one NUL */
	memcpy(s->room + at, text.p, text.n);
	memset(s->room + at + text.n, 0, size - at - text.n);
	memcpy(s->room + size, rec->bytes + pd_body_end(rec), trailer);
	return pv_finish(s, rec, size + trailer);
}

/* Finds the text of the field with number `id`. Returns false if the record has none. */
static bool find_text(const struct pd_record *rec, unsigned id, uint32_t *at,
		      struct pd_text *text)
{
	struct pd_value value = { .type = PD_NIL };
	uint8_t slot = rec->layout->slot[id];

	if (slot)
		pd_record_get(rec, slot, &value);
	if (value.type != PD_STR)
		return false;
	*at = (uint32_t)((const uint8_t *)value.s.p - rec->bytes);
	*text = (struct pd_text){ value.s.p, value.s.n };
	return *at >= HEADER && *at <= rec->size;
}

/* Scrubs a record whose body ends with a name. */
static bool scrub_text(struct pv_scrubber *s, struct pd_record *rec, enum pv_kind kind,
		       unsigned id)
{
	struct pd_text text;
	uint32_t at;

	if (!find_text(rec, id, &at, &text)) {
		s->unreadable++;
		return false;
	}
	memcpy(s->room, rec->bytes, at);
	return put_text(s, rec, at, pv_meet_name(s, kind, text));
}

void pv_inode(const struct pv_scrubber *s, uint8_t *id)
{
	enum {
		INODE = 8
	};
	uint64_t inode = 0;

	for (size_t i = 0; !inode && i < PV_INODE_SIZE; i++)
		inode = id[i];
	if (inode)
		inode = pv_hash_number(&s->names, id, PV_INODE_SIZE);
	memset(id, 0, PV_INODE_SIZE);
	if (s->rules.of[PV_BINARY] != PV_DROP)
		pv_store64(id + INODE, inode, s->file->swap);
}

/* Replaces the inode, or drops the build-id, of the MMAP2 record in s->room. */
static void scrub_identity(struct pv_scrubber *s, const struct pd_record *rec)
{
	bool has_build_id = pd_mmap2_has_build_id(rec);
	bool is_marked = rec->misc & PD_MISC_MMAP_BUILD_ID; /* as one that may be damaged */
	uint8_t *id = s->room + MMAP2_ID;

	if (has_build_id ? pv_build_id(s, id + 4, id[0]) :
			   s->rules.of[PV_BINARY] == PV_KEEP && !is_marked)
		return;
	if (has_build_id)
		memset(id, 0, PV_INODE_SIZE);
	else
		pv_inode(s, id);
	pv_store16(s->room + MISC_AT, rec->misc & (uint16_t)~PD_MISC_MMAP_BUILD_ID,
		   rec->layout->swap);
}

static bool scrub_mapping(struct pv_scrubber *s, struct pd_record *rec)
{
	struct pd_text text;
	uint32_t at;

	if (!find_text(rec, s->filename, &at, &text)) {
		s->unreadable++;
		return false;
	}
	pv_note_mapping(s, rec);
	memcpy(s->room, rec->bytes, at);
	if (rec->type == PD_RECORD_MMAP2 && at >= MMAP2_ID + PV_INODE_SIZE)
		scrub_identity(s, rec);
	if (s->places)
		pv_move_mapping(s, rec, text);
	return put_text(s, rec, at, pv_meet_name(s, PV_BINARY, text));
}

bool pv_build_id(struct pv_scrubber *s, uint8_t *id, size_t n)
{
	uint8_t digest[PB_SHA256_SIZE];

	pv_meet(s, PV_BUILDID, n);
	if (s->rules.of[PV_BUILDID] == PV_HASH) {
		pb_hmac_digest(&s->names.hmac, id, n, digest);
		memcpy(id, digest, n);
	}
	return s->rules.of[PV_BUILDID] != PV_DROP;
}

bool pv_build_id_entry(struct pv_scrubber *s, const uint8_t *entry, uint16_t misc,
		       uint8_t *head)
{
	enum {
		ID = 12,
		SIZE = 32
	};
	bool has_size = misc & PD_MISC_BUILD_ID_SIZE && entry[SIZE] <= PV_BUILD_ID_MOST;
	size_t n = has_size ? entry[SIZE] : PV_BUILD_ID_MOST;

	memset(head, 0, PV_BUILD_ID_HEAD);
	memcpy(head, entry, ID + n);
	head[SIZE] = misc & PD_MISC_BUILD_ID_SIZE ? (uint8_t)n : 0;
	return pv_build_id(s, head + ID, n);
}

/* Scrubs the name and the build-id of a file. */
static bool scrub_build_id(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		NAME = PV_BUILD_ID_HEAD,
		ALIGN = 64
	};
	struct pd_text text, shown;
	uint32_t size;

	if (rec->size <= NAME) {
		s->unreadable++;
		return false;
	}
	text = pd_text_in(rec->bytes + NAME, rec->size - NAME);
	shown = pv_meet_name(s, PV_BINARY, text);
	size = (NAME + (((uint32_t)shown.n + ALIGN) & ~(ALIGN - 1u)) + 7) & ~7u;
	memset(s->room, 0, size);
	memcpy(s->room + NAME, shown.p, shown.n);
	return pv_build_id_entry(s, rec->bytes, rec->misc, s->room) && pv_finish(s, rec, size);
}

static bool scrub_thread_map(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		FIRST = 16,
		EACH = 24,
		PID = 8
	};

	if (!scrub_plain(s, rec))
		return false;
	if (rec->bytes != s->room)
		memcpy(s->room, rec->bytes, rec->size);
	for (uint32_t at = FIRST; at + EACH <= rec->size; at += EACH) {
		uint8_t *comm = s->room + at + PID;
		struct pd_text shown = pv_meet_name(s, PV_COMM, pd_text_in(comm, EACH - PID));
		size_t n = shown.n < EACH - PID ? shown.n : EACH - PID - 1;

		memset(comm, 0, EACH - PID);
		memcpy(comm, shown.p, n);
	}
	return pv_finish(s, rec, rec->size);
}

/* Scrubs a unit, a name or another property of an event. */
static bool scrub_update(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		WHAT = 8,
		ID = 16,
		TEXT = 24,
		UNIT = 0,
		NAME = 2
	};
	const struct pd_event *event;
	uint64_t what;

	if (!scrub_plain(s, rec))
		return false;
	what = pd_rec64(rec, WHAT);
	if (what == UNIT && s->rules.of[PV_ALIAS] != PV_KEEP)
		return false;
	if (what != NAME)
		return true;
	event = pd_event_by_id(&s->file->ids, pd_rec64(rec, ID));
	if (!event)
		return false;
	if (rec->bytes != s->room)
		memcpy(s->room, rec->bytes, TEXT);
	return put_text(s, rec, TEXT, pv_event_name(s, event));
}

static bool scrub_header_attr(struct pv_scrubber *s, struct pd_record *rec)
{
	uint32_t size;

	if (!s->file->pipe || !scrub_plain(s, rec))
		return false;
	size = pd_rec32(rec, HEADER + 4); /* it fits: see pd_record_extent() */
	if (rec->bytes != s->room)
		memcpy(s->room, rec->bytes, rec->size);
	pv_attr(s, s->room + HEADER, size ? size : PD_ATTR_MIN);
	return pv_finish(s, rec, rec->size);
}

static bool scrub_header_feature(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		BIT = 8,
		BODY = 16
	};
	uint8_t *bytes = NULL;
	uint64_t bit;
	size_t n;

	if (!s->file->pipe || rec->size < BODY)
		return false;
	bit = pd_rec64(rec, BIT);
	if (bit < PD_FEATURES)
		bytes = pv_feature(s, (unsigned)bit, rec->bytes + BODY, rec->size - BODY, &n);
	if (!bytes)
		return false;
	memcpy(s->room, rec->bytes, BODY);
	if (n <= PV_RECORD_MOST - BODY)
		memcpy(s->room + BODY, bytes, n);
	free(bytes);
	return n <= PV_RECORD_MOST - BODY && pv_finish(s, rec, BODY + (uint32_t)n);
}

static bool scrub_deferred(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		COUNT = 16,
		FIRST = 24
	};

	if (!scrub_plain(s, rec))
		return false;
	pv_clean_chain(s, rec, FIRST, pd_rec64(rec, COUNT));
	if (s->places)
		pv_move_deferred(s, rec);
	return true;
}

static bool scrub_symbol(struct pv_scrubber *s, struct pd_record *rec)
{
	enum {
		KIND = 20,
		OF_BPF = 1 /* PERF_RECORD_KSYMBOL_TYPE_BPF: the name has the program's tag */
	};
	bool is_bpf = pd_fits(rec, KIND, 2) && pd_rec16(rec, KIND) == OF_BPF;
	bool shows = s->rules.of[PV_FUNCTION] == PV_KEEP && s->rules.of[PV_BPF] == PV_DROP;

	if (!scrub_text(s, rec, is_bpf && shows ? PV_BPF : PV_FUNCTION, s->name))
		return false;
	if (s->places)
		pv_move_symbol(s, rec);
	return true;
}

/* Keeps statistics of the scheduler, which are numbers; some versions have fewer of them. */
static bool scrub_schedstat(struct pv_scrubber *s, struct pd_record *rec)
{
	bool is_known = rec->size <= rec->layout->desc->extent.fixed;

	s->unreadable += !is_known;
	return is_known;
}

/* How the records of a type are scrubbed. */
static const struct {
	/* scrubs them, as pv_record(); NULL: see scrub_by_kind() */
	bool (*scrub)(struct pv_scrubber *s, struct pd_record *rec);
	enum pv_kind kind;
} types[PD_RECORD_TYPES] = {
	[PD_RECORD_MMAP] = { .scrub = scrub_mapping },
	[PD_RECORD_LOST] = { .scrub = scrub_plain },
	[PD_RECORD_COMM] = { .kind = PV_COMM },
	[PD_RECORD_EXIT] = { .scrub = scrub_plain },
	[PD_RECORD_THROTTLE] = { .scrub = scrub_plain },
	[PD_RECORD_UNTHROTTLE] = { .scrub = scrub_plain },
	[PD_RECORD_FORK] = { .scrub = scrub_plain },
	[PD_RECORD_READ] = { .scrub = scrub_plain },
	[PD_RECORD_SAMPLE] = { .scrub = pv_sample },
	[PD_RECORD_MMAP2] = { .scrub = scrub_mapping },
	[PD_RECORD_AUX] = { .kind = PV_AUX },
	[PD_RECORD_ITRACE_START] = { .kind = PV_AUX },
	[PD_RECORD_LOST_SAMPLES] = { .scrub = scrub_plain },
	[PD_RECORD_SWITCH] = { .scrub = scrub_plain },
	[PD_RECORD_SWITCH_CPU_WIDE] = { .scrub = scrub_plain },
	[PD_RECORD_NAMESPACES] = { .kind = PV_NAMESPACE },
	[PD_RECORD_KSYMBOL] = { .scrub = scrub_symbol },
	[PD_RECORD_BPF_EVENT] = { .kind = PV_BPF },
	[PD_RECORD_CGROUP] = { .kind = PV_CGROUP },
	[PD_RECORD_TEXT_POKE] = { .kind = PV_CODE },
	[PD_RECORD_AUX_OUTPUT_HW_ID] = { .kind = PV_AUX },
	[PD_RECORD_CALLCHAIN_DEFERRED] = { .scrub = scrub_deferred },
	[PD_RECORD_HEADER_ATTR] = { .scrub = scrub_header_attr },
	[PD_RECORD_BUILD_ID] = { .scrub = scrub_build_id },
	[PD_RECORD_FINISHED_ROUND] = { .scrub = scrub_plain },
	[PD_RECORD_ID_INDEX] = { .scrub = scrub_plain },
	[PD_RECORD_AUXTRACE_INFO] = { .kind = PV_AUX },
	[PD_RECORD_AUXTRACE] = { .kind = PV_AUX },
	[PD_RECORD_AUXTRACE_ERROR] = { .kind = PV_AUX },
	[PD_RECORD_THREAD_MAP] = { .scrub = scrub_thread_map },
	[PD_RECORD_CPU_MAP] = { .scrub = scrub_plain },
	[PD_RECORD_STAT_CONFIG] = { .scrub = scrub_plain },
	[PD_RECORD_STAT] = { .scrub = scrub_plain },
	[PD_RECORD_STAT_ROUND] = { .scrub = scrub_plain },
	[PD_RECORD_EVENT_UPDATE] = { .scrub = scrub_update },
	[PD_RECORD_TIME_CONV] = { .scrub = scrub_plain },
	[PD_RECORD_HEADER_FEATURE] = { .scrub = scrub_header_feature },
	[PD_RECORD_FINISHED_INIT] = { .scrub = scrub_plain },
	[PD_RECORD_BPF_METADATA] = { .kind = PV_BPF },
	[PD_RECORD_SCHEDSTAT_CPU] = { .scrub = scrub_schedstat },
	[PD_RECORD_SCHEDSTAT_DOMAIN] = { .scrub = scrub_schedstat },
};

/*
 * Scrubs a record of a type without a function of its own: one that ends with a name of its
 * kind, or that is kept or left out as a whole.
 */
static bool scrub_by_kind(struct pv_scrubber *s, struct pd_record *rec, enum pv_kind kind)
{
	if (kind == PV_COMM)
		return scrub_text(s, rec, kind, s->comm);
	if (kind == PV_CGROUP)
		return scrub_text(s, rec, kind, s->path);
	return pv_meet(s, kind, rec->size);
}

/* Returns whether the writer makes records of this type anew, so that there is none to tell. */
static bool is_made_anew(uint32_t type)
{
	return pd_is_compressed(type) || type == PD_RECORD_EVENT_TYPE ||
	       type == PD_RECORD_TRACING_DATA;
}

bool pv_record(struct pv_scrubber *s, struct pd_record *rec)
{
	bool stays = false;

	if (is_made_anew(rec->type))
		return false;
	if (rec->type < PD_RECORD_TYPES && types[rec->type].scrub)
		stays = types[rec->type].scrub(s, rec);
	else if (rec->type < PD_RECORD_TYPES && rec->layout->desc)
		stays = scrub_by_kind(s, rec, types[rec->type].kind);
	else
		pv_meet(s, PV_UNKNOWN, rec->size);
	s->left_out += !stays;
	return stays;
}
