/* Strings and paths of a store, for the files that look for symbols. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "internal.h"

const char *ps_store_text(struct ps_store *store, const char *text)
{
	return pb_arena_text(&store->texts, text, strlen(text));
}

bool ps_store_path(const struct ps_store *store, const char *name, char path[PATH_MAX])
{
	const char *symfs = store->options.symfs;
	int n = snprintf(path, PATH_MAX, "%s%s", symfs ? symfs : "", name);

	return *name == '/' && n < PATH_MAX;
}

bool ps_store_is_here(const struct ps_store *store)
{
	const struct ps_options *options = &store->options;
	struct utsname here;

	return options->release && options->host && uname(&here) == 0 &&
	       strcmp(here.release, options->release) == 0 &&
	       strcmp(here.nodename, options->host) == 0 &&
	       (!options->arch || strcmp(here.machine, options->arch) == 0);
}
