#include "library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* A row of the functions: the place in struct pt_library that keeps it, and its name. */
#define FUNCTION(name)                                              \
	{                                                           \
		offsetof(struct pt_library, name), "sqlite3_" #name \
	}

static const struct {
	size_t at;
	const char *name;
} functions[] = {
	FUNCTION(open_v2),    FUNCTION(close),	    FUNCTION(errmsg),	   FUNCTION(exec),
	FUNCTION(prepare_v2), FUNCTION(finalize),   FUNCTION(step),	   FUNCTION(reset),
	FUNCTION(bind_null),  FUNCTION(bind_int64), FUNCTION(bind_double), FUNCTION(bind_text),
	FUNCTION(errcode),
};

bool pt_library_open(struct pt_library *library)
{
	/* never unloaded: it keeps state of its own for the process */
	void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	struct pt_library found;

	for (size_t i = 0; handle && i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return false;
		memcpy((char *)&found + functions[i].at, &function, sizeof(function));
	}
	if (handle)
		*library = found;
	return handle;
}
