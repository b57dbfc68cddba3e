/*
 * Writes addresses with their functions and binaries: ip, call chains, addr. See
 * sample__fprintf_sym, tools/perf/util/evsel_fprintf.c.
 */
#include "line.h"
#include "located.h"
#include "text.h"
#include "perfdata/format/views.h"

static struct pm_addr_context *get_addr_context(struct px_line *line)
{
	if (!line->context_known)
		pm_addr_context_of(line->script->options.system, line->rec, &line->context);
	line->context_known = true;
	return &line->context;
}

/*
 * Returns true if perf has forgotten what the sample's process had mapped. perf keeps the maps
 * with the first thread of the process.
 */
static bool has_lost_maps(struct px_line *line)
{
	const struct pm_system *system = line->script->options.system;
	int32_t pid = (int32_t)px_integer(line, line->script->ids.pid, -1);
	int32_t tid = (int32_t)px_integer(line, line->script->ids.tid, -1);

	if (line->maps_lost == PX_UNKNOWN)
		line->maps_lost = pm_is_forgotten(system, line->rec, tid) &&
				  (pid == tid || pm_is_forgotten(system, line->rec, pid));
	return line->maps_lost == PX_YES;
}

/* Returns true if perf has forgotten what was mapped at the line's addresses in `mode`. */
static bool forgets_maps(struct px_line *line, enum pd_cpumode mode)
{
	return mode == PD_CPUMODE_USER && line->script->text & PD_TEXT_FORGETS_EXITED &&
	       has_lost_maps(line);
}

/*
 * Finds what is at an address of code in `mode`. If the line shows no symbols, it finds only
 * the map.
 */
static void find_code_location(struct px_line *line, uint64_t address, enum pd_cpumode mode,
			       struct pm_location *location)
{
	const struct px_options *options = &line->script->options;
	struct pm_addr_context *context = get_addr_context(line);

	context->mode = mode;
	if (forgets_maps(line, mode)) {
		*location = (struct pm_location){ .address = address };
		return;
	}
	if (line->event->fields & (PX_BIT(PX_SYM) | PX_BIT(PX_SRCLINE))) {
		pm_location_at(options->resolver, context, address, location);
		/* code made at run time may replace other code */
		line->by_time |= location->map && location->map->dso->id.kind == PS_JIT;
		return;
	}
	*location = (struct pm_location){ .map = pm_map_at(options->system, context, address) };
	location->address = location->map ? pm_map_address(location->map, address) : address;
}

void px_find_branch_location(struct px_line *line, uint64_t address,
			     struct pm_location *location)
{
	const struct px_options *options = &line->script->options;
	struct pm_addr_context *context = get_addr_context(line);

	context->mode = line->rec->misc & PD_MISC_CPUMODE;
	context->mode = pm_implied_mode(options->system, context, address);
	pm_location_at(options->resolver, context, address, location);
}

void px_find_data_location(struct px_line *line, uint64_t address, struct pm_location *location)
{
	struct pm_addr_context *context = get_addr_context(line);

	context->mode = line->rec->misc & PD_MISC_CPUMODE;
	context->any_mode = true;
	pm_location_at(line->script->options.resolver, context, address, location);
	context->any_mode = false;
}

void px_print_symbol(struct pd_print *out, const struct pm_location *location, bool offset)
{
	if (!location->symbol) {
		pd_print_const(out, PM_UNKNOWN);
		return;
	}
	px_print_text(out, location->symbol->name, location->symbol->length, 0);
	if (!offset)
		return;
	pd_print_const(out, "+0x");
	px_print_hex(out, pm_location_offset(location), 0);
}

void px_print_dso(struct px_line *line, const struct pm_location *location)
{
	struct pd_print *out = line->out;

	pd_print_char(out, '(');
	if (location->map)
		px_print_name(out, location->map->dso->name);
	else
		pd_print_const(out, PM_UNKNOWN);
	if (location->map && (line->event->fields & PX_BIT(PX_DSOFF))) {
		pd_print_const(out, "+0x");
		px_print_hex(out, location->address, 0);
	}
	pd_print_char(out, ')');
}

/*
 * Writes the source line on a line of its own. Without a file to ask it writes the address in
 * the binary: see map__fprintf_srcline, tools/perf/util/map.c.
 */
static void print_srcline(struct pd_print *out, const struct pm_location *location,
			  const char *srcline)
{
	if (!location->map)
		return;
	if (!srcline && location->map->dso->path && location->map->dso->name[0] != '[')
		return;
	pd_print_const(out, "\n  ");
	if (srcline) {
		px_print_name(out, srcline);
		return;
	}
	px_print_name(out, location->map->dso->short_name);
	pd_print_char(out, '[');
	px_print_hex(out, location->address, 0);
	pd_print_char(out, ']');
}

/*
 * Returns the source line of function number `at` at a location, innermost first; after the
 * last one that of the outermost. NULL: not known.
 */
static const char *find_srcline(const struct pm_location *location, size_t at)
{
	const struct ps_line *lines;
	size_t n = location->map ? ps_dso_lines(location->map->dso, location->address, &lines) :
				   0;

	if (!n)
		return NULL;
	return lines[at < n ? at : n - 1].srcline;
}

