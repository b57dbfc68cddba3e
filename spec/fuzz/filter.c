/* Filter strings, as where() takes them, on the demo's recording: see filter.lua. */
#include "common.h"
#include "state.h"

#define MAX_FILTER 512

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n <= MAX_FILTER)
		fuzz_lua("spec/fuzz/filter.lua", bytes, n);
	return 0;
}
