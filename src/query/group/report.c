#include "report_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "perfdata/format/views.h"

#define ASK_EVERY  4096	      /* groups between two calls of ps_interrupted() */
#define DROP_EVERY (1u << 20) /* frames that are freed together */

/* Returns the text of a chain that is a key of its own; NULL without memory. */
static const struct pq_text *text_of_chain(struct pq_report_maker *m, uint32_t chain)
{
	const char *text;
	size_t n;

	if (!m->chain_texts)
		m->chain_texts = calloc(pq_chains_size(m->from->chains),
					sizeof(*m->chain_texts));
	if (m->chain_texts && !m->chain_texts[chain]) {
		text = pq_chains_text(m->from->chains, chain, &n);
		if (text && n <= UINT32_MAX)
			pq_report_set_text(&m->chain_texts[chain], m, text, n);
	}
	return m->chain_texts ? m->chain_texts[chain] : NULL;
}

/* Sets key `k` of m->to->words, number `at` of the query's. Returns false without memory. */
static bool move_key(struct pq_report_maker *m, size_t k, size_t g, size_t at)
{
	const uint64_t *words = pq_table_group(&m->from->table, g);
	uint8_t tag = pq_table_tags(&m->from->table, (uint64_t *)words)[at];
	const struct pq_text *text = NULL;
	const struct pd_event *event;

	if (tag == PQ_EVENT) {
		event = (const struct pd_event *)(uintptr_t)words[at];
		text = pq_texts_add_fixed(&m->to->texts, event->name,
					  (uint32_t)strlen(event->name));
	} else if (tag == PQ_TEXT) {
		text = pq_texts_move(&m->to->texts,
				     pq_text_of((const char *)(uintptr_t)words[at]));
	} else if (tag == PQ_CHAIN) {
		text = text_of_chain(m, (uint32_t)words[at]);
	} else {
		m->to->words[k] = words[at];
		pq_table_tags(&m->to->table, m->to->words)[k] = tag;
		return true;
	}
	m->to->words[k] = text ? (uintptr_t)text->bytes : 0;
	pq_table_tags(&m->to->table, m->to->words)[k] = PQ_TEXT;
	return text != NULL;
}

/* Returns the number of the event of a group of the query + 1; 0: it has none. */
static size_t event_of(const struct pq_report_maker *m, size_t g)
{
	struct pq_value value = { .type = PQ_NIL };

	if (m->report->event_key != SIZE_MAX)
		pq_groups_key(m->from, g, m->report->event_key, &value);
	return value.type == PQ_EVENT ? (size_t)value.event->number + 1 : 0;
}

/* Returns the place of an event; `number` is that of event_of(). */
static struct pq_report_member member_of(const struct pq_report_maker *m, size_t number)
{
	if (number < m->report->n_members)
		return m->report->members[number];
	return (struct pq_report_member){ (uint32_t)number, 0 };
}

/*
 * Sets the words of all that a group has beside its frames, and *owner to a number that all
 * groups with these words share. Returns false without memory.
 */
static bool set_owner(struct pq_report_maker *m, size_t g, size_t section, uint32_t *owner)
{
	struct pq_table *table = &m->to->table;
	size_t number;

	m->to->words[0] = section;
	pq_table_tags(table, m->to->words)[0] = PQ_INT;
	for (size_t i = 0; i < m->report->n_keys; i++) {
		const struct pq_report_key *key = &m->report->keys[i];

		if (key->from != PQ_FROM_KEY) {
			m->to->words[i + 1] = 0;
			pq_table_tags(table, m->to->words)[i + 1] = PQ_NIL;
		} else if (!move_key(m, i + 1, g, key->key)) {
			return false;
		}
	}
	if (!m->report->callers)
		return true;
	number = pq_table_search(&m->owners, m->to->words,
				 pq_table_hash(&m->owners, m->to->words));
	*owner = (uint32_t)number;
	return number < UINT32_MAX;
}

/* Sets the words of a frame beside those of its group. Returns false without memory. */
static bool set_part_words(struct pq_report_maker *m, const struct pq_report_part *part)
{
	uint8_t *tags = pq_table_tags(&m->to->table, m->to->words);

	for (size_t i = 0; i < m->report->n_keys; i++) {
		enum pq_report_from from = m->report->keys[i].from;
		uint64_t *word = &m->to->words[i + 1];

		if (from == PQ_FROM_KEY)
			continue;
		tags[i + 1] = PQ_TEXT;
		if (from == PQ_FROM_DSO) {
			*word = (uintptr_t)part->dso->bytes;
		} else if (from == PQ_FROM_SYMBOL) {
			*word = part->symbol;
			tags[i + 1] = part->type;
		} else {
			const char *name = pd_cpumode_name(part->mode);

			if (!m->modes[part->mode] &&
			    !pq_report_set_text(&m->modes[part->mode], m, name, strlen(name)))
				return false;
			*word = (uintptr_t)m->modes[part->mode]->bytes;
		}
	}
	return true;
}

