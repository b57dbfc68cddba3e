/* Makes a profile of groups: its events, threads and entries. */
#define _GNU_SOURCE /* qsort_r */

#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/helpers.h"
#include "base/string_builder.h"
#include "base/vector.h"
#include "perfdata/format/format.h"
#include "perfdata/format/print_scalar.h"

uint32_t pe_text_add(struct pe_profile *p, struct pd_text text)
{
	struct pd_text valid = { 0 };

	if (!p->asked->folded) {
		valid = pd_valid_text(&p->scratch, text);
	} else {
		pb_string_clear(&p->scratch);
		if (pb_string_reserve(&p->scratch, text.n))
			p->scratch.n = pm_frame_name(text, NULL, p->scratch.p);
		valid = (struct pd_text){ pb_string_end(&p->scratch), p->scratch.n };
	}
	return valid.p ? pm_string_pool_add(&p->texts, valid) : PE_NONE;
}

/* Sets *out to a key of a group; PQ_NIL if the groups do not have it. */
static void get_key(const struct pe_profile *p, size_t group, size_t key, struct pq_value *out)
{
	out->type = PQ_NIL;
	if (key != SIZE_MAX)
		pq_groups_key(p->groups, group, key, out);
}

/* Returns the position of an event in profile->events; PE_NONE: no memory. */
static uint32_t find_event(struct pe_profile *p, const struct pd_event *event)
{
	static const char unknown[] = "unknown event";
	const char *name = event ? event->name : unknown;
	uint32_t number = event ? event->number : UINT32_MAX, i = 0;
	struct pe_event *added;

	while (i < p->n_events && p->events[i].number != number)
		i++;
	if (i < p->n_events)
		return i;
	if (!pb_reserve(p->events, p->n_events, p->events_room))
		return PE_NONE;
	added = &p->events[p->n_events++];
	*added = (struct pe_event){
		.number = number,
		.type = event ? event->attr.type : UINT32_MAX,
		.config = event ? event->attr.config : 0,
	};
	added->name = pe_text_add(p, (struct pd_text){ name, strlen(name) });
	added->is_tracepoint = event && event->attr.type == PD_TYPE_TRACEPOINT;
	added->is_clock = event && pd_attr_is_clock(&event->attr);
	added->is_time = added->is_clock && p->asked->sums;
	if (event && !(event->attr.flags & PD_ATTR_FREQ))
		added->period = event->attr.sample_period;
	added->samples_time = event && pd_attr_samples_time(&event->attr);
	return added->name == PE_NONE ? PE_NONE : i;
}

/* Adds an id and what separates it. */
static void add_head_id(struct pb_string *text, char separator, int32_t id)
{
	if (id == PE_NO_ID)
		pb_string_add(text, (char[]){ separator, '?' }, 2);
	else
		pb_string_format(text, "%c%d", separator, id);
}

/*
 * Returns the number of the name of a thread whose command is `comm`: with the ids that are
 * asked for. PE_NONE: no memory.
 */
static uint32_t name_head(struct pe_profile *p, struct pd_text comm,
			  const struct pe_thread *thread)
{
	struct pb_string text = { 0 };
	uint32_t number = PE_NONE;

	pb_string_add(&text, comm.p, comm.n);
	add_head_id(&text, '-', thread->pid);
	if (p->asked->head == PE_HEAD_TID)
		add_head_id(&text, '/', thread->tid);
	if (pb_string_end(&text))
		number = pe_text_add(p, (struct pd_text){ text.p, text.n });
	pb_string_deinit(&text);
	return number;
}

static uint32_t find_thread(struct pe_profile *p, size_t group)
{
	const struct pe_keys *keys = &p->asked->keys;
	struct pe_thread thread = { PE_NO_ID, PE_NO_ID, PE_NONE };
	struct pq_value pid, tid, comm;

	get_key(p, group, keys->pid, &pid);
	get_key(p, group, keys->tid, &tid);
	get_key(p, group, keys->comm, &comm);
	if (pid.type == PQ_INT)
		thread.pid = (int32_t)pid.i;
	if (tid.type == PQ_INT)
		thread.tid = (int32_t)tid.i;
	if (comm.type == PQ_TEXT || p->asked->head != PE_HEAD_COMM) {
		struct pd_text text = { PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 };

		if (comm.type == PQ_TEXT)
			text = (struct pd_text){ comm.p, comm.size };
		thread.comm = p->asked->head == PE_HEAD_COMM ? pe_text_add(p, text) :
							       name_head(p, text, &thread);
		if (thread.comm == PE_NONE)
			return PE_NONE;
	}
	return pb_set_add(&p->threads, &thread);
}

/*
 * Fills entry `g` from the group of that number, without a time. Returns false without memory.
 */
