/*
 * Names of events, and tracing data.
 *
 * Names that perf makes of an attr, and those of tracepoints that the kernel has, tell nothing
 * of their user; others are probes', or were given by name=, or are a PMU's. So the kernel's
 * own formats stay, and those of probes are written anew from what is known of their fields.
 * See tools/perf/util/trace-event-read.c for the parts of tracing data.
 */
#include <inttypes.h>
#include <stdio.h>

#include "perfdata/format/event.h"
#include "internal.h"

#define NAME_MOST 256 /* bytes of a name that is made here, the NUL included */

/*
 * Probes have fields of their own before their arguments. Event probes have none: their print
 * formats begin with a blank, and are empty without arguments. See kernel/trace/trace_probe.c.
 */
bool pv_is_probe(const struct pd_tracepoint *tp)
{
	static const char *const systems[] = { "probe",	  "kprobes",   "uprobes",
					       "eprobes", "synthetic", "user_events" };

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (strncmp(tp->system, systems[i], strlen(systems[i])) == 0)
			return true;
	for (uint32_t i = tp->n_common; i < tp->n_fields; i++)
		if (strncmp(tp->fields[i].name, "__probe_", 8) == 0)
			return true;
	return strncmp(tp->print_fmt, "\" ", 2) == 0 ||
	       (strcmp(tp->print_fmt, "\"\"") == 0 && tp->n_fields == tp->n_common);
}

struct pd_text pv_probe_word(struct pv_scrubber *s, const char *word)
{
	static const char *const own[] = { "probe",	   "kprobes",	   "uprobes",
					   "eprobes",	   "synthetic",	   "user_events",
					   "__probe_ip",   "__probe_func", "__probe_ret_ip",
					   "__probe_nargs" };
	struct pd_text text = { word, strlen(word) };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(word, own[i]) == 0)
			return text;
	return pv_show(&s->names, PV_PROBE, text);
}

/*
 * Returns the size of a name without the modifiers after its last colon: see
 * parse_events__modifier_event, tools/perf/util/parse-events.c.
 */
static size_t measure_plain(const char *name)
{
	const char *colon = strrchr(name, ':');

	if (!colon || colon[1 + strspn(colon + 1, "ukhGHpPSDIWebRXrwx")])
		return strlen(name);
	return strlen(colon) <= 8 ? (size_t)(colon - name) : strlen(name);
}

/* Returns whether a name is `plain`, or that and modifiers. */
static bool is_plainly(const char *name, const char *plain)
{
	size_t n = strlen(plain);

	return strcmp(name, plain) == 0 ||
	       (strncmp(name, plain, n) == 0 && name[n] == ':' && measure_plain(name) == n);
}

static struct pd_text show_probe(struct pv_scrubber *s, const struct pd_event *event)
{
	const char *colon = strchr(event->name, ':');
	const struct pd_tracepoint *tp = event->tracepoint;
	char system[NAME_MOST], shown[NAME_MOST];
	struct pd_text name = { event->name, strlen(event->name) };
	int n;

	if (s->rules.of[PV_PROBE] == PV_KEEP)
		return pv_show(&s->names, PV_PROBE, name);
	snprintf(system, sizeof(system), "%.*s", (int)(colon ? colon - event->name : 0),
		 event->name);
	n = snprintf(shown, sizeof(shown), "%s%s%s",
		     pv_probe_word(s, tp ? tp->system : system).p, tp || colon ? ":" : "",
		     pv_probe_word(s, tp    ? tp->name :
				      colon ? colon + 1 :
					      event->name)
			     .p);
	if (n >= (int)sizeof(shown))
		n = sizeof(shown) - 1;
	return pv_show_as(&s->names, PV_PROBE, name, (struct pd_text){ shown, (size_t)n });
}

/* Returns the name of a breakpoint without its address. */
static struct pd_text show_breakpoint(struct pv_scrubber *s, const struct pd_event *event)
{
	struct pd_attr attr = event->attr;
	const char *name = event->name ? event->name : "";
	char shown[NAME_MOST];

