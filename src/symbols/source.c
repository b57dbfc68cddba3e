#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "bundle.h"
#include "internal.h"
#include "symbols/elf/file.h"
#include "symbols/elf/text.h"

#define MOST_SOURCE (64 << 20)

struct ps_source {
	char *text; /* [size] */
	size_t size;
	int64_t modified;
	uint32_t *starts; /* [n]: where lines begin, as far as they were asked for */
	size_t n, room;
	struct packed_line {
		uint64_t number;
		const char *text;
	} * packed; /* [n_packed]: of a bundle, by number */
	size_t n_packed, packed_room;
	struct ps_store *store; /* notes the lines that were asked for; NULL: none does */
	struct ps_noted_source *noted;
};

/* Reads a file here. Returns NULL and sets *reason if it cannot be read. */
static struct ps_source *open_file(const char *path, const char **reason)
{
	struct ps_source *source;
	struct stat status;
	int fd = ps_file_open(NULL, path, &status, reason);

	if (fd < 0)
		return NULL;
	if (status.st_size > MOST_SOURCE) {
		close(fd);
		*reason = "larger than 64 MB";
		return NULL;
	}
	source = calloc(1, sizeof(*source));
	if (!source) {
		close(fd);
		*reason = "no memory";
		return NULL;
	}
	source->modified = status.st_mtime;
	source->text = ps_text_take(fd, &status, &source->size, reason);
	if (source->text)
		return source;
	free(source);
	return NULL;
}

void ps_source_destroy(struct ps_source *source)
{
	if (!source)
		return;
	free(source->text);
	free(source->starts);
	free(source->packed);
	free(source);
}

int64_t ps_source_modified(const struct ps_source *source)
{
	return source->modified;
}

/* Finds the start of the next line. Returns false at the end, or without memory. */
static bool add_start(struct ps_source *source)
{
	size_t at = 0;

	if (source->n) {
		size_t from = source->starts[source->n - 1];
		const char *end = memchr(source->text + from, '\n', source->size - from);

		if (!end)
			return false;
		at = (size_t)(end + 1 - source->text);
	}
	if (at >= source->size || !pb_reserve(source->starts, source->n, source->room))
		return false;
	source->starts[source->n++] = (uint32_t)at;
	return true;
}

/* Returns the line that a bundle has; NULL: it does not have it. */
static const char *find_packed_line(const struct ps_source *source, uint32_t line)
{
	size_t low = 0, high = source->n_packed;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (source->packed[middle].number < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < source->n_packed && source->packed[low].number == line ?
		       source->packed[low].text :
		       NULL;
}

/* Returns the line that the file here has; NULL: it does not have it. */
static const char *find_text_line(struct ps_source *source, uint64_t line, size_t *n)
{
	const char *at, *end;

	if (!source->text)
		return NULL;
	while (source->n < line && add_start(source))
		continue;
	if (!line || source->n < line)
		return NULL;
	at = source->text + source->starts[line - 1];
	end = memchr(at, '\n', (size_t)(source->text + source->size - at));
	if (!end)
		end = source->text + source->size;
	*n = (size_t)(end - at);
	if (*n && at[*n - 1] == '\r')
		--*n;
	return at;
}

const char *ps_source_line(struct ps_source *source, uint32_t line, size_t *n)
{
	const char *text = find_packed_line(source, line);

	if (text)
		*n = strlen(text);
	else
		text = find_text_line(source, line, n);
	if (text && source->store)
		ps_store_note_line(source->store, source->noted, line, text, *n);
	return text;
}

/*
 * Reads the lines of a bundle, up to where they are damaged. Returns false if there are none.
 */
static bool read_packed_source(struct ps_source *source, const struct ps_bundle *bundle,
			       const char *path)
{
	uint64_t number = 0;
	struct pb_cursor c;

	if (!ps_bundle_source(bundle, path, &c))
		return false;
	source->modified = (int64_t)ps_take_number(&c);
	for (size_t n = ps_take_count(&c); n; n--) {
		const char *text;

		if (!ps_take_distance(&c, 1, &number))
			break;
		text = ps_take_string(&c, bundle);
		if (!text || !pb_reserve(source->packed, source->n_packed, source->packed_room))
			break;
		source->packed[source->n_packed++] = (struct packed_line){ number, text };
	}
	return source->n_packed;
}

/* Forgets the text of the file here if it is another version than that of the bundle. */
static void compare_versions(struct ps_source *source)
{
	for (size_t i = 0; source->text && i < source->n_packed; i++) {
		const struct packed_line *line = &source->packed[i];
		size_t n;
		const char *here = find_text_line(source, line->number, &n);

		if (here && strlen(line->text) == n && memcmp(here, line->text, n) == 0)
			continue;
		free(source->text);
		source->text = NULL;
	}
}

struct ps_source *ps_source_open(struct ps_store *store, const char *path, const char **reason)
{
	struct ps_source packed = { .n = 0 }, *source;
	bool found = store->bundle && read_packed_source(&packed, store->bundle, path);

	source = open_file(path, reason);
	if (!source && found) {
		source = calloc(1, sizeof(*source));
		*reason = "no memory";
	}
	if (!source) {
		free(packed.packed);
		return NULL;
	}
	source->packed = packed.packed;
	source->n_packed = packed.n_packed;
	if (found) {
		source->modified = packed.modified;
		compare_versions(source);
	}
	if (store->options.collects) {
		source->noted = ps_store_note_source(store, path, source->modified);
		source->store = source->noted ? store : NULL;
	}
	return source;
}