static bool fill_entry(struct pe_profile *p, size_t g)
{
	struct pe_entry *entry = &p->entries[g];
	struct pq_value event, chain, cpu;
	struct pq_state state;

	get_key(p, g, p->asked->keys.event, &event);
	get_key(p, g, p->asked->keys.chain, &chain);
	entry->time = 0;
	get_key(p, g, p->asked->keys.cpu, &cpu);
	entry->cpu = cpu.type == PQ_INT ? (uint32_t)cpu.u : PE_NONE;
	entry->event = find_event(p, event.type == PQ_EVENT ? event.event : NULL);
	entry->thread = find_thread(p, g);
	entry->stack = chain.type == PQ_CHAIN ? p->chain_numbers[chain.u] : PE_NONE;
	pq_groups_state(p->groups, g, 0, &state);
	entry->count = entry->weight = state.value.u;
	if (p->asked->sums) {
		pq_groups_state(p->groups, g, 1, &state);
		entry->weight = state.value.u;
	}
	if (entry->event == PE_NONE || entry->thread == PE_NONE)
		return false;
	p->events[entry->event].samples += entry->count;
	p->events[entry->event].weight += entry->weight;
	p->is_too_heavy |= entry->weight > (uint64_t)INT64_MAX - p->weight;
	p->weight += entry->weight;
	return true;
}

int pe_event_compare(const struct pe_profile *p, uint32_t left, uint32_t right)
{
	const struct pe_event *a = &p->events[left], *b = &p->events[right];

	if (a->samples_time != b->samples_time)
		return a->samples_time ? -1 : 1;
	if (a->is_tracepoint != b->is_tracepoint)
		return b->is_tracepoint ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return (left > right) - (left < right);
}

uint32_t pe_main_event(const struct pe_profile *p)
{
	uint32_t main = 0;

	for (uint32_t i = 1; i < p->n_events; i++)
		if (pe_event_compare(p, i, main) < 0)
			main = i;
	return main;
}

static int compare_events(const void *left, const void *right, void *arg)
{
	const struct pe_profile *p = arg;
	uint32_t a = p->events[*(const uint32_t *)left].number;
	uint32_t b = p->events[*(const uint32_t *)right].number;

	return (a > b) - (a < b);
}

static int compare_threads(const void *left, const void *right, void *arg)
{
	const struct pe_profile *p = arg;
	const struct pe_thread *a = pe_thread_at(p, *(const uint32_t *)left);
	const struct pe_thread *b = pe_thread_at(p, *(const uint32_t *)right);

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->comm == PE_NONE || b->comm == PE_NONE)
		return (b->comm == PE_NONE) - (a->comm == PE_NONE);
	return strcmp(pe_text(p, a->comm).p, pe_text(p, b->comm).p);
}

/*
 * Sorts `n` items of `size` bytes, and returns the new position of each, which the caller
 * frees; NULL: no memory.
 */
static uint32_t *sort_items(struct pe_profile *p, void *items, size_t n, size_t size,
			    int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = pb_array(n + 1, sizeof(*order)), *moved = NULL;
	char *old = pb_array(n, size);

	if (order && old)
		moved = pb_array(n + 1, sizeof(*moved));
	if (moved && n) {
		for (uint32_t i = 0; i < n; i++)
			order[i] = i;
		qsort_r(order, n, sizeof(*order), compare, p);
		memcpy(old, items, n * size);
		for (uint32_t i = 0; i < n; i++) {
			memcpy((char *)items + i * size, old + order[i] * size, size);
			moved[order[i]] = i;
		}
	}
	free(order);
	free(old);
	return moved;
}

/*
 * Numbers the texts, those of events and threads, in the order of these: groups have none that
 * stays the same. Returns false without memory.
 */
static bool sort_texts(struct pe_profile *p)
{
	struct pm_string_pool found = p->texts;
	bool ok = true;

	p->texts = (struct pm_string_pool){ 0 };
	for (size_t i = 0; ok && i < p->n_events; i++) {
		uint32_t *name = &p->events[i].name;

		*name = pm_string_pool_add(&p->texts, found.texts[*name]);
		ok = *name != PM_NO_STRING;
	}
	for (uint32_t i = 0; ok && i < p->threads.n; i++) {
		struct pe_thread *thread = (struct pe_thread *)p->threads.items + i;

		if (thread->comm == PE_NONE)
			continue;
		thread->comm = pm_string_pool_add(&p->texts, found.texts[thread->comm]);
		ok = thread->comm != PM_NO_STRING;
	}
	pm_string_pool_deinit(&found);
	return ok;
}

/* Puts events and threads in order. Returns false without memory. */
static bool sort_numbers(struct pe_profile *p)
{
	uint32_t *events = sort_items(p, p->events, p->n_events, sizeof(*p->events),
				      compare_events);
	uint32_t *threads = sort_items(p, p->threads.items, p->threads.n, p->threads.size,
				       compare_threads);
	bool ok = events && threads;

	for (size_t i = 0; ok && i < p->n_entries; i++) {
		p->entries[i].event = events[p->entries[i].event];
		p->entries[i].thread = threads[p->entries[i].thread];
	}
	free(events);
	free(threads);
	return ok && sort_texts(p);
}

/*
 * Tells apart events of one name: the second "x" of a recording becomes "x (2)", as viewers
 * know events by their names. The events are in order. Returns false without memory.
 */
