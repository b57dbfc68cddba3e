/* Saved tables, as perflua.load() and perflua reduce read them: see table.lua. */
#include "common.h"
#include "state.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_lua("spec/fuzz/table.lua", bytes, n);
	return 0;
}
