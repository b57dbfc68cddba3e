/* Finds files of kernel modules by their names in brackets. */
#define _GNU_SOURCE
#include "module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/file.h"
#include "symbols/elf/text.h"

static bool same_name(char a, char b)
{
	return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

/* Returns true if `path` is that of module `name`: "kernel/fs/my-fs.ko.xz" is of "[my_fs]". */
static bool is_module(const char *path, size_t length, const char *name)
{
	const char *slash = memrchr(path, '/', length), *at = slash ? slash + 1 : path;

	for (name++; *name && *name != ']'; name++, at++)
		if (at == path + length || !same_name(*at, *name))
			return false;
	return path + length - at >= 3 && memcmp(at, ".ko", 3) == 0;
}

/*
 * A line of modules.dep is the path of a module, a colon, and the paths of modules that it
 * needs.
 */
bool ps_module_path(const char *symfs, const char *release, const char *name, char *path,
		    size_t size)
{
	struct ps_line_text line;
	const char *reason, *at;
	struct stat status;
	bool found = false;
	size_t length;
	char *text;
	int n;

	n = snprintf(path, size, "%s/lib/modules/%s/modules.dep", symfs, release);
	if (n < 0 || (size_t)n >= size || *name != '[')
		return false;
	text = ps_text_take(ps_file_open(symfs, path, &status, &reason), &status, &length,
			    &reason);
	at = text;
	while (text && !found && ps_text_line(&at, text + length, &line)) {
		const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));

		if (!colon || !is_module(line.at, (size_t)(colon - line.at), name))
			continue;
		n = snprintf(path, size, "%s%s%s%s%.*s", symfs,
			     *line.at == '/' ? "" : "/lib/modules/",
			     *line.at == '/' ? "" : release, *line.at == '/' ? "" : "/",
			     (int)(colon - line.at), line.at);
		found = n > 0 && (size_t)n < size;
	}
	free(text);
	return found;
}
