/*
 * Addresses with their functions and binaries: ip, call chains, addr. See sample__fprintf_sym,
 * tools/perf/util/evsel_fprintf.c.
 */
#include "line.h"
#include "text.h"
#include "perfdata/format/views.h"

static struct pm_where *where_of(struct px_line *line)
{
	if (!line->where_known)
		pm_where_of(line->script->options.machine, line->rec, &line->where);
	line->where_known = true;
	return &line->where;
}

/*
 * Returns true if perf has forgotten what was mapped in the sample's process. The maps are the
 * first thread's.
 */
static bool has_lost_maps(struct px_line *line)
{
	const struct pm_machine *machine = line->script->options.machine;
	int32_t pid = (int32_t)px_integer(line, line->script->ids.pid, -1);
	int32_t tid = (int32_t)px_integer(line, line->script->ids.tid, -1);

	if (line->maps_lost == PX_UNKNOWN)
		line->maps_lost = pm_is_forgotten(machine, line->rec, tid) &&
				  (pid == tid || pm_is_forgotten(machine, line->rec, pid));
	return line->maps_lost == PX_YES;
}

/* What is at an address of code in that mode; if nobody asks for symbols only the map. */
static void find_place(struct px_line *line, uint64_t address, enum pd_cpumode mode,
		       struct pm_place *place)
{
	const struct px_options *options = &line->script->options;
	struct pm_where *where = where_of(line);

	where->mode = mode;
	if (mode == PD_CPUMODE_USER && line->script->text & PD_TEXT_FORGETS_EXITED &&
	    has_lost_maps(line)) {
		*place = (struct pm_place){ .address = address };
		return;
	}
	if (line->event->fields & (PX_BIT(PX_SYM) | PX_BIT(PX_SRCLINE))) {
		pm_place_at(options->resolver, where, address, place);
		return;
	}
	*place = (struct pm_place){ .map = pm_map_at(options->machine, where, address) };
	place->address = place->map ? pm_map_address(place->map, address) : address;
}

void px_place_any(struct px_line *line, uint64_t address, struct pm_place *place)
{
	struct pm_where *where = where_of(line);

	where->mode = line->rec->misc & PD_MISC_CPUMODE;
	where->any_mode = true;
	pm_place_at(line->script->options.resolver, where, address, place);
	where->any_mode = false;
}

void px_print_symbol(struct pd_print *out, const struct pm_place *place, bool offset)
{
	if (!place->symbol) {
		pd_print_const(out, PM_UNKNOWN);
		return;
	}
	px_print_text(out, place->symbol->name, place->symbol->length, 0);
	if (!offset)
		return;
	pd_print_const(out, "+0x");
	px_print_hex(out, pm_place_offset(place), 0);
}

void px_print_dso(struct pd_print *out, const struct pm_place *place)
{
	pd_print_char(out, '(');
	if (place->map)
		px_print_name(out, place->map->dso->name);
	else
		pd_print_const(out, PM_UNKNOWN);
	pd_print_char(out, ')');
}

/*
 * The line in the source on a line of its own; where there is no file to ask, the place in the
 * binary. See map__fprintf_srcline, tools/perf/util/map.c.
 */
static void print_srcline(struct pd_print *out, const struct pm_place *place,
			  const char *srcline)
{
	if (!place->map)
		return;
	if (!srcline && place->map->dso->path && place->map->dso->name[0] != '[')
		return;
	pd_print_const(out, "\n  ");
	if (srcline) {
		px_print_name(out, srcline);
		return;
	}
	px_print_name(out, place->map->dso->short_name);
	pd_print_char(out, '[');
	px_print_hex(out, place->address, 0);
	pd_print_char(out, ']');
}

/*
 * Returns the line of the function number `at` at a place, innermost first; beyond the last one
 * that of the outermost. Returns NULL if none is known.
 */
static const char *srcline_of(const struct pm_place *place, size_t at)
{
	const struct ps_line *lines;
	size_t n = place->map ? ps_dso_lines(place->map->dso, place->address, &lines) : 0;

	if (!n)
		return NULL;
	return lines[at < n ? at : n - 1].srcline;
}

static void print_place(struct px_line *line, const struct pm_place *place)
{
	uint64_t fields = line->event->fields;

	if (fields & PX_BIT(PX_SYM)) {
		pd_print_char(line->out, ' ');
		px_print_symbol(line->out, place, fields & PX_BIT(PX_SYMOFF));
	}
	if (fields & PX_BIT(PX_DSO)) {
		pd_print_char(line->out, ' ');
		px_print_dso(line->out, place);
	}
}

/* Does a line need to know what is at an address? */
#define NEEDS_PLACE (PX_BIT(PX_SYM) | PX_BIT(PX_DSO) | PX_BIT(PX_SRCLINE))

