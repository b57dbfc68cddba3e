/* A byte that says what is done, and a whole recording, as scripts read it: see script.lua. */
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "state.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char input[1 + FUZZ_PATH];
	int fd;

	if (!n)
		return 0;
	input[0] = (char)bytes[0];
	fd = fuzz_file(bytes + 1, n - 1, input + 1);
	fuzz_lua("spec/fuzz/script.lua", input, strlen(input + 1) + 1);
	close(fd);
	return 0;
}
