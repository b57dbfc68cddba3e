/*
 * measure OUT COMMAND...: runs a command once, its standard output to the file OUT, and prints
 * what it took: nanoseconds of wall clock from fork to exit, microseconds of user and of
 * system time, peak resident kilobytes (getrusage of the child), exit status.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t microseconds(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static int run(const char *out, char **command)
{
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		perror(out);
	else {
		execvp(command[0], command);
		perror(command[0]);
	}
	return 127;
}

int main(int argc, char **argv)
{
	struct rusage use;
	int64_t start, end;
	int status;
	pid_t child;

	if (argc < 3) {
		fprintf(stderr, "usage: measure OUT COMMAND...\n");
		return 2;
	}
	start = now();
	child = fork();
	if (child == 0)
		_exit(run(argv[1], argv + 2));
	if (child < 0 || wait4(child, &status, 0, &use) != child) {
		perror("measure");
		return 1;
	}
	end = now();
	printf("%lld %lld %lld %ld %d\n", (long long)(end - start),
	       (long long)microseconds(use.ru_utime), (long long)microseconds(use.ru_stime),
	       use.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
