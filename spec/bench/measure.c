/*
 * measure OUT COMMAND...: runs a command once, its standard output to the file OUT, and prints
 * what it took: nanoseconds of wall clock from fork to exit, microseconds of user and of
 * system time, peak resident kilobytes (getrusage of the child), exit status, and how many
 * kilobytes of files were resident at its exit (-1 where it may not be traced). The kernel maps
 * what it has cached of libraries beside the pages that a program touches, so that part of the
 * peak varies from day to day.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
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
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(command[0], command);
		perror(command[0]);
	}
	return 127;
}

static long resident_of_files(pid_t child)
{
	char path[32], line[256];
	long kb = -1;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)child);
	status = fopen(path, "r");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "RssFile: %ld", &kb) == 1)
			break;
	if (status)
		fclose(status);
	return kb;
}

/* Waits for the end of a traced program. Returns false if it cannot. */
static bool wait_for(pid_t child, int *status, struct rusage *use, long *files)
{
	bool runs = false;

	for (*files = -1; wait4(child, status, 0, use) == child;) {
		int signal = WSTOPSIG(*status);

		if (!WIFSTOPPED(*status))
			return true;
		if (*status >> 16 == PTRACE_EVENT_EXIT)
			*files = resident_of_files(child);
		if (!runs && signal == SIGTRAP) { /* it has become the command */
			ptrace(PTRACE_SETOPTIONS, child, NULL,
			       PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT);
			runs = true;
			signal = 0;
		}
		if (*status >> 16) /* the stop is an event, not a signal */
			signal = 0;
		ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal);
	}
	return false;
}

int main(int argc, char **argv)
{
	struct rusage use;
	int64_t start, end;
	long files;
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
	if (child < 0 || !wait_for(child, &status, &use, &files)) {
		perror("measure");
		return 1;
	}
	end = now();
	printf("%lld %lld %lld %ld %d %ld\n", (long long)(end - start),
	       (long long)microseconds(use.ru_utime), (long long)microseconds(use.ru_stime),
	       use.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
	       files);
	return 0;
}
