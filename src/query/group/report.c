#include "report_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define MOST_OWNERS (UINT32_MAX - 8) /* numbers of owners are below */

#define ASK_EVERY 4096 /* groups between two calls of ps_interrupted() */

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
	return number < MOST_OWNERS;
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
 * Notes that frame `at` of the chain of group `g` is the row's. Returns false without memory.
 */
static bool note_stack(struct pq_report_maker *m, size_t row, size_t g, size_t at)
{
	struct pq_report_stacks *stacks = m->report->stacks;
	uint32_t latest;

	if (row >= stacks->n_rows && !pb_extend(stacks->of_row, stacks->n_rows, 2 * row + 64))
		return false;
	latest = stacks->of_row[row];
	if (latest && stacks->list[latest - 1].group == g) {
		if (stacks->from_caller)
			stacks->list[latest - 1].at = (uint32_t)at;
		return true;
	}
	if (stacks->n >= UINT32_MAX - 1 || !pb_reserve(stacks->list, stacks->n, stacks->room))
		return false;
	stacks->list[stacks->n++] = (struct pq_report_stack){ latest, (uint32_t)g,
							      (uint32_t)at };
	stacks->of_row[row] = (uint32_t)stacks->n;
	return true;
}

/*
 * Returns the measure of a row that has the periods (0), or the other sum (1), of all samples
 * that it is in the chain of.
 */
static size_t place_of_total(const struct pq_report_maker *m, size_t which)
{
	return m->report->n_slots * (m->report->n_measures + which) + m->slot;
}

/* Returns true if a row weighs enough to have stacks. */
static bool has_stacks(const struct pq_report_maker *m, size_t row)
{
	size_t event = pq_table_group(&m->to->table, row)[0];

	return (double)*measure_at(m, row, place_of_total(m, 0)) >=
	       m->report->stacks->least * (double)m->sections->list[event].sums[1];
}

/* A group of the query that is being taken. */
struct taken {
	size_t g;
	uint32_t owner;
	const uint64_t *measured; /* its measures, to be added */
};

/*
 * Adds a group to a row, or notes its stack, as the pass has it: to that of frame `at` of its
 * chain. Returns false without memory.
 */
static bool add_to_row(struct pq_report_maker *m, const struct taken *taken, size_t row,
		       size_t at)
{
	if (m->pass == PQ_PASS_STACKS)
		return !has_stacks(m, row) || note_stack(m, row, taken->g, at);
	if (row >= m->n_latest && !pb_extend(m->latest, m->n_latest, 2 * row + 64))
		return false;
	if (m->latest[row] == taken->g + 1)
		return true;
	pq_add_natural(measure_at(m, row, place_of_total(m, 0)), taken->measured[1]);
	if (m->report->also)
		pq_add_natural(measure_at(m, row, place_of_total(m, 1)),
			       taken->measured[m->report->also]);
	m->latest[row] = (uint32_t)taken->g + 1;
	return true;
}

/*
 * Takes a group for `frame`, number `at` of its chain, as the pass has it. `is_own`: it is that
 * of the callee. Returns false without memory.
 */
static bool take_frame(struct pq_report_maker *m, const struct taken *taken, uint32_t frame,
		       size_t at, bool is_own)
{
	size_t row;

	if (m->pass == PQ_PASS_PARTS)
		return pq_report_meet_frame(m, frame);
	row = pq_report_find_row(m, taken->owner, frame);
	if (row == PQ_NO_GROUP || !add_to_row(m, taken, row, at))
		return false;
	if (is_own && m->pass == PQ_PASS_ROWS)
		add_own(m, row, taken->measured);
	return true;
}

/* Returns true if a frame is shown by the name of its function. */
static bool is_frame_named(const struct pq_report_maker *m, uint32_t frame)
{
	return m->has_symbol && pq_chains_frame(m->from->chains, frame).symbol;
}

/*
 * Takes a group for its frames. Sets *is_named to whether its callee has a name. Returns false
 * without memory.
 */
