#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "open_internal.h"

static bool open_file(struct pd_session *s, const char *path, bool numbered, size_t *compared,
		      const volatile sig_atomic_t *interrupt, struct pd_error *err)
{
	struct pd_file **file = &s->files[s->n_files];

	s->paths[s->n_files] = strdup(path);
	if (!s->paths[s->n_files])
		return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	if (!pd_file_open(file, path, s->perf, interrupt, err))
		return false;
	s->n_files++;
	s->perf = (*file)->perf;
	(*file)->session = s;
	(*file)->source = (uint16_t)(numbered ? s->n_files : 0);
	for (size_t i = 0; i < (*file)->n_events; i++)
		if (!pd_session_add_event(s, &(*file)->events[i], compared))
			return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	return true;
}

bool pd_session_open(struct pd_session **out, const char *const *paths, size_t n, bool numbered,
		     unsigned perf, const volatile sig_atomic_t *interrupt,
		     struct pd_error *err)
{
	struct pd_session *s = calloc(1, sizeof(*s));
	size_t compared = 0;
	bool ok = s && (s->files = calloc(n, sizeof(*s->files))) &&
		  (s->paths = calloc(n + 1, sizeof(*s->paths)));

	if (!ok)
		pd_error_set(err, "ENOMEM", paths[0], PD_NO_OFFSET, "no memory");
	if (s)
		s->perf = perf;
	while (ok && s->n_files < n)
		ok = open_file(s, paths[s->n_files], numbered, &compared, interrupt, err);
	if (!ok) {
		pd_session_destroy(s);
		return false;
	}
	s->text = pd_perf_text_of(s->perf);
	s->window = PD_WINDOW;
	pd_session_compare_clocks(s);
	*out = s;
	return true;
}

void pd_session_measure(struct pd_session *s, struct pb_timing *timing, unsigned number)
{
	s->timing = timing;
	s->number = number;
	for (size_t i = 0; i < s->n_files; i++) {
		struct pd_file *file = s->files[i];

		for (size_t k = 0; k < file->n_streams; k++)
			file->streams[k].input->timing = timing;
	}
}

void pd_session_close(struct pd_session *s)
{
	for (size_t i = 0; i < s->n_files; i++)
		pd_file_close(s->files[i]);
}

void pd_session_destroy(struct pd_session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++)
		pd_file_destroy(s->files[i]);
	for (size_t i = 0; s->paths && s->paths[i]; i++)
		free(s->paths[i]);
	free(s->paths);
	free(s->files);
	free(s->events);
	free(s);
}

uint64_t pd_session_size(const struct pd_session *s)
{
	uint64_t size = 0;

	for (size_t i = 0; i < s->n_files; i++)
		for (size_t k = 0; k < s->files[i]->n_streams; k++)
			size += s->files[i]->streams[k].data.size;
	return size;
}

double pd_session_part(const struct pd_session *s, const struct pd_record *rec)
{
	const struct pd_stream *stream = pd_session_stream(s, rec);
	bool reached = false;
	double before = (double)(rec->offset - stream->data.offset), all = 0;

	if (stream->input->stream)
		return -1;
	for (size_t i = 0; i < s->n_files; i++) {
		for (size_t k = 0; k < s->files[i]->n_streams; k++) {
			const struct pd_stream *other = &s->files[i]->streams[k];

			reached = reached || other == stream;
			all += (double)other->data.size;
			before += reached ? 0 : (double)other->data.size;
		}
	}
	return all > 0 ? before / all : 0;
}
