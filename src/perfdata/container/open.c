/*
 * Opens a recording: its envelope, the description of its events, and its streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "open_internal.h"

/*
 * Returns the path of the file with the header: in a directory that is "data". NULL without
 * memory.
 */
static char *make_header_path(const char *path, bool *directory)
{
	struct stat st;
	size_t n = strlen(path) + sizeof("/data");
	char *full = malloc(n);

	*directory = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (full)
		snprintf(full, n, "%s%s", path, *directory ? "/data" : "");
	return full;
}

/* Opens the input as pd_input_open(). The error for a directory without "data" says that. */
static bool open_input(struct pd_file *file, const char *path,
		       const volatile sig_atomic_t *interrupt, struct pd_error *err)
{
	if (pd_input_open(&file->input, file->path, interrupt, err))
		return true;
	if (file->directory && err && strcmp(err->code, "ENOENT") == 0)
		pd_error_set(err, "ENOENT", path, PD_NO_OFFSET,
			     "found a directory without the file \"data\", expected one that "
			     "perf record --threads wrote");
	return false;
}

static bool make_streams(struct pd_file *file, struct pd_error *err)
{
	struct pd_stream *streams = calloc(file->n_more + 1, sizeof(*streams));

	if (!streams)
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET, "no memory");
	streams[0] = (struct pd_stream){
		.file = file,
		.input = &file->input,
		.data = file->data,
		.open_end = file->open_end,
	};
	for (size_t i = 0; i < file->n_more; i++)
		streams[i + 1] = (struct pd_stream){
			.file = file,
			.input = &file->more[i],
			.data = { 0, file->more[i].size },
			.number = (uint16_t)(i + 1),
			.open_end = true,
		};
	file->streams = streams;
	file->n_streams = file->n_more + 1;
	return true;
}

bool pd_file_open(struct pd_file **out, const char *path, unsigned perf,
		  const volatile sig_atomic_t *interrupt, struct pd_error *err)
{
	struct pd_file *file = calloc(1, sizeof(*file));

	if (!file)
		return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	file->input.fd = -1;
	file->perf = perf;
	file->complete = true;
	pthread_mutex_init(&file->damage_lock, NULL);
	file->path = make_header_path(path, &file->directory);
	pd_field_names_init(&file->field_names);
	file->clock.time_id = pd_field_name_id(&file->field_names, "time", strlen("time"));
	if (!file->path) {
		pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	} else if (open_input(file, path, interrupt, err) && pd_envelope_read(file, err) &&
		   pd_prologue_read(file, err) && pd_describe(file, err) &&
		   (!file->directory || pd_directory_read(file, err)) &&
		   make_streams(file, err)) {
		file->input.keep = false;
		*out = file;
		return true;
	}
	pd_file_destroy(file);
	return false;
}
