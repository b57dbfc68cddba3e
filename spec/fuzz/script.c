/* A whole recording, as scripts read it: see script.lua. */
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "state.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char path[FUZZ_PATH];
	int fd = fuzz_file(bytes, n, path);

	fuzz_lua("spec/fuzz/script.lua", path, strlen(path));
	close(fd);
	return 0;
}
