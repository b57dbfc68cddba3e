/*
 * Writes the fields in front of the address, and other plain ones. Fields that were not
 * recorded have the values that perf gives them: see evsel__parse_sample,
 * tools/perf/util/evsel.c.
 */
#include "line.h"
#include "text.h"
#include "perfdata/format/views.h"

void px_cpu(struct px_line *line)
{
	int64_t cpu = px_integer(line, line->script->ids.cpu, -1);
	char *p = pd_print_room(line->out, 8);

	*p = '[';
	if (cpu >= 0 && cpu < 1000) {
		p[1] = (char)('0' + cpu / 100);
		memcpy(p + 2, pd_two_digits + 2 * (cpu % 100), 2);
		line->out->n += 4;
	} else if (cpu < 0 && cpu > -100) {
		p[1] = '-';
		memcpy(p + 2, pd_two_digits - 2 * cpu, 2);
		line->out->n += 4;
	} else {
		line->out->n++;
		px_print_int(line->out, cpu, 0);
	}
	pd_print_const(line->out, "] ");
}

void px_misc(struct px_line *line)
{
	/*
	 * The modes are numbers, but perf tests them as bits, so that several letters may be
	 * shown.
	 */
	static const struct {
		uint16_t bits;
		char letter;
	} modes[] = {
		{ PD_CPUMODE_KERNEL, 'K' },	{ PD_CPUMODE_USER, 'U' },
		{ PD_CPUMODE_HYPERVISOR, 'H' }, { PD_CPUMODE_GUEST_KERNEL, 'G' },
		{ PD_CPUMODE_GUEST_USER, 'g' },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if ((line->rec->misc & modes[i].bits) != modes[i].bits)
			continue;
		pd_print_char(line->out, modes[i].letter);
		n++;
	}
	px_print_spaces(line->out, 6 - n);
}

/* Prints the part of a time, `rest` ns, that is after its whole seconds. */
static void print_fraction(struct px_line *line, uint32_t rest)
{
	char *p = pd_print_room(line->out, 16);

	*p++ = '.';
	line->out->n++;
	if (line->script->options.ns) {
		px_print_fixed(line->out, rest, 9);
		return;
	}
	rest /= 1000;
	memcpy(p, pd_two_digits + 2 * (rest / 10000), 2);
	memcpy(p + 2, pd_two_digits + 2 * (rest / 100 % 100), 2);
	memcpy(p + 4, pd_two_digits + 2 * (rest % 100), 2);
	line->out->n += 6;
}

/* Returns the time of a line as it is shown: see perf_sample__fprintf_start. */
static uint64_t shown_time(struct px_script *script, uint64_t time)
{
	uint64_t since = script->timed ? script->since : time;

	if (script->options.times == PX_TIMES_RECORDED)
		return time;
	script->since = script->options.times == PX_TIMES_SINCE_LAST ? time : since;
	script->timed = true;
	return time - since;
}

/* Prints a time, whose whole seconds mostly are those of the line before. */
void px_time(struct px_line *line)
{
	struct px_second *second = &line->script->second;
	uint64_t time = (uint64_t)px_integer(line, line->script->ids.time, -1);
	struct pd_print *out = line->out;
	char *p = pd_print_room(out, PX_DIGITS);

	time = shown_time(line->script, time);
	if (second->n && time - second->from < 1000000000) {
		memcpy(p, second->text, sizeof(second->text));
		out->n += second->n;
	} else {
		second->n = out->n;
		px_print_uint(out, time / 1000000000, 5);
		second->n = out->n - second->n;
		second->from = time - time % 1000000000;
		memcpy(second->text, p, sizeof(second->text));
	}
	print_fraction(line, (uint32_t)(time - second->from));
	pd_print_const(out, ": ");
}

/* Prints the local time of day; samples of one second share its text. */
void px_tod(struct px_line *line)
{
	const struct pd_clock *clock = line->rec->layout->shape->clock;
	struct px_script *script = line->script;
	uint64_t wall = (uint64_t)px_integer(line, script->ids.time, -1) +
			(uint64_t)clock->wall;
	time_t second = (time_t)(wall / 1000000000);
	struct tm tm;

	if (!clock->has_wall) {
		pd_print_const(line->out, "- ");
		return;
	}
	if (second != script->day_second) {
		if (!localtime_r(&second, &tm) ||
		    !strftime(script->day_text, sizeof(script->day_text), "%F %T", &tm))
			script->day_text[0] = '\0';
		script->day_second = second;
	}
	px_print_name(line->out, script->day_text);
	print_fraction(line, (uint32_t)(wall % 1000000000));
	pd_print_char(line->out, ' ');
}

static uint64_t get_period(const struct px_line *line)
{
	const struct pd_attr *attr = &line->event->event->attr;

	if (line->rec->layout->split || attr->sample_type & PD_SAMPLE_PERIOD)
		return (uint64_t)px_integer(line, line->script->ids.period, 1);
	return attr->sample_period; /* as in perf, even if it is a frequency */
}

