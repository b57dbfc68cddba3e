#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "symbols/elf/file.h"
#include "symbols/elf/text.h"

#define MOST_SOURCE (64 << 20)

struct ps_source {
	char *text; /* [size] */
	size_t size;
	int64_t modified;
	uint32_t *starts; /* [n]: where lines begin, as far as they were asked for */
	size_t n, room;
};

struct ps_source *ps_source_open(const char *symfs, const char *path, const char **reason)
{
	struct ps_source *source;
	struct stat status;
	int fd = ps_file_open(symfs, path, &status, reason);

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

const char *ps_source_line(struct ps_source *source, uint32_t line, size_t *n)
{
	const char *at, *end;

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
