/* Resolves addresses of chains to functions, and numbers those as frames. */
#include <stdlib.h>
#include <string.h>

#include "chains_internal.h"
#include "stacks.h"

/*
 * Sets *tag to the hash of the mapping version of a process, or of the kernel. Returns false if
 * it is not known how long that holds.
 */
static bool tag_of(struct pq_chains *c, const struct pq_looked *looked, bool kernel,
		   uint64_t *tag)
{
	const struct pm_system *system = pm_resolver_system(looked->resolver);
	uint64_t taken = pm_system_revision(system) + 1, time = looked->context.time;
	uint64_t key = pm_key_of(looked->context.machine,
				 kernel ? PM_KERNEL : looked->context.pid);
	struct pq_version_memo *seen = &c->versions[(key ^ key >> 32) % PQ_VERSION_MEMOS];
	static const uint64_t head[PQ_HEAD_WORDS];
	struct pm_mapping_version version;

	if (seen->key != key || seen->taken != taken || time < seen->from ||
	    time > seen->last) {
		seen->known = pm_mapping_version_of(system, &looked->context, kernel, &version);
		seen->key = key;
		seen->taken = taken;
		seen->from = version.from;
		seen->last = version.last;
		seen->tag = pq_hash_of(&c->keys, head, version.words, version.n).low;
	}
	*tag = seen->tag;
	return seen->known;
}

void pq_look_when(struct pq_chains *c, struct pq_looked *looked)
{
	looked->known = tag_of(c, looked, false, &looked->tags[0]);
	looked->known &= tag_of(c, looked, true, &looked->tags[1]);
}

static uint32_t hash_alias(const struct pq_chains *c, const struct pq_alias *alias)
{
	return pb_hash_pair(&c->secret, (uintptr_t)alias->location,
			    alias->address ^ (uint64_t)alias->kind << 56 ^
				    (uint64_t)alias->mode << 60);
}

struct wanted {
	const struct pq_chains *chains;
	const struct pq_alias *alias;
};

static bool has_alias(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct pq_alias *a = &wanted->chains->aliases[item], *b = wanted->alias;

	return a->location == b->location && a->address == b->address && a->mode == b->mode &&
	       a->kind == b->kind;
}

static const char *binary_of(const struct pq_code *code)
{
	return code->dso ? code->dso->name : PM_UNKNOWN;
}

static bool is_same_name(const struct pq_code *a, const struct pq_code *b)
{
	return a->dso == b->dso || strcmp(binary_of(a), binary_of(b)) == 0;
}

/* Returns the hash of a binary: of its build-id, else of its name. */
static uint64_t hash_binary(const struct pq_chains *c, const struct ps_dso *dso)
{
	if (!dso)
		return 0;
	return pq_binary_hash(&c->secret, &dso->id.build_id,
			      (struct pd_text){ dso->name, strlen(dso->name) });
}

static bool is_same_binary(const struct ps_dso *a, const struct ps_dso *b)
{
	if (a == b || !a || !b)
		return a == b;
	return pq_binary_equal(&a->id.build_id, (struct pd_text){ a->name, strlen(a->name) },
			       &b->id.build_id, (struct pd_text){ b->name, strlen(b->name) });
}

static bool is_same_function(const struct ps_symbol *a, const struct ps_symbol *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->length == b->length && memcmp(a->name, b->name, a->length) == 0;
}

static bool is_mapped_kind(unsigned kind)
{
	return kind == PQ_CHAIN_MAPPED || kind == PQ_CHAIN_STARTS;
}

/*
 * Returns true if mode, binary and function of two frames are equal, as their kind has it: that
 * of frames with a text, or which are addresses, is 0.
 */