void px_period(struct px_line *line)
{
	px_print_uint(line->out, get_period(line), 10);
	pd_print_char(line->out, ' ');
}

void px_event_name(struct px_line *line)
{
	px_print_bytes(line->out, line->event->name.p, line->event->name.n);
}

/* Writes the period and the event, which mostly are those of the event's last line. */
void px_period_event(struct px_line *line)
{
	struct px_counted *counted = &line->event->counted;
	uint64_t period = get_period(line);
	struct pd_print *out = line->out;
	char *p = pd_print_room(out, sizeof(counted->text) + PX_DIGITS);

	if (counted->n && counted->period == period) {
		memcpy(p, counted->text, sizeof(counted->text));
		out->n += counted->n;
		return;
	}
	counted->n = 0;
	px_period(line);
	px_event_name(line);
	if (line->event->name.n <= sizeof(counted->text) - PX_PERIOD_MOST) {
		counted->n = (size_t)(out->buffer + out->n - p);
		counted->period = period;
		memcpy(counted->text, p, sizeof(counted->text));
	}
}

/* Writes the text unchanged, with tabs, except that line feeds at its end are dropped. */
void px_trace(struct px_line *line)
{
	struct pd_text text;

	if (!pm_message(line->script->options.resolver, line->rec, line->script->text, &text))
		return;
	while (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	for (size_t n; text.n; text.p += n, text.n -= n) {
		const char *tab = memchr(text.p, '\t', text.n);

		n = tab ? (size_t)(tab - text.p) : text.n;
		px_print_text(line->out, text.p, n, 0);
		if (tab) {
			pd_print_char(line->out, '\t');
			n++;
		}
	}
}

void px_machine_pid(struct px_line *line)
{
	int32_t pid, vcpu;

	if (!pm_guest_of(line->script->options.system, line->rec, &pid, &vcpu))
		return;
	pd_print_const(line->out, "VM:");
	px_print_int(line->out, pid, 5);
	pd_print_char(line->out, ' ');
}

void px_vcpu(struct px_line *line)
{
	int32_t pid, vcpu;

	if (!pm_guest_of(line->script->options.system, line->rec, &pid, &vcpu))
		return;
	pd_print_const(line->out, "VCPU:");
	px_print_fixed(line->out, (uint32_t)vcpu % 1000, 3);
	pd_print_char(line->out, ' ');
}

#define DATA_SRC_MAX 99 /* characters, as in perf */

void px_data_src(struct px_line *line)
{
	struct px_script *script = line->script;
	struct pd_value v;
	char text[256];
	size_t n, digits, spaces;

	pm_get(line->rec, script->ids.data_src, &v);
	if (v.type != PD_VIEW)
		return;
	pd_data_src_print(&v.view, script->text, text, sizeof(text));
	n = strlen(text);
	digits = strcspn(text, " ");
	spaces = digits < 16 ? 16 - digits : 0;
	if (n > DATA_SRC_MAX - spaces)
		n = DATA_SRC_MAX - spaces;
	px_print_spaces(line->out, spaces);
	pd_print_bytes(line->out, text, n);
	n += spaces;
	/* the column is as wide as the widest value so far */
	if (n > script->data_src_size)
		script->data_src_size = n;
	px_print_spaces(line->out, script->data_src_size - n);
}

void px_weight(struct px_line *line)
{
	px_print_uint(line->out, (uint64_t)px_integer(line, line->script->ids.weight, 0), 16);
}

void px_ins_lat(struct px_line *line)
{
	px_print_uint(line->out, (uint64_t)px_integer(line, line->script->ids.ins_lat, 0), 16);
}

void px_retire_lat(struct px_line *line)
{
	px_print_uint(line->out, (uint64_t)px_integer(line, line->script->ids.retire_lat, 0),
		      16);
}

void px_cgroup(struct px_line *line)
{
	struct pd_value path;

	path.type = PD_NIL;
	pm_cgroup_path_of(line->script->options.system, line->rec, &path);
	pd_print_char(line->out, ' ');
	if (path.type == PD_STR)
		px_print_text(line->out, path.s.p, path.s.n, 0);
	else
		pd_print_const(line->out, "unknown");
}

void px_phys_addr(struct px_line *line)
{
	px_print_hex(line->out, (uint64_t)px_integer(line, line->script->ids.phys_addr, 0), 16);
}

void px_data_page_size(struct px_line *line)
{
	pd_print_char(line->out, ' ');
	px_print_page_size(line->out,
			   (uint64_t)px_integer(line, line->script->ids.data_page_size, 0));
}

void px_code_page_size(struct px_line *line)
{
	pd_print_char(line->out, ' ');
	px_print_page_size(line->out,
			   (uint64_t)px_integer(line, line->script->ids.code_page_size, 0));
}
