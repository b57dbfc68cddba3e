/* The rules of the kinds of data, and the names that scrubbing met. */
#define _GNU_SOURCE /* for memrchr() */
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "scrub.h"

#define D   (1u << PV_DROP)
#define K   (1u << PV_KEEP)
#define DK  (D | K)
#define DHK (D | 1u << PV_HASH | K)
#define ALL (DHK | 1u << PV_BASE)

const char *const pv_actions[PV_ACTIONS] = {
	[PV_DROP] = "drop",	    [PV_HASH] = "hash", [PV_BASE] = "base",
	[PV_RELATIVE] = "relative", [PV_KEEP] = "keep",
};

const struct pv_kind_desc pv_kinds[PV_KINDS] = {
	[PV_COMM] = { "comm", "names of threads", DHK, PV_HASH, PV_HASH },
	[PV_BINARY] = { "binary", "names of binaries and other mapped files, their inodes", ALL,
			PV_BASE, PV_HASH },
	[PV_FUNCTION] = { "function", "names of functions that the recording itself has", DHK,
			  PV_KEEP, PV_HASH },
	[PV_PATH] = { "path", "file names among the arguments of tracepoints", ALL, PV_HASH,
		      PV_HASH },
	[PV_STRING] = { "string", "other strings, bytes and socket addresses among these", DHK,
			PV_DROP, PV_DROP },
	[PV_RAW] = { "raw", "raw data of samples whose format is not known", DK, PV_DROP,
		     PV_DROP },
	[PV_EVENT] = { "event", "names of events that perf and the kernel gave, their formats",
		       K, PV_KEEP, PV_KEEP },
	[PV_ALIAS] = { "alias", "other names of events, as those of PMUs", DK, PV_KEEP,
		       PV_DROP },
	[PV_PROBE] = { "probe", "names of probes and of their arguments", DHK, PV_HASH,
		       PV_HASH },
	[PV_CMDLINE] = { "cmdline", "command line of the recorder", DK, PV_DROP, PV_DROP },
	[PV_HOST] = { "host", "name of the machine", DHK, PV_DROP, PV_DROP },
	[PV_KERNEL] = { "kernel", "release of the kernel, version of perf to the letter", DHK,
			PV_KEEP, PV_DROP },
	[PV_CPU] = { "cpu", "model of the processor", DHK, PV_KEEP, PV_DROP },
	[PV_HARDWARE] = { "hardware", "memory, caches, topology, PMUs", DK, PV_KEEP, PV_DROP },
	[PV_CLOCK] = { "clock", "time of day of the recording", DK, PV_KEEP, PV_DROP },
	[PV_CGROUP] = { "cgroup", "paths of control groups", ALL, PV_HASH, PV_HASH },
	[PV_NAMESPACE] = { "namespace", "namespaces of threads", DK, PV_DROP, PV_DROP },
	[PV_BUILDID] = { "buildid", "build-ids of binaries", DHK, PV_KEEP, PV_HASH },
	[PV_BPF] = { "bpf", "BPF programs, their names, tags and types", DK, PV_DROP, PV_DROP },
	[PV_CODE] = { "code", "bytes of code", DK, PV_DROP, PV_DROP },
	[PV_SOURCE] = { "source", "names of source files", ALL, PV_BASE, PV_HASH },
	[PV_TEXT] = { "text", "text of source lines", DK, PV_DROP, PV_DROP },
	[PV_REGISTERS] = { "registers", "values of registers", DK, PV_DROP, PV_DROP },
	[PV_STACKS] = { "stacks", "copies of stacks", DK, PV_DROP, PV_DROP },
	[PV_AUX] = { "aux", "AUX areas: traces of instructions", DK, PV_DROP, PV_DROP },
	[PV_ADDRESSES] = { "addresses", "addresses of code and data", 1u << PV_RELATIVE | K,
			   PV_KEEP, PV_KEEP },
	[PV_BASICS] = { "basics", "architecture, version of perf, number of processors, clocks",
			K, PV_KEEP, PV_KEEP },
	[PV_UNKNOWN] = { "unknown", "records and features that perflua does not know", D,
			 PV_DROP, PV_DROP },
};

#define ROOM 512 /* bytes of a name in the making, at most */

