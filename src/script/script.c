#include "script.h"

#include <stdlib.h>

#include "base/vector.h"
#include "line.h"
#include "located.h"
#include "text.h"

#define SW_DUMMY	   9
#define SW_PAGE_FAULTS	   2
#define SW_PAGE_FAULTS_MIN 5
#define SW_PAGE_FAULTS_MAJ 6

static struct px_field_ids find_ids(const struct pd_field_names *names)
{
#define ID(name) pd_field_name_id(names, name, sizeof(name) - 1)
	return (struct px_field_ids){
		.pid = ID("pid"),
		.tid = ID("tid"),
		.time = ID("time"),
		.cpu = ID("cpu"),
		.period = ID("period"),
		.ip = ID("ip"),
		.addr = ID("addr"),
		.weight = ID("weight"),
		.ins_lat = ID("ins_lat"),
		.retire_lat = ID("retire_lat"),
		.phys_addr = ID("phys_addr"),
		.data_src = ID("data_src"),
		.data_page_size = ID("data_page_size"),
		.code_page_size = ID("code_page_size"),
		.callchain = ID("callchain"),
		.branch_stack = ID("branch_stack"),
		.regs_user = ID("regs_user"),
		.regs_intr = ID("regs_intr"),
		.raw = ID("raw"),
	};
#undef ID
}

/*
 * Returns the version of the text (enum pd_perf_text) for a session. Threads that have exited
 * keep their names if a processor trace may refer to them later.
 */
static unsigned select_text(const struct pd_session *session)
{
	unsigned text = session->text;

	for (size_t i = 0; i < session->n_files; i++)
		if (pd_file_feature(session->files[i], PD_FEATURE_AUXTRACE))
			text &= ~(unsigned)PD_TEXT_FORGETS_EXITED;
	return text;
}

struct px_script *px_script_create(const struct px_options *options)
{
	struct px_script *script = calloc(1, sizeof(*script));

	if (!script || !(script->located = px_located_create())) {
		free(script);
		return NULL;
	}
	script->options = *options;
	script->ids = find_ids(&options->session->files[0]->field_names);
	script->text = select_text(options->session);
	/* Older perfs do not have this field, so show it only if it was asked for. */
	for (enum px_class class = 0;
	     class < PX_CLASSES && !(script->text & PD_TEXT_RETIRE_LAT); class ++)
		script->options.fields[class] &= ~PX_BIT(PX_RETIRE_LAT) | options->asked[class];
	if (options->inlined == PX_INLINED_UNWOUND && script->text & PD_TEXT_INLINED_ALWAYS)
		script->options.inlined = PX_INLINED_ALL;
	script->id_width = script->text & PD_TEXT_WIDE_IDS ? 7 : 5;
	return script;
}

void px_script_destroy(struct px_script *script)
{
	if (!script)
		return;
	for (size_t i = 0; i < script->n_events; i++) {
		if (script->events[i])
			pb_string_deinit(&script->events[i]->name);
		free(script->events[i]);
	}
	free(script->events);
	px_located_destroy(script->located);
	px_sources_destroy(script->sources);
	free(script);
}

static enum px_class get_class(const struct pd_event *event)
{
	static const uint8_t classes[] = {
		[PD_TYPE_HARDWARE] = PX_HARDWARE,
		[PD_TYPE_SOFTWARE] = PX_SOFTWARE,
		[PD_TYPE_TRACEPOINT] = PX_TRACEPOINT,
		[PD_TYPE_HW_CACHE] = PX_CACHE,
		[PD_TYPE_RAW] = PX_RAW,
		[PD_TYPE_BREAKPOINT] = PX_BREAKPOINT,
	};

	return event->attr.type < sizeof(classes) ? (enum px_class)classes[event->attr.type] :
						    PX_OTHER;
}

/*
 * Returns true for the event that stands for side-band records and is never sampled: see
 * evsel__is_dummy_event, tools/perf/util/evsel.h.
 */
