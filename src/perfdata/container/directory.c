/*
 * The directory that `perf record --threads` writes: "data" is a complete recording; data.0,
 * data.1 … beside it hold the records of one ring buffer each, without a header. See
 * perf_data__open_dir, tools/perf/util/data.c.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "open_internal.h"
#include "perfdata/format/format.h"

#define PREFIX	    "data."
#define DIR_VERSION 1 /* version 0, as first specified, had the file "data" only */
#define MAX_STREAMS 65535

/*
 * Returns whether `name` is "data." and a number. Other files are not perf's: copies, backups.
 */
static bool parse_stream_number(const char *name, unsigned long *number)
{
	char *end;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	name += strlen(PREFIX);
	errno = 0;
	*number = strtoul(name, &end, 10);
	return *name >= '0' && *name <= '9' && !*end && !errno;
}

static char *join_directory_path(const struct pd_file *file, const char *name)
{
	size_t dir = strlen(file->path) - strlen("data"), n = dir + strlen(name) + 1;
	char *path = malloc(n);

	if (path)
		snprintf(path, n, "%.*s%s", (int)dir, file->path, name);
	return path;
}

static int compare_stream_numbers(const void *a, const void *b)
{
	const struct pd_input *x = a, *y = b;
	unsigned long m = 0, n = 0;

	parse_stream_number(strrchr(x->path, '/') + 1, &m);
	parse_stream_number(strrchr(y->path, '/') + 1, &n);
	return m < n ? -1 : m > n;
}

/*
 * Opens a file of the directory. If that fails, damage is noted. Returns false without memory.
 */
static bool add_stream_file(struct pd_file *file, const char *name, struct pd_error *err)
{
	char *path = join_directory_path(file, name);
	struct pd_error why;

	if (!path || !pb_reserve(file->more, file->n_more, file->more_room)) {
		free(path);
		return pd_error_set(err, "ENOMEM", file->path, PD_NO_OFFSET, "no memory");
	}
	if (!pd_input_open(&file->more[file->n_more], path, file->input.interrupt, &why)) {
		file->complete = false;
		pd_file_damaged(file, 0, file->n_more,
				"a file of the directory cannot be read: %s", why.message);
		free(path);
		return true;
	}
	file->n_more++;
	return true;
}

static bool list_stream_files(struct pd_file *file, struct pd_error *err)
{
	char *path = join_directory_path(file, "");
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *entry;
	unsigned long number;
	bool ok = true;

	free(path);
	if (!dir)
		return pd_error_errno(err, file->path, "cannot list its directory");
	while (ok && (entry = readdir(dir)))
		if (parse_stream_number(entry->d_name, &number) &&
		    file->n_more < MAX_STREAMS - 1)
			ok = add_stream_file(file, entry->d_name, err);
	closedir(dir);
	if (ok && file->n_more)
		qsort(file->more, file->n_more, sizeof(*file->more), compare_stream_numbers);
	return ok;
}

bool pd_directory_read(struct pd_file *file, struct pd_error *err)
{
	struct pb_cursor c;
	uint8_t *bytes = pd_file_feature_bytes(file, PD_FEATURE_DIR_FORMAT, &c);
	uint64_t version = 0;

	if (bytes)
		version = pb_take64(&c);
	else if (!file->complete || pd_file_feature(file, PD_FEATURE_DIR_FORMAT))
		/* DIR_FORMAT was not written yet, or it cannot be read */
		version = DIR_VERSION;
	free(bytes);
	if (version > DIR_VERSION)
		pd_file_damaged(
			file, 0, 0,
			"found version %llu of the directory's format, expected at most %d: "
			"its "
			"files are read as of that one",
			(unsigned long long)version, DIR_VERSION);
	return version < DIR_VERSION || list_stream_files(file, err);
}
