#include "error.h"

#include "print_scalar.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool pd_error_set(struct pd_error *err, const char *code, const char *path, uint64_t offset,
		  const char *format, ...)
{
	size_t n;
	va_list args;

	if (!err)
		return false;
	err->code = code;
	if (offset == PD_NO_OFFSET)
		snprintf(err->message, sizeof(err->message), "%.200s: ", path);
	else
		snprintf(err->message, sizeof(err->message), "%.200s: offset %llu: ", path,
			 (unsigned long long)offset);
	n = strlen(err->message);
	va_start(args, format);
	vsnprintf(err->message + n, sizeof(err->message) - n, format, args);
	va_end(args);
	/* the path and names in the message come from the file */
	pd_escape(err->message, sizeof(err->message));
	return false;
}

/* Codes of the errors that opening and reading a file cause; all others read "EIO". */
static const struct {
	int number;
	const char *code;
} codes[] = {
	{ ENOENT, "ENOENT" }, { EACCES, "EACCES" },
	{ EPERM, "EPERM" },   { EISDIR, "EISDIR" },
	{ ENOMEM, "ENOMEM" }, { EMFILE, "EMFILE" },
	{ ENFILE, "ENFILE" }, { ENOTDIR, "ENOTDIR" },
	{ ELOOP, "ELOOP" },   { EINVAL, "EINVAL" },
	{ ENXIO, "ENXIO" },   { EPIPE, "EPIPE" },
	{ ENOSPC, "ENOSPC" }, { ENAMETOOLONG, "ENAMETOOLONG" },
	{ EINTR, "EINTR" },
};

bool pd_error_errno(struct pd_error *err, const char *path, const char *what)
{
	int number = errno;
	const char *code = "EIO";

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].number == number)
			code = codes[i].code;
	return pd_error_set(err, code, path, PD_NO_OFFSET, "%s: %s", what, strerror(number));
}

bool pd_error_interrupted(const struct pd_error *err)
{
	return strcmp(err->code, "EINTR") == 0;
}
