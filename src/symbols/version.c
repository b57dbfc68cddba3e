#include <elfutils/libdwfl.h>

#include "symbols.h"

const char *ps_elfutils_version(void)
{
	return dwfl_version(NULL);
}

bool ps_can_demangle(void)
{
#ifdef PERFLUA_LIBIBERTY
	return true;
#else
	return false;
#endif
}