static bool take_frames(struct pq_report_maker *m, const struct taken *taken, bool *is_named)
{
	const uint32_t *frames;
	struct pq_value chain;
	uint32_t leaf;
	size_t n;

	pq_groups_key(m->from, taken->g, m->from->grouping->n_keys - 1, &chain);
	*is_named = false;
	if (chain.type != PQ_CHAIN)
		return take_frame(m, taken, m->n_frames + (chain.type == PQ_TEXT), 0, true);
	frames = pq_chains_frames(m->from->chains, (uint32_t)chain.u, &n);
	leaf = pq_chains_leaf(m->from->chains, (uint32_t)chain.u);
	*is_named = is_frame_named(m, leaf);
	if (!take_frame(m, taken, leaf, 0, true))
		return false;
	for (size_t i = leaf == frames[0]; i < n && !m->report->is_own; i++) {
		if ((!i ||
		     pq_counts_frame(i, n, m->report->max_frames, m->report->from_callee)) &&
		    !take_frame(m, taken, frames[i], i, false))
			return false;
	}
	/* the row of the callee has the whole stack */
	return m->pass != PQ_PASS_STACKS || !m->report->stacks->from_caller || !n ||
	       take_frame(m, taken, leaf, n - 1, false);
}

static bool add_to_section(struct pq_report_maker *m, size_t section, const uint64_t *measured,
			   bool is_named)
{
	struct pq_report_sections *sections = m->sections;
	struct pq_report_section *s;

	if (section >= sections->room &&
	    !pb_extend(sections->list, sections->room, 2 * section + 8))
		return false;
	if (section >= sections->n)
		sections->n = section + 1;
	s = &sections->list[section];
	s->samples += measured[0];
	s->unresolved += is_named ? 0 : measured[0];
	for (size_t i = 1; i < m->report->n_measures; i++)
		pq_add_natural(&s->sums[i], measured[i]);
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
	return !n || note_stack(m, row, g, m->report->stacks->from_caller ? n - 1 : 0);
}

/* Adds group `g` of the query, without callers. Returns false without memory. */
static bool add_to_only_row(struct pq_report_maker *m, size_t g, const uint64_t *measured,
			    bool *is_named)
{
	struct pq_table *table = &m->to->table;
	struct pq_report_part part;
	size_t row;

	if (!pq_report_group_part(m, g, &part) || !pq_report_set_words(m, &part))
		return false;
	row = pq_table_search(table, m->to->words, pq_table_hash(table, m->to->words));
	if (row == PQ_NO_GROUP || !add_whole_stack(m, g, row))
		return false;
	add_own(m, row, measured);
	*is_named = part.is_named;
	return true;
}

/* Adds group `g` of the query. Returns false without memory. */
static bool add_group(struct pq_report_maker *m, size_t g)
{
	size_t event = event_of(m, g);
	struct pq_report_member member = member_of(m, event);
	uint64_t measured[PQ_REPORT_MEASURES];
	struct taken taken = { .g = g, .measured = measured };
	bool is_named = false;

	m->slot = member.slot;
	if (!set_owner(m, g, member.section, &taken.owner))
		return false;
	for (size_t i = 0; i < m->report->n_measures; i++) {
		struct pq_state state;

		pq_groups_state(m->from, g, i, &state);
		measured[i] = state.value.type == PQ_INT ? state.value.u : 0;
	}
	return (m->report->callers ? take_frames(m, &taken, &is_named) :
				     add_to_only_row(m, g, measured, &is_named)) &&
	       add_to_section(m, event, measured, is_named);
}

/* Notes the stacks of group `g` of the query. Returns false without memory. */
static bool note_stacks(struct pq_report_maker *m, size_t g)
{
	struct pq_report_member member = member_of(m, event_of(m, g));
	struct taken taken = { .g = g };
	bool is_named;

	m->slot = member.slot;
	return m->slot || (set_owner(m, g, member.section, &taken.owner) &&
			   take_frames(m, &taken, &is_named));
}

/* Takes group `g` of the query as the pass has it. Returns false without memory. */
static bool take_group(struct pq_report_maker *m, size_t g)
{
	bool is_named;

	if (m->pass == PQ_PASS_PARTS)
		return take_frames(m, &(struct taken){ .g = g }, &is_named);
	return m->pass == PQ_PASS_ROWS ? add_group(m, g) : note_stacks(m, g);
}

/*
 * Takes the first *n groups of the query; sets *n to how many they were, if `interrupt` ended
 * it. Returns false without memory.
 */
static bool take_groups(struct pq_report_maker *m, enum pq_report_pass pass, size_t *n,
			struct ps_interrupt *interrupt)
{
	m->pass = pass;
	for (size_t g = 0; g < *n; g++) {
		if (g % ASK_EVERY == 0 && ps_interrupted(interrupt))
			*n = g;
		else if (!take_group(m, g))
			return false;
	}
	return true;
}