static bool is_same_code(const struct pq_code *a, const struct pq_code *b)
{
	if (!a->kind)
		return pm_frames_level((enum pd_cpumode)a->mode) ==
			       pm_frames_level((enum pd_cpumode)b->mode) &&
		       is_same_name(a, b);
	if (a->mode != b->mode || a->kind != b->kind)
		return false;
	if (is_mapped_kind(a->kind))
		return a->symbol == b->symbol && a->dso == b->dso;
	return is_same_function(a->symbol, b->symbol) &&
	       (a->kind >= PQ_CHAIN_CALLERS ? is_same_name(a, b) :
					      is_same_binary(a->dso, b->dso));
}

static uint64_t hash_code(const struct pq_chains *c, const struct pq_code *code)
{
	if (!code->kind)
		return pb_hash_bytes(&c->secret, binary_of(code), strlen(binary_of(code)));
	if (code->kind >= PQ_CHAIN_CALLERS && code->symbol)
		return code->mode ^
		       pb_hash_bytes(&c->secret, code->symbol->name, code->symbol->length);
	if (code->kind >= PQ_CHAIN_CALLERS && code->dso)
		return code->mode ^
		       pb_hash_bytes(&c->secret, code->dso->name, strlen(code->dso->name));
	if (is_mapped_kind(code->kind))
		return code->mode ^ (uintptr_t)code->dso;
	return code->mode ^ hash_binary(c, code->dso);
}

/* Sets c->last_code to the number of a frame's code. Returns false without memory. */
static bool find_code(struct pq_chains *c, const struct pq_frame *frame)
{
	const struct pq_code code = { frame->dso, frame->symbol, frame->mode, frame->kind };
	size_t n = c->codes.n;
	uint32_t number;

	if (n && memcmp(pb_set_at(&c->codes, c->last_code), &code, sizeof(code)) == 0)
		return true;
	if (!pb_reserve(c->code_hashes, n, c->code_hashes_room))
		return false;
	number = pb_set_add(&c->codes, &code);
	if (number == UINT32_MAX)
		return false;
	if (number == n)
		c->code_hashes[n] = hash_code(c, &code);
	c->last_code = number;
	return true;
}

/* Puts a frame after the last one, of which it is not one yet. Returns false without memory. */
static bool put_frame(struct pq_chains *c, const struct pq_frame *frame)
{
	if (!pb_reserve(c->frames, c->n_frames, c->frames_room) || !find_code(c, frame))
		return false;
	c->frames[c->n_frames] = (struct pq_kept_frame){ frame->address, c->last_code,
							 frame->text };
	return true;
}

uint32_t pq_frame_of_text(struct pq_chains *c, unsigned kind, struct pd_text text,
			  const struct pq_frame *frame)
{
	struct pm_string_pool *texts = &c->texts[kind];
	size_t n = texts->n;
	uint32_t number;

	if (!pb_reserve(c->by_text[kind], n, c->by_text_room[kind]) || !put_frame(c, frame))
		return UINT32_MAX;
	number = pm_string_pool_add(texts, text);
	if (number == PM_NO_STRING)
		return UINT32_MAX;
	if (number == n) {
		c->frames[c->n_frames].text = number;
		c->by_text[kind][n] = (uint32_t)c->n_frames++;
	}
	return c->by_text[kind][number];
}

/* Returns true if a frame equals the new one, which lies after the last. */
static bool is_new_frame(const void *arg, uint32_t item)
{
	const struct pq_chains *c = arg;
	const struct pq_kept_frame *a = &c->frames[item], *b = &c->frames[c->n_frames];

	return a->address == b->address && a->text == b->text &&
	       (a->code == b->code ||
		is_same_code(pq_code_at(c, item), pq_code_at(c, (uint32_t)c->n_frames)));
}

/* Returns the number of a frame in `map`, which it is added to. */
static uint32_t find_frame(struct pq_chains *c, struct pb_map *map,
			   const struct pq_frame *frame)
{
	uint64_t code;

	if (!put_frame(c, frame))
		return UINT32_MAX;
	code = c->code_hashes[c->last_code] ^ (uint64_t)frame->text << 8;
	return pb_map_intern(map, pb_hash_pair(&c->secret, frame->address, code), is_new_frame,
			     c, (uint32_t)c->n_frames);
}