static void print_location(struct px_line *line, const struct pm_location *location)
{
	uint64_t fields = line->event->fields;

	if (fields & PX_BIT(PX_SYM)) {
		pd_print_char(line->out, ' ');
		px_print_symbol(line->out, location, fields & PX_BIT(PX_SYMOFF));
	}
	if (fields & PX_BIT(PX_DSO)) {
		pd_print_char(line->out, ' ');
		px_print_dso(line, location);
	}
}

/* Fields for which a line has to look up what is at an address. */
#define NEEDS_LOCATION (PX_BIT(PX_SYM) | PX_BIT(PX_DSO) | PX_BIT(PX_SRCLINE))

/* Writes what is at an address: it stands after it. */
static void write_after_ip(struct px_line *line, uint64_t ip, enum pd_cpumode mode)
{
	size_t which = line->script->text & PD_TEXT_OUTERMOST_LINE ? SIZE_MAX : 0;
	struct pm_location location;

	find_code_location(line, ip, mode, &location);
	print_location(line, &location);
	if (line->event->fields & PX_BIT(PX_SRCLINE))
		print_srcline(line->out, &location, find_srcline(&location, which));
}

typedef void location_writer(struct px_line *line, uint64_t ip, enum pd_cpumode mode);

/*
 * Returns the tag of the text that `write` writes of addresses in `mode`; 0: it depends on more
 * than what is mapped.
 */
static uint64_t find_tag(struct px_line *line, location_writer *write, enum pd_cpumode mode)
{
	bool kernel = mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_GUEST_KERNEL;
	uint64_t fields = line->event->fields, number = line->numbers[kernel];
	unsigned form = write == write_after_ip;

	if (forgets_maps(line, mode))
		return 0;
	if (number == PX_UNASKED)
		number = px_located_number(line->script->located, line->script->options.system,
					   get_addr_context(line), kernel);
	line->numbers[kernel] = number;
	form |= (unsigned)line->event->unwound << 1;
	form |= (unsigned)!!(fields & PX_BIT(PX_SYM)) << 2;
	form |= (unsigned)!!(fields & PX_BIT(PX_DSO)) << 3;
	form |= (unsigned)!!(fields & PX_BIT(PX_SYMOFF)) << 4;
	form |= (unsigned)!!(fields & PX_BIT(PX_SRCLINE)) << 5;
	form |= (unsigned)!!(fields & PX_BIT(PX_DSOFF)) << 6;
	return number ? px_located_tag(number, mode, form) : 0;
}

/*
 * Writes what `write` writes of an address, from the texts that are kept if it is there. `tag`
 * is that of find_tag().
 */
static void write_located(struct px_line *line, location_writer *write, uint64_t ip,
			  enum pd_cpumode mode, uint64_t tag)
{
	struct px_located *located = line->script->located;
	struct pd_print *out = line->out;
	const char *text;
	size_t n = 0;

	text = tag ? px_located_find(located, ip, tag, &n) : NULL;
	if (tag && !text) {
		line->by_time = false;
		line->out = px_located_begin(located);
		write(line, ip, mode);
		line->out = out;
		if (!line->by_time)
			text = px_located_keep(located, ip, tag, &n);
	}
	if (text)
		px_print_bytes(out, text, n);
	else
		write(line, ip, mode);
}

void px_ip(struct px_line *line)
{
	uint64_t ip = (uint64_t)px_integer(line, line->script->ids.ip, 0);
	enum pd_cpumode mode = line->rec->misc & PD_MISC_CPUMODE;

	pd_print_char(line->out, ' ');
	px_print_hex(line->out, ip, 16);
	if (line->event->fields & NEEDS_LOCATION)
		write_located(line, write_after_ip, ip, mode,
			      find_tag(line, write_after_ip, mode));
}

/* Returns true if functions inlined in a frame of `mode` are shown. */
static bool shows_inlined(const struct px_line *line, enum pd_cpumode mode)
{
	enum px_inlined inlined = line->script->options.inlined;

	return inlined == PX_INLINED_ALL || (inlined == PX_INLINED_UNWOUND &&
					     line->event->unwound && mode == PD_CPUMODE_USER);
}

static bool is_kernel_dso(const struct ps_dso *dso)
{
	return dso->id.kind == PS_KERNEL || dso->id.kind == PS_MODULE || dso->id.kind == PS_BPF;
}

/*
 * Returns the address that is shown for a frame. Older perfs show where an address of a user's
 * is in its binary.
 */
static uint64_t shown_address(const struct px_line *line, const struct pm_location *location,
			      uint64_t ip)
{
	bool relative = !(line->script->text & PD_TEXT_RECORDED_ADDRESSES) && location->map &&
			!is_kernel_dso(location->map->dso);

	return relative ? location->address : ip;
}

/*
 * Writes the functions inlined at a location, innermost first, each as a frame of that address.
 * Returns their number.
 */
