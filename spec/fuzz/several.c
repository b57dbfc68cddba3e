/* Two recordings that are read as one. */
#include <unistd.h>

#include "common.h"

#define FILES 2

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_part parts[FILES];
	char names[FILES][FUZZ_PATH];
	const char *paths[FILES];
	int fds[FILES];

	fuzz_split(bytes, n, parts, FILES);
	for (size_t i = 0; i < FILES; i++) {
		fds[i] = fuzz_file(parts[i].bytes, parts[i].n, names[i]);
		paths[i] = names[i];
	}
	fuzz_read(paths, FILES);
	for (size_t i = 0; i < FILES; i++)
		close(fds[i]);
	return 0;
}