uint32_t pq_frame_of_address(struct pq_chains *c, const struct pq_frame *frame)
{
	uint32_t number = find_frame(c, &c->addresses, frame);

	c->n_frames += number == c->n_frames;
	return number;
}

/*
 * Notes where a frame of PQ_CHAIN_VALUES was met, if that is earlier than what is known: its ip
 * is shown. Returns false without memory.
 */
static bool note_seen(struct pq_chains *c, uint32_t number, bool is_new,
		      const struct pq_frame_value *seen)
{
	size_t n = c->n_frame_values, gap = number >= n ? number - n : 0;

	if (is_new) {
		if (!pb_reserve_more(c->frame_values, n, gap + 1, c->frame_values_room))
			return false;
		memset(c->frame_values + n, 0, gap * sizeof(*c->frame_values));
		c->n_frame_values = number + (size_t)1;
	}
	if (is_new || pq_is_earlier(&seen->first, &c->frame_values[number].first))
		c->frame_values[number] = *seen;
	return true;
}

uint32_t pq_frame_of_value(struct pq_chains *c, const struct pq_frame *frame,
			   const struct pq_frame_value *seen)
{
	uint32_t number = (uint32_t)c->n_frames;
	uint32_t found = find_frame(c, &c->values, frame);

	if (found == UINT32_MAX ||
	    (frame->kind == PQ_CHAIN_VALUES && !note_seen(c, found, found == number, seen)))
		return UINT32_MAX;
	c->n_frames += found == number;
	return found;
}

uint32_t pq_frame_of_exact(struct pq_chains *c, const struct pq_looked *looked,
			   struct pq_frame *frame, const struct pd_frame *at)
{
	struct pq_exact exact = { at->ip, *pm_branch_of(looked->resolver, at) };

	if (!c->exact.size)
		pb_set_init(&c->exact, sizeof(exact));
	frame->kind = PQ_CHAIN_EXACT;
	frame->text = pb_set_add(&c->exact, &exact);
	return frame->text == UINT32_MAX ? UINT32_MAX : pq_frame_of_value(c, frame, NULL);
}

/*
 * Returns the number of the one frame that a kind of frames has for all addresses of a cpumode
 * where nothing was mapped; UINT32_MAX: no memory. Broken call chains have very many of them.
 */
static uint32_t unmapped_frame(struct pq_chains *c, uint8_t kind, uint64_t mode)
{
	const struct pq_frame frame = { .mode = (uint8_t)mode,
					.kind = kind,
					.text = PQ_NO_TEXT };
	uint32_t *known = &c->unmapped[is_mapped_kind(kind)][mode & PD_MISC_CPUMODE];

	if (!*known)
		*known = pq_frame_of_value(c, &frame, NULL) + 1;
	return *known - 1;
}

/* Returns true if one address of binaries of that name may be several functions. */
static bool has_several_functions(const struct ps_dso *dso)
{
	return dso->jitdump || (dso->id.file.is_ambiguous && !dso->id.build_id.size);
}

uint32_t pq_chain_of_binary(struct pq_chains *c, struct ps_dso *dso,
			    const struct pq_origin *first)
{
	const struct pq_frame frame = { .dso = dso,
					.kind = PQ_CHAIN_MAPPED,
					.text = PQ_NO_TEXT };
	uint32_t number = pq_frame_of_value(c, &frame, NULL);

	return number == UINT32_MAX ? PQ_CHAIN_NO_MEMORY :
				      pq_chain_intern(c, PQ_CHAIN_MAPPED, &number, 1, first);
}