static bool is_dummy(const struct pd_event *event)
{
	return event->attr.type == PD_TYPE_SOFTWARE && event->attr.config == SW_DUMMY;
}

/*
 * Returns the first event of a class. As in perf it decides which fields the class has by
 * default.
 */
static const struct pd_event *find_first_event(const struct pd_session *session,
					       enum px_class class)
{
	for (size_t i = 0; i < session->n_events; i++)
		if (get_class(session->events[i]) == class && !is_dummy(session->events[i]))
			return session->events[i];
	return NULL;
}

/* Returns the fields of a class that samples of `event` do not have. */
static uint64_t missing_fields(const struct px_options *options, enum px_class class,
			       const struct pd_event *event)
{
	uint64_t missing = 0;

	for (int i = 0; px_fields[i].name; i++)
		if ((options->fields[class] & PX_BIT(i)) && px_fields[i].needs &&
		    (!(event->attr.sample_type & px_fields[i].needs) ||
		     (i == PX_TOD && !event->shape.clock->has_wall)))
			missing |= PX_BIT(i);
	return missing;
}

static bool may_have_samples(const struct px_options *options, const struct pd_event *event)
{
	return !is_dummy(event) && (!options->sampled || event->number >= options->n_sampled ||
				    options->sampled[event->number]);
}

/*
 * Returns the fields that were asked for and that no sample of the class has. Sets *first to an
 * event of the class; NULL: it has no samples.
 */
static uint64_t refused_fields(const struct px_options *options, enum px_class class,
			       const struct pd_event **first)
{
	const struct pd_session *session = options->session;
	uint64_t refused = options->asked[class];

	*first = NULL;
	for (size_t i = 0; i < session->n_events; i++) {
		const struct pd_event *event = session->events[i];

		if (get_class(event) != class || !may_have_samples(options, event))
			continue;
		refused &= missing_fields(options, class, event);
		*first = *first ? *first : event;
	}
	return *first ? refused : 0;
}

bool px_script_check(const struct px_script *script, const char **field,
		     const struct pd_event **event)
{
	for (enum px_class class = 0; class < PX_CLASSES; class ++) {
		const struct pd_event *first;
		uint64_t refused = refused_fields(&script->options, class, &first);

		if (refused) {
			*field = px_fields[__builtin_ctzll(refused)].name;
			*event = first;
			return false;
		}
	}
	return true;
}

static bool has_callchain(const struct pd_event *event)
{
	return (event->attr.sample_type & PD_SAMPLE_CALLCHAIN) != 0;
}

/* Decides what holds for all lines. In pipe mode the events have come by the first sample. */
static void decide_columns(struct px_script *script)
{
	const uint64_t located = PX_BIT(PX_IP) | PX_BIT(PX_SYM) | PX_BIT(PX_SYMOFF) |
				 PX_BIT(PX_DSO);
	const struct pd_session *session = script->options.session;
	bool chains = false;

	script->begun = true;
	for (size_t i = 0; i < session->n_events; i++) {
		const struct pd_event *event = session->events[i];
		size_t n = strlen(event->name);

		if (n > script->name_width)
			script->name_width = n;
		if (!has_callchain(event) || !script->options.callchains)
			continue;
		script->use_callchains = true;
		chains = chains || get_class(event) == PX_TRACEPOINT;
	}
	if (chains && !script->options.chosen[PX_TRACEPOINT])
		script->options.fields[PX_TRACEPOINT] |= located;
}

/*
 * Returns true if addr of such events is resolved: see sample_addr_correlates_sym,
 * tools/perf/util/event.c.
 */
static bool is_data_addr(const struct pd_attr *attr)
{
	return attr->type == PD_TYPE_SOFTWARE &&
	       (attr->config == SW_PAGE_FAULTS || attr->config == SW_PAGE_FAULTS_MIN ||
		attr->config == SW_PAGE_FAULTS_MAJ);
}

