#define _GNU_SOURCE /* for renameat2() */
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether a file of a directory belongs to a recording. */
static bool is_of_recording(const char *name)
{
	return strcmp(name, "data") == 0 || strncmp(name, "data.", 5) == 0;
}

/*
 * Removes the files of a recording in a directory, or only looks at them. Returns false with
 * errno if there are others.
 */
static bool clear_directory(const char *path, bool removes)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool ok = dir != NULL;

	while (ok && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		errno = ENOTEMPTY;
		ok = is_of_recording(entry->d_name) &&
		     (!removes || unlinkat(dirfd(dir), entry->d_name, 0) == 0);
	}
	if (dir)
		closedir(dir);
	return ok;
}

/* Removes a directory that was begun. A signal handler calls this. */
static void remove_unfinished(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	unlinkat(fd, "data", 0);
	for (unsigned i = 0; i < PW_PARTS_MOST; i++) {
		char name[] = "data.\0\0\0", *p = name + 5;

		if (i >= 100)
			*p++ = (char)('0' + i / 100);
		if (i >= 10)
			*p++ = (char)('0' + i / 10 % 10);
		*p = (char)('0' + i % 10);
		unlinkat(fd, name, 0);
	}
	close(fd);
	rmdir(path);
}

bool pw_directory_begin(struct pw_directory *d, const char *target,
			struct pb_unfinished *unfinished)
{
	size_t n = strlen(target), at;
	int length;

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	while (n > 1 && target[n - 1] == '/')
		n--;
	for (at = n; at && target[at - 1] != '/';)
		at--;
	length = snprintf(d->path, sizeof(d->path), "%.*s.%.*s.XXXXXX", (int)at, target,
			  (int)(n - at), target + at);
	if (length < 0 || (size_t)length >= sizeof(d->path)) {
		d->path[0] = '\0';
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(d->target, target, n); /* it is shorter than the path */
	d->entry = (struct pb_unfinished_entry){ .path = d->path, .remove = remove_unfinished };
	pb_unfinished_add(unfinished, &d->entry);
	if (!mkdtemp(d->path)) {
		pb_unfinished_drop(&d->entry);
		d->path[0] = '\0';
		return false;
	}
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return d->fd >= 0;
}

/* Closes the files beside "data". Returns false with errno if one could not be closed. */
static bool close_parts(struct pw_directory *d)
{
	bool ok = true;

	for (size_t i = 0; i < PW_PARTS_MOST; i++) {
		struct pw_data_file *part = d->parts[i];

		if (!part)
			continue;
		ok = close(part->out.fd) == 0 && ok;
		pw_compressor_destroy(part->compressor);
		pw_output_deinit(&part->out);
		free(part);
		d->parts[i] = NULL;
	}
	return ok;
}

int pw_directory_open(struct pw_directory *d, const struct pd_file *like)
{
	close_parts(d);
	if (!clear_directory(d->path, true))
		return -1;
	d->cpu_id = pd_field_name_id(&like->field_names, "cpu", 3);
	d->tid_id = pd_field_name_id(&like->field_names, "tid", 3);
	return openat(d->fd, "data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static bool fail(const struct pw_directory *d, struct pd_error *err, const char *what)
{
	return pd_error_set(err, "WRITE", d->target, PD_NO_OFFSET, "%s: %s", what,
			    strerror(errno ? errno : ENOMEM));
}

/* Returns the number of the file that a record belongs to. */
static size_t find_part(const struct pw_directory *d, const struct pd_record *rec)
{
	const uint8_t *slot = rec->layout->slot;
	struct pd_value value = { .type = PD_NIL };

	if (slot[d->cpu_id])
		pd_record_get(rec, slot[d->cpu_id], &value);
	if (value.type == PD_NIL && slot[d->tid_id])
		pd_record_get(rec, slot[d->tid_id], &value);
	return value.type == PD_NIL ? 0 : (size_t)((uint64_t)value.i % PW_PARTS_MOST);
}

/* Creates a file. Returns NULL with *err. */
static struct pw_data_file *create_part(struct pw_directory *d, const struct pw_writer *w,
					size_t number, struct pd_error *err)
{
	struct pw_data_file *part = calloc(1, sizeof(*part));
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "data.%zu", number);
	errno = 0;
	fd = part ? openat(d->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (fd < 0 || !pw_output_init(&part->out, fd, w->out.swap)) {
		fail(d, err, name);
		if (fd >= 0)
			close(fd);
		free(part);
		return NULL;
	}
	d->parts[number] = part;
	if (w->how.level)
		part->compressor = pw_compressor_create(&part->out, w->how.level,
							w->how.padded);
	if (w->how.level && !part->compressor) {
		fail(d, err, name);
		return NULL; /* it is freed with the others */
	}
	return part;
}

/* Returns false with *err if a write failed. */
static bool check_part(const struct pw_directory *d, const struct pw_data_file *part,
		       struct pd_error *err)
{
	errno = part->out.error;
	return !errno || fail(d, err, "cannot write");
}

bool pw_directory_put(struct pw_directory *d, struct pw_writer *w, const struct pd_record *rec,
		      const struct pd_record *written, struct pd_error *err)
{
	size_t number = find_part(d, rec);
	struct pw_data_file *part = d->parts[number];

	if (!part)
		part = create_part(d, w, number, err);
	if (!part)
		return false;
	errno = 0;
	if (!part->compressor)
		pw_put(&part->out, written->bytes, written->size);
	else if (!pw_compress(part->compressor, written->bytes, written->size))
		return fail(d, err, "cannot compress");
	return check_part(d, part, err);
}

bool pw_directory_finish(struct pw_directory *d, uint64_t *bytes, struct pd_error *err)
{
	for (size_t i = 0; i < PW_PARTS_MOST; i++) {
		struct pw_data_file *part = d->parts[i];

		if (!part)
			continue;
		errno = 0;
		if (part->compressor && !pw_compress_flush(part->compressor))
			return fail(d, err, "cannot compress");
		pw_output_flush(&part->out);
		if (!check_part(d, part, err))
			return false;
		*bytes += part->out.at;
	}
	errno = 0;
	return close_parts(d) || fail(d, err, "cannot close a file");
}

bool pw_directory_commit(struct pw_directory *d)
{
	struct stat old;

	if (lstat(d->target, &old) < 0) {
		if (errno != ENOENT || rename(d->path, d->target) < 0)
			return false;
		d->path[0] = '\0';
		return true;
	}
	if (S_ISDIR(old.st_mode) && !clear_directory(d->target, false))
		return false;
	if (renameat2(AT_FDCWD, d->path, AT_FDCWD, d->target, RENAME_EXCHANGE) < 0)
		return false;
	if (!S_ISDIR(old.st_mode)) {
		unlink(d->path);
		d->path[0] = '\0';
	}
	pw_directory_discard(d); /* the old one */
	return true;
}

void pw_directory_discard(struct pw_directory *d)
{
	close_parts(d);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	if (d->path[0]) {
		clear_directory(d->path, true);
		rmdir(d->path);
		d->path[0] = '\0';
	}
	pb_unfinished_drop(&d->entry);
}
