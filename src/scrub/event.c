/*
 * Names of events. Those that perf makes of an attr, and those of tracepoints that the kernel
 * has, tell nothing of their user; others are probes', or were given by name=, or are a PMU's.
 */
#include <stdio.h>

#include "internal.h"
#include "perfdata/format/event.h"

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
