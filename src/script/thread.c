/*
 * Writes the fields that say which thread a sample is of. Their text is kept for as long as the
 * thread has its name: to make it takes half as long as the rest of a line.
 */
#include "base/hash.h"
#include "line.h"
#include "located.h"
#include "text.h"

static void write_comm(struct px_line *line)
{
	/* perf does not align the name in front of a call chain */
	size_t width = line->event->in_chain ? 0 : 16;
	struct pd_value comm;

	comm.type = PD_NIL;
	pm_comm_of(line->script->options.system, line->rec,
		   line->script->text & PD_TEXT_FORGETS_EXITED, &comm);
	if (comm.type == PD_STR)
		px_print_text(line->out, comm.s.p, comm.s.n, width);
	else
		px_print_text(line->out, ":-1", 3, width);
	pd_print_char(line->out, ' ');
}

static void write_ids(struct px_line *line, int64_t pid, int64_t tid)
{
	struct pd_print *out = line->out;
	size_t width = line->script->id_width, start, n;

	if (line->event->fields & PX_BIT(PX_PID))
		px_print_int(out, pid, width);
	if (line->event->fields & PX_BIT(PX_PID) && line->event->fields & PX_BIT(PX_TID)) {
		pd_print_char(out, '/');
		/* make room for all, so that `out->n` is not reset in between */
		pd_print_room(out, 2 * PX_DIGITS);
		start = out->n;
		px_print_int(out, tid, 0);
		n = out->n - start;
		px_print_spaces(out, n < width ? width - n : 0);
	} else if (line->event->fields & PX_BIT(PX_TID)) {
		px_print_int(out, tid, width);
	}
	pd_print_char(out, ' ');
}

static void write_thread(struct px_line *line, int64_t pid, int64_t tid)
{
	const uint64_t ids = PX_BIT(PX_PID) | PX_BIT(PX_TID);

	if (line->event->fields & PX_BIT(PX_COMM))
		write_comm(line);
	if (line->event->fields & ids)
		write_ids(line, pid, tid);
}

/* Makes *kept the text of the line's thread. Returns false if it cannot be kept. */
static bool keep_thread(struct px_line *line, int64_t pid, int64_t tid,
			struct px_thread_text *kept)
{
	const struct px_script *script = line->script;
	struct pd_print *out = line->out, *text = px_located_begin(script->located);
	struct pd_time_range times = pm_comm_times(script->options.system, line->rec,
						   script->text & PD_TEXT_FORGETS_EXITED);

	if (!times.known)
		return false;
	line->out = text;
	write_thread(line, pid, tid);
	line->out = out;
	if (script->located->is_too_long || text->n > sizeof(kept->text))
		return false;
	*kept = (struct px_thread_text){
		.taken = pm_system_revision(script->options.system) + 1,
		.times = times,
		.pid = pid,
		.tid = tid,
		.source = line->rec->source,
		.form = line->event->thread_form,
		.n = (uint8_t)text->n,
	};
	memcpy(kept->text, text->buffer, text->n);
	return true;
}

void px_thread(struct px_line *line)
{
	struct px_script *script = line->script;
	uint64_t time = (uint64_t)px_integer(line, script->ids.time, -1);
	int64_t pid = px_integer(line, script->ids.pid, -1);
	int64_t tid = px_integer(line, script->ids.tid, -1);
	unsigned form = line->event->thread_form;
	struct px_thread_text *kept =
		&script->threads[pb_scatter((uint64_t)tid ^ form) >> (64 - PX_THREAD_BITS)];
	bool is_kept = kept->taken == pm_system_revision(script->options.system) + 1 &&
		       kept->tid == tid && kept->pid == pid && kept->form == form &&
		       kept->source == line->rec->source && time >= kept->times.first &&
		       time <= kept->times.last;

	if (!is_kept && !keep_thread(line, pid, tid, kept)) {
		write_thread(line, pid, tid);
		return;
	}
	memcpy(pd_print_room(line->out, sizeof(kept->text)), kept->text, sizeof(kept->text));
	line->out->n += kept->n;
}
