#define _GNU_SOURCE
#include "debuginfod.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Declared as in elfutils/debuginfod.h, which need not exist at build time. */
typedef struct debuginfod_client client;
typedef client *begin_fn(void);
typedef void end_fn(client *client);
typedef int find_fn(client *client, const unsigned char *build_id, int build_id_len,
		    char **path);

static bool fetch_file(void *library, const struct ps_build_id *id, bool debug, char *path,
		       size_t size)
{
	begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
	end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
	find_fn *find = (find_fn *)dlsym(library, debug ? "debuginfod_find_debuginfo" :
							  "debuginfod_find_executable");
	client *session;
	char *found = NULL;
	int fd, n = -1;

	if (!begin || !end || !find)
		return false;
	session = begin();
	if (!session)
		return false;
	fd = find(session, id->bytes, id->size, &found);
	end(session);
	if (fd < 0)
		return false;
	close(fd);
	if (found)
		n = snprintf(path, size, "%s", found);
	free(found);
	return n > 0 && (size_t)n < size;
}

bool ps_debuginfod(const struct ps_build_id *id, bool debug, char *path, size_t size)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	/* never unload the library: those that it loads in turn do not support that */
	return library && fetch_file(library, id, debug, path, size);
}
