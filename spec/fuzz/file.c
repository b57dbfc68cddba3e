/* A whole recording: a file in file or pipe mode, of either version and byte order. */
#include <unistd.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char path[FUZZ_PATH];
	const char *paths[] = { path };
	int fd = fuzz_file(bytes, n, path);

	fuzz_read(paths, 1);
	close(fd);
	return 0;
}