void pv_names_init(struct pv_names *names, const struct pv_rules *rules, const void *key,
		   size_t n)
{
	*names = (struct pv_names){ .rules = rules };
	pb_hmac_init(&names->hmac, key, n);
	pb_secret_make(&names->secret);
}

void pv_names_deinit(struct pv_names *names)
{
	free(names->list);
	names->list = NULL;
	names->n = names->room = 0;
	pb_map_deinit(&names->map);
	pb_arena_deinit(&names->arena);
}

uint64_t pv_hash_number(const struct pv_names *names, const void *bytes, size_t n)
{
	uint8_t digest[PB_SHA256_SIZE];

	pb_hmac_digest(&names->hmac, bytes, n, digest);
	return pb_load64(digest, false);
}

/* A name in the making. */
struct made {
	char p[ROOM];
	size_t n;
};

static void add_text(struct made *made, const char *p, size_t n)
{
	if (n > sizeof(made->p) - made->n)
		n = sizeof(made->p) - made->n;
	memcpy(made->p + made->n, p, n);
	made->n += n;
}

static void add_hash(const struct pv_names *names, struct made *made, const char *p, size_t n)
{
	uint8_t digest[PB_SHA256_SIZE];
	char text[PV_HASH_SIZE + 1];

	if (!n)
		return;
	pb_hmac_digest(&names->hmac, p, n, digest);
	snprintf(text, sizeof(text), "x%02x%02x%02x%02x%02x%02x", digest[0], digest[1],
		 digest[2], digest[3], digest[4], digest[5]);
	add_text(made, text, PV_HASH_SIZE);
}

static bool ends_with(struct pd_text text, const char *end)
{
	size_t n = strlen(end);

	return text.n >= n && memcmp(text.p + text.n - n, end, n) == 0;
}

/* Returns the bytes at the end of a path that stay: readers tell modules and deleted files. */
static size_t measure_suffix(struct pd_text text)
{
	static const char *const suffixes[] = { ".ko", ".ko.gz", ".ko.xz", ".ko.zst" };
	static const char deleted[] = " (deleted)";
	size_t n = ends_with(text, deleted) ? sizeof(deleted) - 1 : 0;

	text.n -= n;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (ends_with(text, suffixes[i]))
			return n + strlen(suffixes[i]);
	return n;
}

/* Adds a path: the hash of its directory, and its file's, or that one's name. */
static void add_path(const struct pv_names *names, struct made *made, struct pd_text text,
		     enum pv_action action)
{
	const char *slash = memrchr(text.p, '/', text.n);
	size_t head = slash ? (size_t)(slash - text.p) : 0;
	size_t tail = measure_suffix(text), base = slash ? head + 1 : 0;

	if (slash && head) {
		add_text(made, "/", text.p[0] == '/');
		add_hash(names, made, text.p, head);
	}
	add_text(made, "/", slash != NULL);
	if (tail > text.n - base)
		tail = 0;
	if (action == PV_BASE)
		add_text(made, text.p + base, text.n - base - tail);
	else
		add_hash(names, made, text.p + base, text.n - base - tail);
	add_text(made, text.p + text.n - tail, tail);
}

bool pv_is_common_mapping(struct pd_text text)
{
	static const char *const common[] = {
		"//anon",
		"/dev/zero",
		"/dev/zero (deleted)",
		"/anon_hugepage",
		"/anon_hugepage (deleted)",
		"anon_inode:[perf_event]",
		"[vdso]",
		"[vdso32]",
		"[vvar]",
		"[vvar_vclock]",
		"[vsyscall]",
		"[vectors]",
		"[sigpage]",
		"[heap]",
		"[stack]",
		"[uprobes]",
		"[uprobes-trampoline]",
		"[kernel.kallsyms]",
		"[kernel.kallsyms]_text",
		"[kernel.kallsyms]_stext",
		"[kernel.vmlinux]",
		"[kernel.kcore]",
		"[guest.kernel.kallsyms]",
		"[guest.kernel.kallsyms]_text",
		"[guest.kernel.kallsyms]_stext",
	};

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (text.n == strlen(common[i]) && memcmp(text.p, common[i], text.n) == 0)
			return true;
	return false;
}

