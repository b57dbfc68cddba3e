/*
 * Opening a recording: its envelope, then what its features say of the events.
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"

bool pd_file_open(struct pd_file **out, const char *path, struct pd_error *err)
{
	struct pd_file *file = calloc(1, sizeof(*file));

	if (!file)
		return pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	file->input.fd = -1;
	file->complete = true;
	file->path = strdup(path);
	pd_names_init(&file->names);
	if (!file->path) {
		pd_error_set(err, "ENOMEM", path, PD_NO_OFFSET, "no memory");
	} else if (pd_input_open(&file->input, file->path, err) &&
		   pd_envelope_read(file, err) &&
		   (!file->pipe || pd_prologue_read(file, err)) && pd_describe(file, err)) {
		file->input.keep = false;
		*out = file;
		return true;
	}
	pd_file_destroy(file);
	return false;
}