/* Returns the number of the frame of an address as a value. */
static uint32_t value_at(struct pq_chains *c, const struct pq_looked *looked,
			 const struct pd_frame *at, const struct pm_map *map)
{
	bool by_function = looked->kind >= PQ_CHAIN_CALLERS;
	bool is_start = looked->kind == PQ_CHAIN_STARTS;
	struct pq_frame frame = {
		.dso = map ? map->dso : NULL,
		.address = map ? pm_map_address(map, at->ip) : at->ip,
		.mode = (uint8_t)at->mode,
		.kind = (uint8_t)(by_function ? PQ_CHAIN_CALLERS : looked->kind),
		.text = PQ_NO_TEXT,
	};
	const struct pq_frame_value seen = { .ip = at->ip, .first = pq_origin_of(looked->rec) };
	bool is_one = looked->kind == PQ_CHAIN_FUNCTIONS;

	if (!map && (is_one || is_mapped_kind(frame.kind)))
		return unmapped_frame(c, frame.kind, at->mode);
	if (frame.dso && (by_function || is_start || has_several_functions(frame.dso)))
		frame.symbol = pm_symbol_at(looked->resolver, frame.dso, frame.address,
					    looked->context.time);
	if (looked->kind == PQ_CHAIN_EXACT)
		return pq_frame_of_exact(c, looked, &frame, at);
	if (is_one || (frame.symbol && by_function))
		frame.address = 0;
	else if (is_start)
		frame.address = frame.symbol ? frame.symbol->start : 0;
	return pq_frame_of_value(c, &frame, &seen);
}

/*
 * Returns what tells a frame apart before its text is made: for a stack neither address nor
 * mode.
 */
static struct pq_alias alias_of(const struct pq_looked *looked,
				const struct pm_location *location,
				const struct pq_frame *frame)
{
	struct pq_alias alias = {
		.location = frame->symbol ? (const void *)frame->symbol : frame->dso,
		.kind = (uint8_t)looked->kind,
	};

	if (looked->kind == PQ_CHAIN_FRAMES) {
		alias.address = frame->address;
		alias.mode = frame->mode;
	} else if (looked->kind == PQ_CHAIN_ANNOTATED) {
		alias.mode = (uint8_t)pm_stack_letter(location, (enum pd_cpumode)frame->mode);
	}
	return alias;
}

static bool text_of(const struct pq_looked *looked, const struct pm_location *location,
		    const struct pq_frame *frame, const struct pq_alias *alias,
		    struct pd_text *text)
{
	switch (looked->kind) {
	case PQ_CHAIN_STACK:
	case PQ_CHAIN_ANNOTATED:
		return pm_stack_name(looked->resolver, location, (char)alias->mode, text);
	case PQ_CHAIN_FRAMES:
		return pm_frames_line(looked->resolver, location, (enum pd_cpumode)frame->mode,
				      text);
	default:
		*text = (struct pd_text){ location->symbol->name, location->symbol->length };
		return true;
	}
}

/* Returns the number of a frame that was resolved, and is not known by its address. */
static uint32_t frame_of(struct pq_chains *c, const struct pq_looked *looked,
			 const struct pm_location *location, uint64_t mode)
{
	const struct pq_frame frame = {
		.dso = location->map ? location->map->dso : NULL,
		.symbol = location->symbol,
		.address = location->symbol ? 0 : location->address,
		.mode = (uint8_t)mode,
		.text = PQ_NO_TEXT,
	};
	struct pq_alias alias = alias_of(looked, location, &frame);
	const struct wanted wanted = { c, &alias };
	uint32_t hash = hash_alias(c, &alias);
	const struct pb_slot *slot;
	struct pd_text text;

	if (looked->kind == PQ_SYMBOLS && !location->symbol)
		return PQ_NO_SYMBOL;
	if (looked->kind == PQ_CHAIN_FRAMES && !location->symbol)
		return pq_frame_of_address(c, &frame);
	slot = pb_map_find(&c->by_place, hash, has_alias, &wanted);
	if (slot && slot->item)
		return c->aliases[slot->item - 1].number;
	if (!text_of(looked, location, &frame, &alias, &text))
		return UINT32_MAX;
	alias.number = pq_frame_of_text(c, looked->kind, text, &frame);
	if (alias.number == UINT32_MAX ||
	    !pb_reserve(c->aliases, c->n_aliases, c->aliases_room) ||
	    !pb_map_add(&c->by_place, hash, (uint32_t)c->n_aliases))
		return UINT32_MAX;
	c->aliases[c->n_aliases++] = alias;
	return alias.number;
}

