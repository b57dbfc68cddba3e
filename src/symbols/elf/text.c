#define _GNU_SOURCE
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "file.h"

/* Files below /proc have no size, and may grow while they are read. */
#define FIRST_SIZE (1u << 20)
#define MAX_SIZE   (1u << 30)

static char *read_all(int fd, size_t expected, size_t *size, const char **reason)
{
	size_t capacity = expected < FIRST_SIZE ? FIRST_SIZE : expected + 1, n = 0;
	char *text = malloc(capacity);
	ssize_t got;

	*reason = "no memory";
	while (text && (got = read(fd, text + n, capacity - n)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			*reason = strerrordesc_np(errno);
			break;
		}
		n += (size_t)got;
		if (n == capacity && capacity > MAX_SIZE / 2) {
			*reason = "larger than 1 GB";
			break;
		}
		if (!pb_reserve(text, n, capacity))
			break;
	}
	if (text && got == 0) {
		*size = n;
		return text;
	}
	free(text);
	return NULL;
}

char *ps_text_take(int fd, const struct stat *status, size_t *size, const char **reason)
{
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (status->st_size > MAX_SIZE / 2)
		*reason = "larger than 512 MB";
	else
		text = read_all(fd, (size_t)status->st_size, size, reason);
	close(fd);
	return text;
}

char *ps_text_read(const char *path, size_t *size, const char **reason)
{
	struct stat status;
	int fd = ps_file_open_chosen(path, &status, reason);

	return ps_text_take(fd, &status, size, reason);
}

bool ps_text_line(const char **at, const char *end, struct ps_line_text *line)
{
	const char *newline;

	if (*at >= end)
		return false;
	newline = memchr(*at, '\n', (size_t)(end - *at));
	line->at = *at;
	line->end = newline ? newline : end;
	*at = newline ? newline + 1 : end;
	return true;
}

static int get_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool ps_text_hex(struct ps_line_text *line, uint64_t *value)
{
	const char *at = line->at, *first;
	uint64_t v = 0;
	int digit;

	if (line->end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (first = at; at < line->end && (digit = get_hex_digit(*at)) >= 0; at++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)digit;
	}
	if (at == first)
		return false;
	line->at = at;
	*value = v;
	return true;
}