static size_t print_inlined(struct px_line *line, const struct pm_location *location,
			    uint64_t address)
{
	uint64_t fields = line->event->fields;
	const struct ps_line *lines;
	size_t n = ps_dso_lines(location->map->dso, location->address, &lines);

	for (size_t i = 0; i + 1 < n; i++) {
		const char *name = lines[i].function ? lines[i].function : PM_UNKNOWN;
		/* as in perf, a function inlined into one of its name is not marked */
		bool marked = strcmp(name, location->symbol->name) != 0;

		pd_print_char(line->out, '\t');
		px_print_hex(line->out, address, 16);
		if (!marked)
			print_location(line, location);
		if (marked && fields & PX_BIT(PX_SYM)) {
			pd_print_char(line->out, ' ');
			px_print_name(line->out, name);
		}
		if (marked && fields & PX_BIT(PX_SYMOFF)) {
			pd_print_const(line->out, "+0x");
			px_print_hex(line->out, pm_location_offset(location), 0);
		}
		if (fields & PX_BIT(PX_SRCLINE))
			print_srcline(line->out, location, lines[i].srcline);
		if (marked)
			pd_print_const(line->out, " (inlined)");
		pd_print_char(line->out, '\n');
	}
	return n ? n - 1 : 0;
}

static void write_frame(struct px_line *line, uint64_t ip, enum pd_cpumode mode)
{
	struct pm_location location;
	size_t inlined = 0;

	find_code_location(line, ip, mode, &location);
	ip = shown_address(line, &location, ip);
	if (location.symbol && shows_inlined(line, mode))
		inlined = print_inlined(line, &location, ip);
	pd_print_char(line->out, '\t');
	px_print_hex(line->out, ip, 16);
	print_location(line, &location);
	if (line->event->fields & PX_BIT(PX_SRCLINE))
		print_srcline(line->out, &location, find_srcline(&location, inlined));
	pd_print_char(line->out, '\n');
}

/* Returns true if a frame is its address as it was recorded, whatever is there. */
static bool is_plain(const struct px_line *line, enum pd_cpumode mode)
{
	bool user = mode == PD_CPUMODE_USER || mode == PD_CPUMODE_GUEST_USER;

	return !(line->event->fields & NEEDS_LOCATION) &&
	       (!user || line->script->text & PD_TEXT_RECORDED_ADDRESSES);
}

#define FRAMES_AT_ONCE 32

/*
 * Writes frames of a chain. Texts that are kept are prefetched before the first is copied.
 */
static void write_frames(struct px_line *line, const struct pd_frame *frames, size_t n)
{
	struct px_located *located = line->script->located;
	uint64_t tags[FRAMES_AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		enum pd_cpumode mode = (enum pd_cpumode)frames[i].mode;

		tags[i] = is_plain(line, mode) ? 0 : find_tag(line, write_frame, mode);
		if (tags[i])
			px_located_prefetch(located, frames[i].ip, tags[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (tags[i])
			px_located_prefetch_text(located, frames[i].ip, tags[i]);
	for (size_t i = 0; i < n; i++) {
		enum pd_cpumode mode = (enum pd_cpumode)frames[i].mode;

		if (!is_plain(line, mode)) {
			write_located(line, write_frame, frames[i].ip, mode, tags[i]);
			continue;
		}
		pd_print_char(line->out, '\t');
		px_print_hex(line->out, frames[i].ip, 16);
		pd_print_char(line->out, '\n');
	}
}

static void print_recorded(struct px_line *line, size_t max)
{
	struct pd_frame at_once[FRAMES_AT_ONCE];
	struct pd_frames frames;
	struct pd_value v;
	uint64_t ip;

	pm_get(line->rec, line->script->ids.callchain, &v);
	if (v.type != PD_VIEW || !pd_frames_are_known(&v.view))
		return;
	pd_frames_init(&frames, &v.view);
	for (size_t n = 0, k; n < max; n += k) {
		for (k = 0; k < FRAMES_AT_ONCE && n + k < max && pd_frames_next(&frames, &ip);
		     k++)
			at_once[k] = (struct pd_frame){ .ip = ip, .mode = frames.mode };
		write_frames(line, at_once, k);
		if (k < FRAMES_AT_ONCE)
			break;
	}
}

void px_callchain(struct px_line *line)
{
	const struct px_options *options = &line->script->options;
	size_t max = options->max_stack ? options->max_stack : SIZE_MAX, n;
	const struct pd_frame *frames;

	pd_print_char(line->out, '\n');
	if (!pm_frames_may_differ(line->rec)) {
		print_recorded(line, max);
		return;
	}
	frames = pm_frames_of(options->resolver, line->rec, &n);
	n = n < max ? n : max;
	for (size_t i = 0; i < n; i += FRAMES_AT_ONCE)
		write_frames(line, frames + i, n - i < FRAMES_AT_ONCE ? n - i : FRAMES_AT_ONCE);
}

void px_addr(struct px_line *line)
{
	uint64_t addr = (uint64_t)px_integer(line, line->script->ids.addr, 0);
	struct pm_location location;

	px_print_hex(line->out, addr, 16);
	if (!line->event->data_addr || !(line->event->fields & NEEDS_LOCATION))
		return;
	px_find_data_location(line, addr, &location);
	print_location(line, &location);
}