	attr.config1 = 0;
	pd_event_name(&attr, NULL, s->file->text, shown, sizeof(shown));
	s->found[PV_EVENT].n++;
	return pv_show_as(&s->names, PV_EVENT, (struct pd_text){ name, strlen(name) },
			  (struct pd_text){ shown, strlen(shown) });
}

struct pd_text pv_event_name(struct pv_scrubber *s, const struct pd_event *event)
{
	const struct pd_tracepoint *tp = event->tracepoint;
	const char *name = event->name ? event->name : "";
	struct pd_text text = { name, strlen(name) };
	char plain[NAME_MOST];

	if (s->places && event->attr.type == PD_TYPE_BREAKPOINT)
		return show_breakpoint(s, event);
	if (event->attr.type == PD_TYPE_TRACEPOINT && !event->made_up &&
	    (!tp || pv_is_probe(tp))) {
		s->found[PV_PROBE].n++;
		return show_probe(s, event);
	}
	if (tp)
		snprintf(plain, sizeof(plain), "%s:%s", tp->system, tp->name);
	else
		pd_event_name(&event->attr, NULL, s->file->text, plain, sizeof(plain));
	if (!tp)
		plain[measure_plain(plain)] = '\0';
	if (is_plainly(name, plain))
		return pv_meet_name(s, PV_EVENT, text);
	s->found[PV_ALIAS].n++;
	if (s->rules.of[PV_ALIAS] == PV_KEEP)
		return pv_show(&s->names, PV_ALIAS, text);
	if (!tp) /* with its modifiers */
		pd_event_name(&event->attr, NULL, s->file->text, plain, sizeof(plain));
	return pv_show_as(&s->names, PV_ALIAS, text, (struct pd_text){ plain, strlen(plain) });
}

/* Puts the type and the name of a field, as a format file has them. */
static void put_declaration(struct pb_string *out, const struct pd_tracepoint_field *field,
			    struct pd_text name)
{
	bool is_text = field->kind == PD_ARG_TEXT;
	uint32_t bytes = field->element ? field->element : field->size;
	const char *sign = field->is_signed ? "s" : "u";

	if (field->storage == PD_ARG_DATA || field->storage == PD_ARG_REL)
		pb_string_put(out,
			      field->storage == PD_ARG_DATA ? "__data_loc " : "__rel_loc ");
	if (is_text)
		pb_string_put(out, "char");
	else if (field->kind == PD_ARG_POINTER)
		pb_string_put(out, "void *");
	else if (field->kind == PD_ARG_INT || field->kind == PD_ARG_LIST)
		pb_string_format(out, "%s%" PRIu32, sign, 8 * bytes);
	else
		pb_string_put(out, "u8");
	if (field->storage != PD_ARG_FIXED)
		pb_string_put(out, "[]");
	pb_string_put(out, " ");
	pb_string_add(out, name.p, name.n);
	if (field->storage == PD_ARG_FIXED && (field->element || field->kind == PD_ARG_BYTES))
		pb_string_format(out, "[%" PRIu32 "]",
				 field->size / (field->element ? bytes : 1));
}

/* Returns how a print format shows a field; NULL: it does not. */
static const char *conversion_of(const struct pd_tracepoint_field *field)
{
	if (field->kind == PD_ARG_TEXT)
		return "%s";
	if (field->kind == PD_ARG_POINTER)
		return "0x%llx";
	if (field->kind != PD_ARG_INT)
		return NULL;
	if (field->size == 8)
		return field->is_signed ? "%lld" : "0x%llx";
	return field->is_signed ? "%d" : "0x%x";
}

/* Puts a print format that shows the fields of a probe. */
static void put_print_format(struct pv_scrubber *s, const struct pd_tracepoint *tp,
			     struct pb_string *out)
{
	const char *separator = "";