static bool number_names(struct pe_profile *p)
{
	for (size_t i = p->n_events; i-- > 1;) {
		struct pe_event *event = &p->events[i];
		struct pb_string text = { 0 };
		unsigned before = 0;

		for (size_t k = 0; k < i; k++)
			before += p->events[k].name == event->name;
		if (!before)
			continue;
		pb_string_add(&text, pe_text(p, event->name).p, pe_text(p, event->name).n);
		pb_string_format(&text, " (%u)", before + 1);
		event->name = pb_string_end(&text) ?
				      pe_text_add(p, (struct pd_text){ text.p, text.n }) :
				      PE_NONE;
		pb_string_deinit(&text);
		if (event->name == PE_NONE)
			return false;
	}
	return true;
}

#define DROP_EVERY (1u << 16) /* groups that are freed together */

/* Fills the entries of a profile, in order. Returns false without memory. */
static bool make_entries(struct pe_profile *p)
{
	p->n_entries = pq_groups_size(p->groups);
	p->entries = pb_array(p->n_entries + 1, sizeof(*p->entries));
	if (!p->entries)
		return false;
	/* the last group first, so that groups go while entries come */
	for (size_t g = p->n_entries; g-- > 0;) {
		if (!fill_entry(p, g))
			return false;
		if (g % DROP_EVERY == 0)
			pq_groups_drop(p->groups, g);
	}
	free(p->chain_numbers);
	p->chain_numbers = NULL;
	if (!sort_numbers(p) || !number_names(p))
		return false;
	if (p->asked->timed)
		return pe_times_fill(p);
	pe_sort_profile(p);
	return true;
}

/*
 * Numbers the chains and frames so that what is written does not depend on how many threads
 * found them. Returns false without memory.
 */
static bool sort_chains(struct pe_profile *p)
{
	size_t n = p->chains ? pq_chains_size(p->chains) : 0;

	p->chain_numbers = pb_array(n + 1, sizeof(*p->chain_numbers));
	return p->chain_numbers &&
	       (!n || pq_chains_sort(pq_groups_chains(p->groups), p->chain_numbers));
}

/* A part of a profile that needs no other part. */
struct part {
	struct pe_profile *profile;
	bool (*make)(struct pe_profile *profile);
	bool ok;
};

static void make_part(void *item, unsigned worker)
{
	struct part *part = item;

	(void)worker;
	part->ok = part->make(part->profile);
}

/*
 * Fills a profile: entries and calls in threads of their own, if there may be some, while the
 * frames are looked up. Returns false without memory.
 */
static bool fill_profile(struct pe_profile *p)
{
	struct part parts[] = { { p, make_entries, false }, { p, pe_stacks_find, false } };
	size_t n = p->asked->stacks ? 2 : 1;
	struct pb_helpers *helpers;
	bool ok;

	p->resolver = pm_resolver_create(p->asked->system);
	helpers = pb_helpers_start(p->asked->threads > 1 ? (unsigned)n : 0, make_part);
	ok = p->resolver && helpers;
	for (size_t i = 0; ok && i < n; i++)
		pb_helpers_give(helpers, &parts[i]);
	ok = ok && pe_frames_resolve(p);
	for (struct part *part; helpers && (part = pb_helpers_take(helpers));)
		ok = part->ok && ok;
	pb_helpers_stop(helpers);
	if (!ok || !pe_frames_fill(p))
		return false;
	if (p->chains)
		pq_chains_drop_frames(pq_groups_chains(p->groups), 0);
	if (p->asked->stacks && !pe_stacks_fill(p))
		return false;
	pm_resolver_destroy(p->resolver); /* the system may be closed before the profile is */
	p->resolver = NULL;
	return true;
}

struct pe_profile *pe_profile_create(struct pq_groups *groups, const struct pe_asked *asked)
{
	struct pe_profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->asked = asked;
	p->groups = groups;
	p->chains = pq_groups_chains(groups);
	pb_set_init(&p->threads, sizeof(struct pe_thread));
	pb_set_init(&p->binaries, sizeof(struct pe_binary));
	pb_set_init(&p->functions, sizeof(struct pe_function));
	pb_set_init(&p->lines, sizeof(struct pe_line));
	pq_groups_seal(groups);
	if (!sort_chains(p) || !fill_profile(p)) {
		pe_profile_destroy(p);
		return NULL;
	}
	return p;
}

void pe_profile_destroy(struct pe_profile *p)
{
	if (!p)
		return;
	pm_resolver_destroy(p->resolver);
	free(p->resolved);
	free(p->chain_numbers);
	pm_string_pool_deinit(&p->texts);
	pb_string_deinit(&p->scratch);
	pb_set_deinit(&p->threads);
	pb_set_deinit(&p->binaries);
	pb_set_deinit(&p->functions);
	pb_set_deinit(&p->lines);
	free(p->events);
	free(p->frames);
	free(p->frame_lines);
	free(p->entries);
	pe_stacks_free(p);
	free(p);
}

bool pe_profile_is_too_heavy(const struct pe_profile *p)
{
	return p->is_too_heavy;
}

const struct pe_event *pe_profile_events(const struct pe_profile *p, size_t *n)
{
	*n = p->n_events;
	return p->events;
}
