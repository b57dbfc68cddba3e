/*
 * Speedscope's own format: a sampled profile for each event and thread.
 * https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
 */
#include "base/string_builder.h"
#include "perfdata/format/print_scalar.h"
#include "profile.h"

static void print_text(const struct pe_profile *p, struct pd_print *out, uint32_t number)
{
	struct pd_text text = pe_text(p, number);

	pd_print_json_string(out, text.p, text.n);
}

/* Each line of a function is a frame; without a source file it has its binary's name. */
static void print_frame(const struct pe_profile *p, struct pd_print *out, uint32_t number)
{
	const struct pe_line *line = pe_line_at(p, number);
	const struct pe_function *function = pe_function_at(p, line->function);

	pd_print_const(out, "{\"name\":");
	print_text(p, out, function->name);
	pd_print_const(out, ",\"file\":");
	print_text(p, out,
		   function->file == PE_NONE ? pe_binary_at(p, function->binary)->name :
					       function->file);
	if (line->line) {
		pd_print_const(out, ",\"line\":");
		pd_print_uint(out, line->line);
	}
	pd_print_char(out, '}');
}

/* Prints the frames of an entry, caller first. */
static void print_stack(const struct pe_profile *p, struct pd_print *out,
			const struct pe_entry *entry)
{
	size_t n;
	const uint32_t *frames = pe_entry_frames(p, entry, &n);
	char separator = '[';

	while (n--) {
		uint32_t n_lines;
		const uint32_t *lines = pe_frame_lines(p, frames[n], &n_lines);

		while (n_lines--) {
			pd_print_char(out, separator);
			pd_print_uint(out, lines[n_lines]);
			separator = ',';
		}
	}
	pd_print_char(out, ']');
}

/*
 * Prints the entries from `at` on that are of one event and thread. Returns the position behind
 * them; `name` is room for text.
 */
static size_t print_profile(const struct pe_profile *p, struct pd_print *out, size_t at,
			    struct pb_string *name)
{
	const struct pe_entry *first = &p->entries[at], *entry;
	const struct pe_entry *all = p->entries + p->n_entries;
	const struct pe_event *event = &p->events[first->event];
	uint64_t total = 0;

	pe_thread_name(p, first->thread, name);
	pb_string_put(name, ", ");
	pb_string_put(name, pe_text(p, event->name).p);
	pd_print_const(out, "{\"type\":\"sampled\",\"name\":");
	pd_print_json_string(out, name->p, name->n);
	pd_print_name(out, event->is_time ? ",\"unit\":\"nanoseconds\"" : ",\"unit\":\"none\"");
	pd_print_const(out, ",\"samples\":[\n");
	for (entry = first;
	     entry < all && entry->event == first->event && entry->thread == first->thread;
	     entry++) {
		pd_print_name(out, entry > first ? ",\n" : "");
		print_stack(p, out, entry);
	}
	pd_print_const(out, "\n],\"weights\":[");
	for (const struct pe_entry *e = first; e < entry; e++) {
		pd_print_name(out, e > first ? "," : "");
		pd_print_uint(out, e->weight);
		total += e->weight;
	}
	pd_print_const(out, "],\"startValue\":0,\"endValue\":");
	pd_print_uint(out, total);
	pd_print_char(out, '}');
	return (size_t)(entry - p->entries);
}

bool pe_write_speedscope(const struct pe_profile *p, const char *title, struct pd_print *out)
{
	struct pb_string name = { 0 };
	bool ok;

	pd_print_const(out,
		       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		       "\"exporter\":\"perflua\",\"name\":");
	pd_print_json_string(out, title, strlen(title));
	pd_print_const(out, ",\n\"shared\":{\"frames\":[\n");
	for (uint32_t i = 0; i < p->lines.n; i++) {
		pd_print_name(out, i ? ",\n" : "");
		print_frame(p, out, i);
	}
	pd_print_const(out, "\n]},\n\"profiles\":[\n");
	for (size_t at = 0; at < p->n_entries && !name.failed;) {
		pd_print_name(out, at ? ",\n" : "");
		at = print_profile(p, out, at, &name);
	}
	pd_print_const(out, "\n]}\n");
	ok = !name.failed;
	pb_string_deinit(&name);
	return ok;
}