/* Returns the group that has the words of a part; PQ_NO_GROUP: no memory. */
static size_t find_group(struct pq_report_maker *m, const struct pq_report_part *part)
{
	struct pq_table *table = &m->to->table;

	if (!set_part_words(m, part))
		return PQ_NO_GROUP;
	return pq_table_search(table, m->to->words, pq_table_hash(table, m->to->words));
}

static uint64_t *measure_at(const struct pq_report_maker *m, size_t group, size_t measure)
{
	return (uint64_t *)(pq_group_states(m->to, group) + m->to->measured[measure].at);
}

static void add_own(const struct pq_report_maker *m, size_t group, const uint64_t *measured)
{
	size_t n = m->report->n_measures;

	for (size_t i = 0; i < n; i++)
		pq_add_natural(measure_at(m, group, m->slot * n + i), measured[i]);
}

/*
 * Notes that frame `at` of the chain of group `g` is the row's, which has `stack` of that group
 * (UINT32_MAX: none yet). Returns the number of the stack; UINT32_MAX without memory.
 */
static uint32_t note_stack(struct pq_report_maker *m, size_t row, size_t g, size_t at,
			   uint32_t stack)
{
	struct pq_report_stacks *stacks = m->report->stacks;

	if (stack == UINT32_MAX) {
		if (stacks->n >= UINT32_MAX - 1 ||
		    !pb_reserve(stacks->list, stacks->n, stacks->room))
			return UINT32_MAX;
		stack = (uint32_t)stacks->n++;
		stacks->list[stack] = (struct pq_report_stack){ (uint32_t)row, (uint32_t)g,
								(uint32_t)at };
	} else if (stacks->from_caller) {
		stacks->list[stack].at = (uint32_t)at;
	}
	return stack;
}

/*
 * Adds group `g` of the query to the group of frame `at` of its chain. Returns false without
 * memory.
 */
static bool add_frame(struct pq_report_maker *m, uint32_t owner, struct pq_report_part *part,
		      size_t g, size_t at, const uint64_t *measured)
{
	struct latest *latest;
	bool is_new;

	if (part->owner != owner + 1) {
		size_t group = find_group(m, part);

		if (group == PQ_NO_GROUP ||
		    (group >= m->n_latest &&
		     !pb_extend(m->latest, m->n_latest, 2 * group + 64)))
			return false;
		part->owner = owner + 1;
		part->group = (uint32_t)group;
	}
	if (!at)
		add_own(m, part->group, measured);
	latest = &m->latest[part->group];
	is_new = latest->group != g + 1;
	if (is_new) {
		pq_add_natural(measure_at(m, part->group,
					  m->report->n_slots * m->report->n_measures + m->slot),
			       measured[1]);
		latest->group = (uint32_t)g + 1;
	}
	if (!m->report->stacks || m->slot)
		return true;
	latest->stack = note_stack(m, part->group, g, at, is_new ? UINT32_MAX : latest->stack);
	return latest->stack != UINT32_MAX;
}

/* Returns true if frame `i` of `n` counts. */
static bool is_counted(const struct pq_report *report, size_t i, size_t n)
{
	size_t max = report->max_frames;

	return !i || !max || (report->from_callee ? i < max : i + max >= n);
}

static bool add_frames(struct pq_report_maker *m, uint32_t owner, size_t g,
		       const uint64_t *measured, bool *is_named)
{
	const uint32_t *frames;
	struct pq_value chain;
	struct pq_report_part none;
	size_t n;

	pq_groups_key(m->from, g, m->from->grouping->n_keys - 1, &chain);
	if (chain.type != PQ_CHAIN) {
		*is_named = false;
		return pq_report_frame_part(m, NULL, &none) &&
		       (chain.type != PQ_TEXT || pq_report_name_others(m, &none)) &&
		       add_frame(m, owner, &none, g, 0, measured);
	}
	frames = pq_chains_frames(m->from->chains, (uint32_t)chain.u, &n);
	for (size_t i = 0; i < n; i++)
		if (is_counted(m->report, i, n) &&
		    (m->parts[frames[i]].is_named || !m->report->is_named) &&
		    !add_frame(m, owner, &m->parts[frames[i]], g, i, measured))
			return false;
	if (m->report->stacks && m->report->stacks->from_caller && !m->slot)
		m->report->stacks->list[m->latest[m->parts[frames[0]].group].stack].at =
			(uint32_t)n - 1;
	*is_named = m->parts[frames[0]].is_named;
	return true;
}