/* Makes the name of an event with padding and colon. Returns false without memory. */
static bool make_event_name(const struct px_script *script, struct px_event *event)
{
	struct pd_print *out = malloc(sizeof(*out));

	if (!out)
		return false;
	pd_print_init(out, pd_print_to_string, &event->name);
	px_print_text(out, event->event->name, strlen(event->event->name), script->name_width);
	pd_print_const(out, ": ");
	pd_print_flush(out);
	free(out);
	return !event->name.failed;
}

static struct px_event *make_event(struct px_script *script, const struct pd_event *recorded)
{
	struct px_event *event = calloc(1, sizeof(*event));
	const struct px_options *options = &script->options;
	enum px_class class = get_class(recorded);
	const struct pd_event *first = find_first_event(options->session, class);
	uint64_t missing = missing_fields(options, class, first ? first : recorded);

	if (!event)
		return NULL;
	event->event = recorded;
	/* a field that was asked for is shown for the events that have it */
	missing &= ~options->asked[class] | missing_fields(options, class, recorded);
	event->fields = options->fields[class] & ~missing;
	if (event->fields & PX_BIT(PX_DSOFF))
		event->fields |= PX_BIT(PX_DSO);
	event->in_chain = (event->fields & PX_BIT(PX_IP)) && has_callchain(recorded) &&
			  script->use_callchains;
	event->data_addr = is_data_addr(&recorded->attr);
	event->unwound = (recorded->attr.sample_type & PD_SAMPLE_STACK_USER) != 0;
	px_compile(event);
	if (!make_event_name(script, event)) {
		pb_string_deinit(&event->name);
		free(event);
		return NULL;
	}
	return event;
}

/* Returns NULL without memory, or if a field that was asked for is refused. */
static struct px_event *get_event(struct px_script *script, const struct pd_event *recorded)
{
	const struct pd_event *event;
	const char *field;

	if (!script->begun)
		decide_columns(script);
	if (recorded->number >= script->n_events &&
	    !pb_extend(script->events, script->n_events, script->options.session->n_events))
		return NULL;
	if (!script->events[recorded->number] && px_script_check(script, &field, &event))
		script->events[recorded->number] = make_event(script, recorded);
	return script->events[recorded->number];
}

/* Returns true if how a line is written depends on the lines before it. */
static bool depends_on_lines(const struct px_script *script)
{
	const struct px_options *options = &script->options;

	if (options->times != PX_TIMES_RECORDED)
		return true;
	for (size_t i = 0; i < options->session->n_events; i++) {
		const struct pd_event *event = options->session->events[i];

		if (options->fields[get_class(event)] & PX_BIT(PX_SRCCODE) ||
		    (event->attr.sample_type & PD_SAMPLE_DATA_SRC &&
		     options->fields[get_class(event)] & PX_BIT(PX_DATA_SRC)))
			return true;
	}
	return false;
}

bool px_script_share(struct px_script *script)
{
	struct pm_system *system = script->options.system;

	if (depends_on_lines(script) || !pm_system_prepare(system))
		return false;
	if (script->text & PD_TEXT_FORGETS_EXITED)
		pm_prepare_forgotten(system);
	return true;
}

bool px_script_sample(struct px_script *script, const struct pd_record *rec,
		      struct pd_print *out)
{
	struct px_event *event;
	struct px_line line;

	if (!rec->event)
		return true;
	event = get_event(script, rec->event);
	if (!event)
		return false;
	if (!event->fields)
		return true;
	line.script = script;
	line.event = event;
	line.out = out;
	line.rec = rec;
	line.context_known = line.by_time = false;
	line.numbers[0] = line.numbers[1] = PX_UNASKED;
	line.maps_lost = PX_UNKNOWN;
	for (unsigned i = 0; i < event->n; i++)
		event->steps[i](&line);
	pd_print_char(line.out, '\n');
	return true;
}
