#include "walk.h"

bool pd_walk_init(struct pd_walk *w, struct pd_session *session, enum pd_order order,
		  struct pd_error *err)
{
	*w = (struct pd_walk){
		.session = session,
		.order = order,
		.want = PD_ALL_TYPES,
		.to = UINT64_MAX,
	};
	for (size_t i = 0; i < session->n_files; i++) {
		struct pd_input *input = &session->files[i]->input;

		if (input->passed)
			return pd_error_set(err, "ESPIPE", input->path, PD_NO_OFFSET,
					    "a stream can be passed over once, and it was");
		input->passed = input->stream;
	}
	return true;
}

void pd_walk_deinit(struct pd_walk *w)
{
	if (w->reading)
		pd_reader_deinit(&w->reader);
	w->reading = false;
	w->file = w->session->n_files;
}

/* The next stream in the order of files; NULL: there is none. */
static struct pd_stream *next_stream(struct pd_walk *w)
{
	while (w->file < w->session->n_files) {
		struct pd_file *file = w->session->files[w->file];

		if (w->stream < file->n_streams)
			return &file->streams[w->stream++];
		w->file++;
		w->stream = 0;
	}
	return NULL;
}

int pd_walk_step(struct pd_walk *w, struct pd_record *rec, struct pd_error *err)
{
	struct pd_stream *stream;

	for (;;) {
		int got;

		if (w->reading)
			pd_reader_deinit(&w->reader);
		w->reading = false;
		stream = next_stream(w);
		if (!stream)
			return 0;
		if (!pd_reader_init(&w->reader, stream, err))
			return -1;
		w->reading = true;
		w->reader.want = w->want;
		got = pd_reader_next(&w->reader, rec, err);
		if (got)
			return got;
	}
}