static bool add_to_section(struct pq_report_maker *m, size_t section, const uint64_t *measured,
			   bool is_named)
{
	struct pq_report_sections *sections = m->sections;
	struct pq_report_section *s;

	if (section >= sections->n &&
	    !pb_extend(sections->list, sections->n, section + (size_t)1))
		return false;
	s = &sections->list[section];
	s->samples += measured[0];
	s->unresolved += is_named ? 0 : measured[0];
	pq_add_natural(&s->period, measured[1]);
	return true;
}

/* Notes the chain of group `g`, whose row it is. Returns false without memory. */
static bool add_whole_stack(struct pq_report_maker *m, size_t g, size_t row)
{
	struct pq_value chain;
	size_t n;

	if (!m->report->stacks || m->slot)
		return true;
	pq_groups_key(m->from, g, m->from->grouping->n_keys - 1, &chain);
	if (chain.type != PQ_CHAIN)
		return true;
	pq_chains_frames(m->from->chains, (uint32_t)chain.u, &n);
	return note_stack(m, row, g, m->report->stacks->from_caller ? n - 1 : 0, UINT32_MAX) !=
	       UINT32_MAX;
}

/* Adds group `g` of the query. Returns false without memory. */
static bool add_group(struct pq_report_maker *m, size_t g)
{
	size_t event = event_of(m, g), group;
	struct pq_report_member member = member_of(m, event);
	uint64_t measured[PQ_REPORT_MEASURES];
	uint32_t owner = 0;
	bool is_named = false;
	struct pq_report_part part;

	m->slot = member.slot;
	if (!set_owner(m, g, member.section, &owner))
		return false;
	for (size_t i = 0; i < m->report->n_measures; i++) {
		struct pq_state state;

		pq_groups_state(m->from, g, i, &state);
		measured[i] = state.value.type == PQ_INT ? state.value.u : 0;
	}
	if (m->report->callers) {
		if (!add_frames(m, owner, g, measured, &is_named))
			return false;
	} else {
		if (!pq_report_group_part(m, g, &part))
			return false;
		group = find_group(m, &part);
		if (group == PQ_NO_GROUP || !add_whole_stack(m, g, group))
			return false;
		add_own(m, group, measured);
		is_named = part.is_named;
	}
	return add_to_section(m, event, measured, is_named);
}

/*
 * Finds what is shown of all frames, and frees what that takes, before there are groups. It
 * begins with the last frame, so that frames go while parts come. Returns false without memory.
 */
static bool find_parts(struct pq_report_maker *m)
{
	struct pq_chains *chains = pq_groups_chains(m->from);
	uint32_t n = chains ? pq_chains_n_frames(chains) : 0;

	m->parts = malloc((n + (size_t)1) * sizeof(*m->parts));
	for (uint32_t i = n; m->parts && i-- > 0;) {
		if (!pq_report_frame_part(m, pq_chains_frame(chains, i), &m->parts[i]))
			return false;
		if (i % DROP_EVERY == 0 && !m->report->stacks && !m->report->grows)
			pq_chains_drop_frames(chains, i);
	}
	return m->parts;
}

static bool make(struct pq_report_maker *m, struct ps_interrupt *interrupt)
{
	size_t size = pq_groups_size(m->from);

	for (size_t i = 0; i < m->report->n_keys; i++) {
		m->has_dso = m->has_dso || m->report->keys[i].from == PQ_FROM_DSO;
		m->has_symbol = m->has_symbol || m->report->keys[i].from == PQ_FROM_SYMBOL;
	}
	if (size >= UINT32_MAX ||
	    !pq_report_set_text(&m->unknown, m, PM_UNKNOWN, strlen(PM_UNKNOWN)) ||
	    !pq_table_init(&m->owners, m->to->table.n_keys, 0))
		return false;
	if (m->report->callers ? !find_parts(m) :
				 m->has_dso && m->report->system && !pq_report_read_binaries(m))
		return false;
	for (size_t g = 0; g < size; g++, m->sections->taken++) {
		if (g % ASK_EVERY == 0 && ps_interrupted(interrupt))
			break;
		if (!add_group(m, g))
			return false;
	}
	return true;
}

bool pq_report_make(const struct pq_report *report, struct pq_groups *from,
		    struct pq_groups *to, struct pq_report_sections *sections,
		    struct ps_interrupt *interrupt)
{
	struct pq_report_maker m = {
		.report = report, .from = from, .to = to, .sections = sections
	};
	bool made;

	*sections = (struct pq_report_sections){ 0 };
	if (report->grows)
		pq_texts_unmove(&from->texts);
	else
		pq_groups_seal(from);
	made = make(&m, interrupt);
	pq_groups_seal(to);
	pq_table_deinit(&m.owners);
	pm_string_pool_deinit(&m.binaries.strings);
	free(m.binaries.shown);
	free(m.chain_texts);
	free(m.latest);
	free(m.parts);
	return made;
}