/*
 * Returns where the frame of an address is remembered, and sets *tag: frames of one address
 * and tag are one.
 */
static inline struct pq_seen_frame *place_of(struct pq_chains *c,
					     const struct pq_looked *looked,
					     const struct pd_frame *at, uint64_t *tag)
{
	*tag = looked->tags[at->mode == PD_CPUMODE_KERNEL] +
	       ((uint64_t)at->branch << 32 | at->mode << 8 | looked->kind) * c->keys.factors[1];
	return &c->seen[pb_scatter(at->ip ^ *tag) >> 40 & (PQ_SEEN_FRAMES - 1)];
}

static inline bool is_seen(const struct pq_looked *looked, const struct pq_seen_frame *seen,
			   uint64_t ip, uint64_t tag)
{
	return looked->known && seen->ip == ip && seen->tag == tag && seen->number;
}

uint32_t pq_frame_at(struct pq_chains *c, struct pq_looked *looked, const struct pd_frame *at)
{
	uint64_t tag;
	struct pq_seen_frame *seen = place_of(c, looked, at, &tag);
	struct pm_location location;
	uint32_t number;

	if (is_seen(looked, seen, at->ip, tag))
		return seen->number - 1;
	looked->context.mode = (enum pd_cpumode)at->mode;
	if (pq_is_value_kind(looked->kind)) {
		location.map = pm_map_at(pm_resolver_system(looked->resolver), &looked->context,
					 at->ip);
		number = value_at(c, looked, at, location.map);
	} else {
		pm_location_at(looked->resolver, &looked->context, at->ip, &location);
		number = frame_of(c, looked, &location, at->mode);
	}
	if (location.map && location.map->dso->jitdump)
		looked->by_time = true;
	else if (looked->known && number != UINT32_MAX)
		*seen = (struct pq_seen_frame){ at->ip, tag, number + 1, false };
	return number;
}

/*
 * Adds the functions that were inlined at an address, as frames, to numbers[room]. Returns
 * their number.
 */
static size_t add_inlined(struct pq_chains *c, struct pq_looked *looked,
			  const struct pd_frame *at, uint32_t *numbers, size_t room)
{
	const struct ps_symbol *symbols[PM_MAX_FRAMES];
	const struct pm_map *map;
	size_t n;

	looked->context.mode = (enum pd_cpumode)at->mode;
	map = pm_map_at(pm_resolver_system(looked->resolver), &looked->context, at->ip);
	n = pm_inlined_at(looked->resolver, map, at->ip, symbols, room);
	for (size_t i = 0; i < n; i++) {
		struct pq_frame frame = {
			.dso = map->dso,
			.symbol = symbols[i],
			.mode = (uint8_t)at->mode,
			.kind = PQ_CHAIN_CALLERS,
			.text = PQ_NO_TEXT,
		};

		if (looked->kind == PQ_CHAIN_EXACT) {
			frame.address = pm_map_address(map, at->ip);
			numbers[i] = pq_frame_of_exact(c, looked, &frame, at);
		} else {
			numbers[i] = pq_frame_of_value(c, &frame, NULL);
		}
	}
	return n;
}

size_t pq_frames_at(struct pq_chains *c, struct pq_looked *looked, const struct pd_frame *at,
		    uint32_t *numbers, size_t room)
{
	uint64_t tag;
	struct pq_seen_frame *seen = place_of(c, looked, at, &tag);
	size_t n;

	if (is_seen(looked, seen, at->ip, tag) && seen->is_alone) {
		numbers[0] = seen->number - 1;
		return 1;
	}
	n = add_inlined(c, looked, at, numbers, room - 1);
	numbers[n] = pq_frame_at(c, looked, at);
	if (!n && room > 1 && is_seen(looked, seen, at->ip, tag))
		seen->is_alone = true;
	return n + 1;
}