	pb_string_put(out, "\nprint fmt: \"");
	for (uint32_t i = tp->n_common; i < tp->n_fields; i++) {
		const char *conversion = conversion_of(&tp->fields[i]);

		if (!conversion)
			continue;
		pb_string_put(out, separator);
		pb_string_put(out, pv_probe_word(s, tp->fields[i].name).p);
		pb_string_put(out, "=");
		pb_string_put(out, conversion);
		separator = " ";
	}
	pb_string_put(out, "\"");
	for (uint32_t i = tp->n_common; i < tp->n_fields; i++) {
		const struct pd_tracepoint_field *field = &tp->fields[i];
		bool is_far = field->storage == PD_ARG_DATA || field->storage == PD_ARG_REL;

		if (!conversion_of(field))
			continue;
		pb_string_put(out, !is_far			 ? ", REC->" :
				   field->storage == PD_ARG_DATA ? ", __get_str(" :
								   ", __get_rel_str(");
		pb_string_put(out, pv_probe_word(s, field->name).p);
		pb_string_put(out, is_far ? ")" : "");
	}
	pb_string_put(out, "\n");
}

/* Puts the format file of a probe, with other names. */
static void put_probe(struct pv_scrubber *s, const struct pd_tracepoint *tp,
		      struct pb_string *out)
{
	pb_string_put(out, "name: ");
	pb_string_put(out, pv_probe_word(s, tp->name).p);
	pb_string_format(out, "\nID: %" PRIu64 "\nformat:\n", tp->id);
	for (uint32_t i = 0; i < tp->n_fields; i++) {
		const struct pd_tracepoint_field *field = &tp->fields[i];

		if (i == tp->n_common)
			pb_string_put(out, "\n");
		pb_string_put(out, "\tfield:");
		put_declaration(out, field,
				field->common ?
					(struct pd_text){ field->name, strlen(field->name) } :
					pv_probe_word(s, field->name));
		pb_string_format(out, ";\toffset:%" PRIu32 ";\tsize:%" PRIu32, field->offset,
				 field->size);
		pb_string_format(out, ";\tsigned:%d;\n", field->is_signed);
	}
	put_print_format(s, tp, out);
}

/* How a format is put. */
enum fate {
	COPIED,
	REBUILT,
	LEFT_OUT,
};

static enum fate fate_of(struct pv_scrubber *s, struct pd_format *format)
{
	const struct pd_tracepoint *tp = pd_tracepoint_of(s->file->tracing, format);

	if (!tp)
		return LEFT_OUT; /* it may be a probe's */
	if (!pv_is_probe(tp) || s->rules.of[PV_PROBE] == PV_KEEP)
		return COPIED;
	return s->rules.of[PV_PROBE] == PV_HASH ? REBUILT : LEFT_OUT;
}

/*
 * Puts the formats of a system, `n` of them, that have one fate. Returns the number of systems,
 * 1 or 0.
 */
static unsigned put_formats(struct pv_scrubber *s, struct pd_format *formats, size_t n,
			    enum fate fate, struct pb_string *out)
{
	bool swap = s->file->tracing->swap;
	struct pb_string text = { 0 };
	uint32_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += fate_of(s, &formats[i]) == fate;
	if (!count)
		return 0;
	for (size_t i = 0, first = 1; i < n; i++) {
		const struct pd_tracepoint *tp = formats[i].parsed;

		if (fate_of(s, &formats[i]) != fate)
			continue;
		if (first) {
			pb_string_put(out, fate == COPIED ? tp->system :
							    pv_probe_word(s, tp->system).p);
			pb_string_fill(out, 0, 1);
			pv_put_number(out, count, 4, swap);
			first = 0;
		}
		pb_string_clear(&text);
		if (fate == COPIED)
			pb_string_add(&text, formats[i].text.p, formats[i].text.n);
		else
			put_probe(s, tp, &text);
		out->failed = out->failed || text.failed;
		pv_meet(s, fate == COPIED ? PV_EVENT : PV_PROBE, formats[i].text.n);
		pv_put_number(out, text.n, 8, swap);
		pb_string_add(out, text.p, text.n);
	}
	pb_string_deinit(&text);
	return 1;
}