/* Adds the name of a mapped file, or of a module of the kernel, which is in brackets. */
static void add_binary(const struct pv_names *names, struct made *made, struct pd_text text,
		       enum pv_action action)
{
	if (pv_is_common_mapping(text)) {
		add_text(made, text.p, text.n);
	} else if (text.n > 2 && text.p[0] == '[' && text.p[text.n - 1] == ']') {
		add_text(made, "[", 1);
		if (action == PV_BASE && !memchr(text.p, ':', text.n))
			add_text(made, text.p + 1, text.n - 2);
		else
			add_hash(names, made, text.p + 1, text.n - 2);
		add_text(made, "]", 1);
	} else {
		add_path(names, made, text, action);
	}
}

static void make_name(const struct pv_names *names, struct made *made, enum pv_kind kind,
		      enum pv_action action, struct pd_text text)
{
	bool is_path = kind == PV_PATH || kind == PV_CGROUP || kind == PV_SOURCE;

	if (action == PV_DROP && !(kind == PV_BINARY && pv_is_common_mapping(text)))
		add_text(made, PV_SHOWN_DROP, strlen(PV_SHOWN_DROP));
	else if (kind == PV_BINARY)
		add_binary(names, made, text, action);
	else if (is_path)
		add_path(names, made, text, action);
	else
		add_hash(names, made, text.p, text.n);
}

struct key {
	const struct pv_names *names;
	enum pv_kind kind;
	struct pd_text text;
};

static bool has_name(const void *arg, uint32_t item)
{
	const struct key *key = arg;
	const struct pv_name *name = &key->names->list[item];

	return name->kind == key->kind && name->text.n == key->text.n &&
	       pb_same_bytes(name->text.p, key->text.p, key->text.n);
}

/* Adds a name to the list. Returns false without memory. */
static bool add_name(struct pv_names *names, const struct key *key, struct pd_text shown)
{
	struct pv_name name;
	const char *text = pb_arena_text(&names->arena, key->text.p, key->text.n);
	bool stays = shown.p == key->text.p;

	shown.p = stays ? text : pb_arena_text(&names->arena, shown.p, shown.n);
	if (!text || !shown.p || !pb_reserve(names->list, names->n, names->room))
		return false;
	name = (struct pv_name){ key->kind, { text, key->text.n }, shown, 0 };
	names->list[names->n++] = name;
	return true;
}

/* Adds a name that was not met before to the slot for it; `shown` NULL: by its rule. */
static struct pd_text add_met(struct pv_names *names, const struct key *key, uint32_t hash,
			      struct pb_slot *slot, const struct pd_text *shown)
{
	static const struct pd_text dropped = { PV_SHOWN_DROP, sizeof(PV_SHOWN_DROP) - 1 };
	enum pv_action action = names->rules->of[key->kind];
	struct pd_text made_text = shown ? *shown : key->text;
	struct made made;

	made.n = 0;
	if (!shown && action != PV_KEEP) {
		make_name(names, &made, key->kind, action, key->text);
		made_text = (struct pd_text){ made.p, made.n };
	}
	if (!slot || !add_name(names, key, made_text)) {
		names->failed = true;
		return dropped;
	}
	pb_map_fill(&names->map, slot, hash, (uint32_t)names->n - 1);
	names->list[names->n - 1].n = 1;
	return names->list[names->n - 1].shown;
}

/* Finds a name that was met before, or adds it; `shown` NULL: by its rule. */
static struct pd_text show(struct pv_names *names, enum pv_kind kind, struct pd_text text,
			   const struct pd_text *shown)
{
	const struct key key = { names, kind, text };
	struct pb_slot *slot = NULL;
	uint32_t hash;

	if (!text.n)
		return (struct pd_text){ "", 0 };
	hash = pb_hash_bytes(&names->secret, text.p, text.n);
	if (pb_map_reserve(&names->map))
		slot = pb_map_find(&names->map, hash, has_name, &key);
	if (!slot || !slot->item)
		return add_met(names, &key, hash, slot, shown);
	names->list[slot->item - 1].n++;
	return names->list[slot->item - 1].shown;
}

struct pd_text pv_show(struct pv_names *names, enum pv_kind kind, struct pd_text text)
{
	return show(names, kind, text, NULL);
}

struct pd_text pv_show_as(struct pv_names *names, enum pv_kind kind, struct pd_text text,
			  struct pd_text shown)
{
	return show(names, kind, text, &shown);
}