struct pq_report_frames pq_report_frames_of(const struct pq_groups *groups,
					    const struct pq_report_stack *stack,
					    bool from_caller, size_t max)
{
	struct pq_report_frames frames = { 0 };
	size_t n, from = stack->at;
	struct pq_value chain;

	pq_groups_key(groups, stack->group, groups->grouping->n_keys - 1, &chain);
	if (chain.type != PQ_CHAIN)
		return frames;
	frames.all = pq_chains_frames(groups->chains, (uint32_t)chain.u, &n);
	if (from_caller) {
		from = max && n > max ? n - max : 0;
		n = stack->at + (size_t)1;
	} else {
		n = max && n > max ? max : n;
	}
	frames.n = n > from ? n - from : 0;
	frames.first = from_caller ? from + frames.n : from;
	return frames;
}

/* Adds the branches of a stack to the sums of its row. */
static void add_branches_of(const struct pq_report_maker *m, size_t row,
			    const struct pq_report_stack *stack)
{
	const struct pq_report_stacks *stacks = m->report->stacks;
	struct pq_report_frames frames = pq_report_frames_of(m->from, stack,
							     stacks->from_caller,
							     m->report->max_frames);
	const uint32_t *numbers = frames.all + frames.first -
				  (stacks->from_caller ? frames.n : 0);
	size_t at = m->to->grouping->n_measures - PQ_BRANCH_SUMS;
	uint64_t sums[PQ_BRANCH_SUMS] = { 0 };
	struct pq_state samples;

	for (size_t i = 0; i < frames.n; i++) {
		const struct pq_exact *exact = pq_chains_exact(m->from->chains, numbers[i]);

		if (!exact || (exact->branch.end != PM_BRANCH_TARGET &&
			       exact->branch.end != PM_BRANCH_SOURCE))
			continue;
		sums[PQ_BRANCH_ENDS]++;
		sums[PQ_BRANCH_PREDICTED] += exact->branch.predicted;
		sums[PQ_BRANCH_ABORTED] += exact->branch.aborted;
		sums[PQ_BRANCH_CYCLES] += exact->branch.cycles;
	}
	pq_groups_state(m->from, stack->group, 0, &samples);
	for (size_t i = 0; i < PQ_BRANCH_SUMS; i++)
		pq_add_natural(measure_at(m, row, at + i), sums[i] * samples.value.u);
}

static void add_branches(const struct pq_report_maker *m)
{
	const struct pq_report_stacks *stacks = m->report->stacks;

	for (size_t row = 0; stacks && row < stacks->n_rows; row++)
		for (uint32_t i = stacks->of_row[row]; i; i = stacks->list[i - 1].next)
			add_branches_of(m, row, &stacks->list[i - 1]);
}

/* Notes what the keys are made of. */
static void look_at_keys(struct pq_report_maker *m)
{
	for (size_t i = 0; i < m->report->n_keys; i++) {
		enum pq_report_from from = m->report->keys[i].from;

		m->has_dso = m->has_dso || from == PQ_FROM_DSO;
		m->has_symbol = m->has_symbol || from == PQ_FROM_SYMBOL;
		m->has_srcline = m->has_srcline || from == PQ_FROM_SRCLINE;
		m->has_mode = m->has_mode || from == PQ_FROM_MODE;
	}
}

static bool make(struct pq_report_maker *m, struct ps_interrupt *interrupt)
{
	size_t size = pq_groups_size(m->from), *n = &m->sections->taken;
	bool callers = m->report->callers;

	look_at_keys(m);
	if (size >= UINT32_MAX ||
	    !pq_report_set_text(&m->unknown, m, PM_UNKNOWN, strlen(PM_UNKNOWN)) ||
	    !pq_table_init(&m->owners, m->to->table.n_keys, 0))
		return false;
	if (callers ? !pq_report_begin_frames(m) :
		      m->has_dso && m->report->system && !pq_report_read_binaries(m))
		return false;
	*n = size;
	if (callers && !take_groups(m, PQ_PASS_PARTS, n, interrupt))
		return false;
	pq_report_have_met_frames(m);
	/* groups whose frames were met are added in any case */
	if (!take_groups(m, PQ_PASS_ROWS, n, *n < size ? NULL : interrupt) ||
	    (callers && m->report->stacks && !take_groups(m, PQ_PASS_STACKS, n, NULL)))
		return false;
	if (m->report->sums_branches)
		add_branches(m);
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
	if (!report->grows)
		pq_groups_seal(from);
	made = make(&m, interrupt);
	pq_groups_seal(to);
	/* the query's groups may be moved to others while, or after, this report is freed */
	if (report->grows)
		pq_texts_unmove(&from->texts);
	pq_table_deinit(&m.owners);
	pm_string_pool_deinit(&m.binaries.strings);
	free(m.binaries.shown);
	free(m.chain_texts);
	free(m.latest);
	pq_report_end_frames(&m);
	return made;
}