static void put_systems(struct pv_scrubber *s, struct pb_string *out)
{
	struct pd_tracing *t = s->file->tracing;
	size_t at = out->n, n;
	uint32_t systems = 0;

	pv_put_number(out, 0, 4, t->swap);
	for (size_t i = 0; i < t->n_formats; i += n) {
		struct pd_format *first = &t->formats[i];

		for (n = 1; i + n < t->n_formats && first[n].system.p == first->system.p;)
			n++;
		systems += put_formats(s, first, n, COPIED, out);
		systems += put_formats(s, first, n, REBUILT, out);
	}
	if (!out->failed)
		pv_store32((uint8_t *)out->p + at, systems, t->swap);
}

/* Puts lines of a thread id and its name. */
static void put_comms(struct pv_scrubber *s, struct pd_text lines, struct pb_string *out)
{
	while (lines.n) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end ? (size_t)(end - lines.p) : lines.n;
		const char *blank = memchr(lines.p, ' ', n);
		size_t id = blank ? (size_t)(blank - lines.p) + 1 : n;
		struct pd_text comm = { lines.p + id, n - id };

		comm = pv_meet_name(s, PV_COMM, comm);
		if (blank && strspn(lines.p, "0123456789") >= id - 1) {
			pb_string_add(out, lines.p, id);
			pb_string_add(out, comm.p, comm.n);
			pb_string_put(out, "\n");
		}
		n += end != NULL;
		lines.p += n;
		lines.n -= n;
	}
}

/* Puts a part that is copied or left out as a whole. */
static void put_part(struct pv_scrubber *s, enum pv_kind kind, struct pd_text part,
		     unsigned size_bytes, struct pb_string *out)
{
	if (part.n && !pv_meet(s, kind, part.n))
		part.n = 0;
	pv_put_number(out, part.n, size_bytes, s->file->tracing->swap);
	pb_string_add(out, part.p, part.n);
}

/* Skips what comes before the systems: the header, and formats of ftrace's own events. */
static void skip_head(struct pb_cursor *c, bool swap)
{
	enum {
		MAGIC = 10,
		VERSION_MOST = 8,
		SIZES = 2 + 4
	};
	const uint8_t *end;

	pb_take(c, MAGIC);
	end = memchr(c->pos, 0, pb_cursor_left(c));
	if (!end || end - c->pos >= VERSION_MOST)
		pb_cursor_fail(c, "a version that is too long");
	else
		pb_take(c, (uint64_t)(end - c->pos) + 1);
	pb_take(c, SIZES);
	c->swap = swap;
	pb_take(c, sizeof("header_page"));
	pb_take(c, pb_take64(c));
	pb_take(c, sizeof("header_event"));
	pb_take(c, pb_take64(c));
	for (uint32_t i = pb_take32(c); i && !c->failed; i--)
		pb_take(c, pb_take64(c));
}

bool pv_tracing(struct pv_scrubber *s, const uint8_t *bytes, size_t n, struct pb_string *out)
{
	const struct pd_tracing *t = s->file->tracing;
	struct pb_string comms = { 0 };
	struct pb_cursor c;

	pb_cursor_init(&c, bytes, n, false);
	skip_head(&c, t->swap);
	if (c.failed)
		return false;
	pb_string_add(out, (const char *)bytes, pb_cursor_offset(&c));
	put_systems(s, out);
	put_part(s, PV_FUNCTION, s->places ? (struct pd_text){ "", 0 } : t->kallsyms, 4, out);
	put_part(s, PV_STRING, t->printk, 4, out);
	if (strcmp(t->version, "0.6") >= 0) {
		if (s->rules.of[PV_COMM] != PV_DROP)
			put_comms(s, t->cmdlines, &comms);
		pv_put_number(out, comms.n, 8, t->swap);
		pb_string_add(out, comms.n ? comms.p : "", comms.n);
		out->failed = out->failed || comms.failed;
		pb_string_deinit(&comms);
	}
	return true;
}