void px_ip(struct px_line *line)
{
	uint64_t ip = (uint64_t)px_integer(line, line->script->ids.ip, 0);
	size_t which = line->script->text & PD_TEXT_OUTERMOST_LINE ? SIZE_MAX : 0;
	struct pm_place place;

	pd_print_char(line->out, ' ');
	px_print_hex(line->out, ip, 16);
	if (!(line->event->fields & NEEDS_PLACE))
		return;
	find_place(line, ip, line->rec->misc & PD_MISC_CPUMODE, &place);
	print_place(line, &place);
	if (line->event->fields & PX_BIT(PX_SRCLINE))
		print_srcline(line->out, &place, srcline_of(&place, which));
}

/* Returns true if functions inlined in that frame are shown. */
static bool shows_inlined(const struct px_line *line, enum pd_cpumode mode)
{
	enum px_inlined inlined = line->script->options.inlined;

	return inlined == PX_INLINED_ALL || (inlined == PX_INLINED_UNWOUND &&
					     line->event->unwound && mode == PD_CPUMODE_USER);
}

static bool is_kernel(const struct ps_dso *dso)
{
	return dso->id.kind == PS_KERNEL || dso->id.kind == PS_MODULE || dso->id.kind == PS_BPF;
}

/*
 * Returns an address of a call chain as it is shown: older perfs show where a user's address is
 * in its binary.
 */
static uint64_t shown_address(const struct px_line *line, const struct pm_place *place,
			      uint64_t ip)
{
	bool relative = !(line->script->text & PD_TEXT_RECORDED_ADDRESSES) && place->map &&
			!is_kernel(place->map->dso);

	return relative ? place->address : ip;
}

/*
 * Prints the functions inlined at a place, innermost first, each as a frame of that address.
 * Returns their number.
 */
static size_t print_inlined(struct px_line *line, const struct pm_place *place,
			    uint64_t address)
{
	uint64_t fields = line->event->fields;
	const struct ps_line *lines;
	size_t n = ps_dso_lines(place->map->dso, place->address, &lines);

	for (size_t i = 0; i + 1 < n; i++) {
		const char *name = lines[i].function ? lines[i].function : PM_UNKNOWN;

		pd_print_char(line->out, '\t');
		px_print_hex(line->out, address, 16);
		if (fields & PX_BIT(PX_SYM)) {
			pd_print_char(line->out, ' ');
			px_print_name(line->out, name);
		}
		if (fields & PX_BIT(PX_SYMOFF)) {
			pd_print_const(line->out, "+0x");
			px_print_hex(line->out, pm_place_offset(place), 0);
		}
		if (fields & PX_BIT(PX_SRCLINE))
			print_srcline(line->out, place, lines[i].srcline);
		pd_print_const(line->out, " (inlined)\n");
	}
	return n ? n - 1 : 0;
}

static void print_frame(struct px_line *line, uint64_t ip, enum pd_cpumode mode)
{
	struct pm_place place;
	size_t inlined = 0;

	find_place(line, ip, mode, &place);
	ip = shown_address(line, &place, ip);
	if (place.symbol && shows_inlined(line, mode))
		inlined = print_inlined(line, &place, ip);
	pd_print_char(line->out, '\t');
	px_print_hex(line->out, ip, 16);
	print_place(line, &place);
	if (line->event->fields & PX_BIT(PX_SRCLINE))
		print_srcline(line->out, &place, srcline_of(&place, inlined));
	pd_print_char(line->out, '\n');
}

/*
 * Are all context markers of a chain known? What has others is not believed at all, as perf has
 * it: see add_callchain_ip, tools/perf/util/machine.c.
 */
static bool is_sound(const struct pd_view *view)
{
	struct pd_frames frames;
	uint64_t ip;

	pd_frames_init(&frames, view);
	while (pd_frames_next(&frames, &ip) && frames.mode != PD_CPUMODE_UNKNOWN)
		;
	return frames.mode != PD_CPUMODE_UNKNOWN;
}

static void print_recorded(struct px_line *line, size_t max)
{
	struct pd_frames frames;
	struct pd_value v;
	uint64_t ip;

	pm_get(line->rec, line->script->ids.callchain, &v);
	if (v.type != PD_VIEW || !is_sound(&v.view))
		return;
	pd_frames_init(&frames, &v.view);
	for (size_t n = 0; n < max && pd_frames_next(&frames, &ip); n++)
		print_frame(line, ip, frames.mode);
}

void px_callchain(struct px_line *line)
{
	const struct px_options *options = &line->script->options;
	size_t max = options->max_stack ? options->max_stack : SIZE_MAX, n;
	const struct pd_frame *frames;

	pd_print_char(line->out, '\n');
	if (!pm_frames_beside(line->rec)) {
		print_recorded(line, max);
		return;
	}
	frames = pm_frames_of(options->resolver, line->rec, &n);
	for (size_t i = 0; i < n && i < max; i++)
		print_frame(line, frames[i].ip, (enum pd_cpumode)frames[i].mode);
}

void px_addr(struct px_line *line)
{
	uint64_t addr = (uint64_t)px_integer(line, line->script->ids.addr, 0);
	struct pm_place place;

	px_print_hex(line->out, addr, 16);
	if (!line->event->data_addr || !(line->event->fields & NEEDS_PLACE))
		return;
	px_place_any(line, addr, &place);
	print_place(line, &place);
}
