/* Loads symbols of code made at run time, from jitdumps and perf maps. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load_internal.h"
#include "proof.h"
#include "symbols/elf/file.h"
#include "symbols/elf/text.h"
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perfmap.h"

static FILE *open_stream(const struct ps_dso *dso, const char *path, const char **reason)
{
	struct stat status;
	int fd = ps_file_open_left(dso->store->options.symfs, path, &status, reason);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static bool load_dump(struct ps_jitdump *dump, struct ps_dso *dso)
{
	const char *reason = "no memory";
	char path[PATH_MAX];
	FILE *file;
	bool parsed;

	if (!ps_store_path(dso->store, dump->path, path))
		return false;
	file = open_stream(dso, path, &reason);
	parsed = file && ps_jitdump_parse(dump, file, &reason);
	if (file)
		fclose(file);
	ps_dso_tried(dso, path, "jitdump", parsed ? PS_HAS_SYMBOLS : reason);
	if (parsed)
		dso->path = ps_store_text(dso->store, path);
	return parsed;
}

static bool load_map_file(struct ps_dso *dso, const char *root, const char *path)
{
	const char *reason;
	struct stat status;
	size_t size;
	bool parsed;
	char *text;

	text = ps_text_take(ps_file_open_left(root, path, &status, &reason), &status, &size,
			    &reason);
	if (!text) {
		ps_dso_tried(dso, path, "perf map", reason);
		return false;
	}
	parsed = ps_perfmap_parse(&dso->table, text, size);
	free(text);
	if (!parsed || !dso->table.n) {
		ps_dso_tried(dso, path, "perf map",
			     parsed ? "no functions in it" : "no memory");
		return false;
	}
	ps_dso_tried(dso, path, "perf map", PS_HAS_SYMBOLS);
	dso->path = ps_store_text(dso->store, path);
	return true;
}

static bool load_map(struct ps_dso *dso)
{
	char path[PATH_MAX];

	return ps_store_path(dso->store, dso->id.name, path) &&
	       load_map_file(dso, dso->store->options.symfs, path);
}

/* Returns the id of a process in its innermost pid namespace; 0: there is no such process. */
static long find_inner_pid(int32_t pid)
{
	char path[64], line[256], *last = NULL;
	long inner = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/status", pid);
	status = fopen(path, "re");
	while (status && !last && fgets(line, sizeof(line), status))
		if (strncmp(line, "NSpid:", 6) == 0)
			last = strrchr(line, '\t');
	if (last)
		inner = strtol(last, NULL, 10);
	if (status)
		fclose(status);
	return inner;
}

/*
 * Loads the perf map of a process in a container, which writes it there, under its id there.
 * While the process runs, both can be found out: see nsinfo__init,
 * tools/perf/util/namespaces.c.
 */
static bool load_inner_map(struct ps_dso *dso)
{
	char root[32], path[96];
	long inner;

	if (dso->store->options.symfs || dso->id.guest || !ps_store_is_here(dso->store))
		return false;
	inner = find_inner_pid(dso->id.pid);
	if (inner <= 0)
		return false;
	snprintf(root, sizeof(root), "/proc/%" PRId32 "/root", dso->id.pid);
	snprintf(path, sizeof(path), "%s/tmp/perf-%ld.map", root, inner);
	return load_map_file(dso, root, path);
}

bool ps_load_jit(struct ps_dso *dso, ps_load_other_fn *load_other)
{
	bool dumped;

	(void)load_other;
	if (!ps_check_proof(dso))
		return false;
	dumped = dso->jitdump && load_dump(dso->jitdump, dso);
	if (load_map(dso) || load_inner_map(dso) || dumped)
		return true;
	dso->reason = "the program left no perf map and no jitdump for its code";
	return false;
}
