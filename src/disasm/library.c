#include "internal.h"

#ifdef PERFLUA_CAPSTONE

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

struct pi_library pi_capstone;

static bool is_open;

static void open_once(void)
{
	static const struct {
		void *at;
		const char *name;
	} functions[] = {
		{ &pi_capstone.support, "cs_support" },
		{ &pi_capstone.open, "cs_open" },
		{ &pi_capstone.close, "cs_close" },
		{ &pi_capstone.option, "cs_option" },
		{ &pi_capstone.malloc, "cs_malloc" },
		{ &pi_capstone.free, "cs_free" },
		{ &pi_capstone.insn_group, "cs_insn_group" },
		{ &pi_capstone.disasm_iter, "cs_disasm_iter" },
	};
	/* never unloaded: decoders may live as long as the process */
	void *handle = dlopen(PI_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	for (size_t i = 0; handle && i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return;
		memcpy(functions[i].at, &function, sizeof(function));
	}
	is_open = handle;
}

bool pi_library_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_once);
	return is_open;
}

#endif
