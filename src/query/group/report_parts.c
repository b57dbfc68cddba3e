/* The parts of frames and of keys that a report shows. */
#include "report_internal.h"

#include <string.h>

#include "base/string_builder.h"
#include "base/vector.h"
#include "perfdata/format/views.h"

bool pq_report_set_text(const struct pq_text **text, struct pq_report_maker *m, const char *p,
			size_t n)
{
	*text = pq_texts_intern(&m->to->texts, p, (uint32_t)n);
	return *text != NULL;
}

bool pq_report_read_binaries(struct pq_report_maker *m)
{
	for (uint32_t machine = 0; machine < m->report->n_machines; machine++) {
		const struct ps_store *store = pm_system_store(m->report->system, machine);

		for (size_t i = 0; store && i < ps_store_count(store); i++) {
			const struct ps_dso *dso = ps_store_at(store, i);
			uint32_t number;

			if (dso->id.kind == PS_USER || dso->id.kind == PS_DATA)
				continue;
			number = pm_string_pool_add(&m->binaries.strings,
						    (struct pd_text){ dso->name,
								      strlen(dso->name) });
			if (number == PM_NO_STRING ||
			    !pb_reserve(m->binaries.shown, number, m->binaries.room))
				return false;
			m->binaries.shown[number] = dso->short_name;
		}
	}
	return true;
}

/*
 * Returns the end of a path, without slashes after it: see dso__set_basename,
 * tools/perf/util/dso.c.
 */
static struct pd_text base_of(struct pd_text path)
{
	size_t n = path.n, from;

	while (n && path.p[n - 1] == '/')
		n--;
	for (from = n; from && path.p[from - 1] != '/'; from--)
		;
	return n ? (struct pd_text){ path.p + from, n - from } : path;
}

/* Sets *text to the name that a binary is shown by. Returns false without memory. */
static bool short_name_of(struct pq_report_maker *m, const struct pq_value *dso,
			  const struct pq_text **text)
{
	struct pd_text path = { dso->p, dso->size }, shown;
	size_t n = m->binaries.strings.n;
	uint32_t known;

	*text = m->unknown;
	if (dso->type != PQ_TEXT)
		return true;
	shown = base_of(path);
	known = pm_string_pool_add(&m->binaries.strings, path);
	if (known == PM_NO_STRING ||
	    (known == n && !pb_reserve(m->binaries.shown, n, m->binaries.room)))
		return false;
	if (known == n)
		m->binaries.shown[n] = NULL;
	if (m->binaries.shown[known])
		shown = (struct pd_text){ m->binaries.shown[known],
					  strlen(m->binaries.shown[known]) };
	return pq_report_set_text(text, m, shown.p, shown.n);
}

/*
 * Returns the mode whose letter is shown for a mode: an unknown one is shown as the hypervisor.
 */
static uint8_t level_of(uint8_t mode)
{
	return mode == PD_CPUMODE_UNKNOWN || mode > PD_CPUMODE_GUEST_USER ?
		       PD_CPUMODE_HYPERVISOR :
		       mode;
}

/* Sets part->srcline to that of a frame. Returns false without memory. */
static bool set_srcline(struct pq_report_maker *m, uint32_t number, struct pq_report_part *part)
{
	struct pb_string text = { 0 };
	bool ok = true;

	part->srcline = m->unknown;
	if (number < m->n_frames && pq_chains_exact(m->from->chains, number)) {
		pq_chains_add_srcline(m->from->chains, number, true, &text);
		ok = pb_string_end(&text) &&
		     pq_report_set_text(&part->srcline, m, text.p, text.n);
	}
	pb_string_deinit(&text);
	return ok;
}

/*
 * Returns the address that stands for a function: as perf has it, that in the binary, or where
 * frames are addresses, of callers the recorded one.
 */
static uint64_t address_of(const struct pq_report_maker *m, uint32_t number)
{
	const struct pq_exact *exact = pq_chains_exact(m->from->chains, number);

	return exact && exact->branch.end != PM_BRANCH_OWN ?
		       exact->ip :
		       pq_chains_frame(m->from->chains, number).address;
}

