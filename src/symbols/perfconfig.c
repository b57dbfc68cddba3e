#define _GNU_SOURCE
#include "perfconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "symbols/elf/text.h"

static void trim_blanks(struct ps_line_text *text)
{
	while (text->at < text->end && strchr(" \t\r", *text->at) && *text->at)
		text->at++;
	while (text->end > text->at && strchr(" \t\r", text->end[-1]) && text->end[-1])
		text->end--;
}

static bool equals_text(const struct ps_line_text *text, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(text->end - text->at) == n && strncasecmp(text->at, word, n) == 0;
}

/*
 * Copies a value, which ends with the line, without quotes around it and a comment after it.
 */
static bool take_value(struct ps_line_text value, char *dir, size_t size)
{
	const char *end;
	size_t n;

	trim_blanks(&value);
	if (value.at < value.end && *value.at == '"') {
		value.at++;
		end = memchr(value.at, '"', (size_t)(value.end - value.at));
	} else {
		for (end = value.at; end < value.end && *end != '#' && *end != ';'; end++)
			continue;
	}
	value.end = end ? end : value.end;
	trim_blanks(&value);
	n = (size_t)(value.end - value.at);
	if (!n || n >= size || memchr(value.at, '\0', n))
		return false;
	memcpy(dir, value.at, n);
	dir[n] = '\0';
	return true;
}

/*
 * The file has sections "[name]" of lines "key = value"; "#" and ";" begin comments. See
 * perf-config(1).
 */
bool ps_perfconfig_buildid_dir(const char *path, char *dir, size_t size)
{
	bool inside = false, found = false;
	struct ps_line_text line;
	const char *reason, *at;
	size_t n;
	char *text = ps_text_read(path, &n, &reason);

	at = text;
	while (text && ps_text_line(&at, text + n, &line)) {
		struct ps_line_text key = line;
		const char *equals = memchr(line.at, '=', (size_t)(line.end - line.at));

		trim_blanks(&key);
		if (key.at < key.end && *key.at == '[') {
			inside = equals_text(&key, "[buildid]");
			continue;
		}
		if (!inside || !equals)
			continue;
		key.end = equals;
		trim_blanks(&key);
		line.at = equals + 1;
		if (equals_text(&key, "dir"))
			found |= take_value(line, dir, size);
	}
	free(text);
	return found;
}