/* Names a part that stands for call chains beyond the limit. Returns false without memory. */
static bool name_others(struct pq_report_maker *m, struct pq_report_part *part)
{
	const struct pq_text *others;

	if (!pq_report_set_text(&others, m, PQ_OTHERS, sizeof(PQ_OTHERS) - 1))
		return false;
	part->dso = part->dso ? others : NULL;
	part->srcline = part->srcline ? others : NULL;
	if (part->type == PQ_TEXT)
		part->symbol = (uintptr_t)others->bytes;
	return true;
}

/* Sets the binary and the function of a part. Returns false without memory. */
static bool set_function(struct pq_report_maker *m, const struct pq_frame *frame,
			 uint32_t number, struct pq_report_part *part)
{
	const struct ps_dso *dso = frame->dso;
	const struct pq_text *name = m->unknown;

	if (m->has_dso)
		part->dso = !dso ? m->unknown :
				   pq_texts_add_fixed(&m->to->texts, dso->short_name,
						      (uint32_t)strlen(dso->short_name));
	if (m->has_dso && !part->dso)
		return false;
	if (!m->has_symbol)
		return true;
	part->is_named = frame->symbol != NULL;
	part->type = part->is_named || number >= m->n_frames ? PQ_TEXT : PQ_INT;
	if (part->is_named)
		name = pq_texts_add_fixed(&m->to->texts, frame->symbol->name,
					  frame->symbol->length);
	if (part->type == PQ_INT)
		part->symbol = address_of(m, number);
	else if (name)
		part->symbol = (uintptr_t)name->bytes;
	return name != NULL;
}

bool pq_report_frame_part(struct pq_report_maker *m, uint32_t number,
			  struct pq_report_part *part)
{
	struct pq_frame frame = { .mode = PD_CPUMODE_HYPERVISOR };

	if (number < m->n_frames)
		frame = pq_chains_frame(m->from->chains, number);
	*part = (struct pq_report_part){ .mode = m->has_mode ? level_of(frame.mode) : 0 };
	return (!m->has_srcline || set_srcline(m, number, part)) &&
	       set_function(m, &frame, number, part) &&
	       (number <= m->n_frames || name_others(m, part));
}

bool pq_report_set_words(struct pq_report_maker *m, const struct pq_report_part *part)
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
		} else if (from == PQ_FROM_SRCLINE) {
			*word = (uintptr_t)part->srcline->bytes;
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

static uint8_t mode_of(const struct pq_value *name)
{
	for (uint8_t mode = 0; name->type == PQ_TEXT && mode <= PD_CPUMODE_GUEST_USER; mode++) {
		const char *known = pd_cpumode_name(mode);

		if (strlen(known) == name->size && memcmp(known, name->p, name->size) == 0)
			return mode;
	}
	return PD_CPUMODE_UNKNOWN;
}

bool pq_report_group_part(struct pq_report_maker *m, size_t g, struct pq_report_part *part)
{
	const struct pq_text *name = m->unknown;
	struct pq_value value;

	*part = (struct pq_report_part){ 0 };
	for (size_t i = 0; i < m->report->n_keys; i++) {
		const struct pq_report_key *key = &m->report->keys[i];

		if (key->from == PQ_FROM_KEY)
			continue;
		pq_groups_key(m->from, g, key->key, &value);
		if (key->from == PQ_FROM_MODE) {
			part->mode = mode_of(&value);
		} else if (key->from == PQ_FROM_DSO) {
			if (!short_name_of(m, &value, &part->dso))
				return false;
		} else {
			part->is_named = value.type == PQ_TEXT;
			part->type = value.type == PQ_INT ? PQ_INT : PQ_TEXT;
			if (part->is_named)
				name = pq_texts_move(&m->to->texts, pq_text_of(value.p));
			if (!name)
				return false;
			part->symbol = part->type == PQ_INT ? value.u : (uintptr_t)name->bytes;
		}
	}
	return true;
}
