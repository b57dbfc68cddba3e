#define _GNU_SOURCE
#include "store.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "asked.h"
#include "base/vector.h"
#include "bundle.h"
#include "internal.h"
#include "kallsyms.h"
#include "symbols/elf/text.h"
#include "symbols/jit/jitdump.h"

/* Reads perf's own configuration. */

static void trim_blanks(struct ps_line_text *text)
{
	while (text->at < text->end && strchr(" \t\r", *text->at) && *text->at)
		text->at++;
	while (text->end > text->at && strchr(" \t\r", text->end[-1]) && text->end[-1])
		text->end--;
}

static bool equals_text(const struct ps_line_text *text, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(text->end - text->at) == n && strncasecmp(text->at, word, n) == 0;
}

/*
 * Copies a value, which ends with the line, without quotes around it and a comment after it.
 */
static bool take_value(struct ps_line_text value, char *dir, size_t size)
{
	const char *end;
	size_t n;

	trim_blanks(&value);
	if (value.at < value.end && *value.at == '"') {
		value.at++;
		end = memchr(value.at, '"', (size_t)(value.end - value.at));
	} else {
		for (end = value.at; end < value.end && *end != '#' && *end != ';'; end++)
			continue;
	}
	value.end = end ? end : value.end;
	trim_blanks(&value);
	n = (size_t)(value.end - value.at);
	if (!n || n >= size || memchr(value.at, '\0', n))
		return false;
	memcpy(dir, value.at, n);
	dir[n] = '\0';
	return true;
}

/*
 * The file has sections "[name]" of lines "key = value"; "#" and ";" begin comments. See
 * perf-config(1).
 */
/*
 * Writes the value of buildid.dir in the configuration file `path` to dir[size]. Returns false
 * if it is not set.
 */
static bool perfconfig_buildid_dir(const char *path, char *dir, size_t size)
{
	bool inside = false, found = false;
	struct ps_line_text line;
	const char *reason, *at;
	size_t n;
	char *text = ps_text_read(path, &n, &reason);

	at = text;
	while (text && ps_text_line(&at, text + n, &line)) {
		struct ps_line_text key = line;
		const char *equals = memchr(line.at, '=', (size_t)(line.end - line.at));

		trim_blanks(&key);
		if (key.at < key.end && *key.at == '[') {
			inside = equals_text(&key, "[buildid]");
			continue;
		}
		if (!inside || !equals)
			continue;
		key.end = equals;
		trim_blanks(&key);
		line.at = equals + 1;
		if (equals_text(&key, "dir"))
			found |= take_value(line, dir, size);
	}
	free(text);
	return found;
}

/*
 * Returns perf's build-id cache: see perf_buildid_config and set_buildid_dir,
 * tools/perf/util/config.c, and for symfs symbol__config_symfs, tools/perf/util/symbol.c.
 */
static const char *find_default_cache(struct ps_store *store)
{
	const char *symfs = store->options.symfs, *dir = getenv("PERF_BUILDID_DIR");
	const char *home = getenv("HOME");
	char path[PATH_MAX], configured[PATH_MAX];
	int n;

	if (!symfs && dir && *dir)
		return ps_store_text(store, dir);
	if (!symfs && (!home || !*home))
		return NULL;
	n = snprintf(path, sizeof(path), "%s/.perfconfig", home ? home : "");
	if (!symfs && n > 0 && (size_t)n < sizeof(path) &&
	    perfconfig_buildid_dir(path, configured, sizeof(configured)))
		return ps_store_text(store, configured);
	n = snprintf(path, sizeof(path), "%s/.debug", symfs ? symfs : home);
	return n > 0 && (size_t)n < sizeof(path) ? ps_store_text(store, path) : NULL;
}

/* Replaces the caller's string by a copy of the store's. Returns false without memory. */
static bool copy_option(struct ps_store *store, const char **text)
{
	bool given = *text;

	if (given)
		*text = ps_store_text(store, *text);
	return *text || !given;
}

/*
 * Copies the strings of the options. A symfs of "/" counts as none. Returns false without
 * memory.
 */
static bool copy_options(struct ps_store *store)
{
	struct ps_options *options = &store->options;
	const char **const texts[] = { &options->symfs,	    &options->kallsyms,
				       &options->vmlinux,   &options->buildid_dir,
				       &options->kcore_dir, &options->release,
				       &options->arch,	    &options->host };

	if (options->symfs && (!*options->symfs || strcmp(options->symfs, "/") == 0)) {
		options->any_binary |= *options->symfs != '\0';
		options->symfs = NULL;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!copy_option(store, texts[i]))
			return false;
	store->buildid_dir = options->buildid_dir ? options->buildid_dir :
						    find_default_cache(store);
	return true;
}

struct ps_store *ps_store_create(const struct ps_options *options)
{
	struct ps_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->options = *options;
	store->vdso_fd = -1;
	store->n_users = 1;
	store->has_owner = true;
	ps_interrupt_keep(options->interrupt);
	pb_secret_make(&store->secret);
	pthread_mutex_init(&store->lock, NULL);
	if (copy_options(store))
		return store;
	ps_store_destroy(store);
	return NULL;
}

/* Frees all but the lines. */
static void forget_symbols(struct ps_dso *dso)
{
	ps_table_deinit(&dso->table);
	ps_kallsyms_destroy(dso->kallsyms);
	ps_jitdump_destroy(dso->jitdump);
	free(dso->tried);
	free(dso->mappings);
	free(dso->segments);
	dso->kallsyms = NULL;
	dso->jitdump = NULL;
	dso->tried = NULL;
	dso->mappings = NULL;
	dso->segments = NULL;
	dso->n_tried = dso->tried_room = dso->n_mappings = dso->mappings_room = 0;
	dso->n_segments = 0;
	dso->state = PS_MISSING;
}

/* Frees what nobody asks for any more. */
static void shrink(struct ps_store *store)
{
	for (size_t i = 0; !store->has_owner && store->has_ended_lines && i < store->n; i++)
		forget_symbols(store->dsos[i]);
}

void ps_store_destroy(struct ps_store *store)
{
	if (!store)
		return;
	store->has_owner = false;
	shrink(store);
	ps_store_release(store);
}

void ps_store_keep(struct ps_store *store)
{
	store->n_users++;
}

void ps_store_end_lines(struct ps_store *store)
{
	store->has_ended_lines = true;
	store->options.timing = NULL; /* it is the file's */
	for (size_t i = 0; i < store->n; i++)
		if (store->dsos[i]->lines)
			store->dsos[i]->end_lines(store->dsos[i]->lines);
	shrink(store);
}

bool ps_store_set_bundle(struct ps_store *store, const uint8_t *bytes, size_t n,
			 const char **reason)
{
	store->bundle = ps_bundle_open(bytes, n, reason);
	return store->bundle;
}

bool ps_store_has_source(const struct ps_store *store)
{
	return store->bundle && ps_bundle_has_source(store->bundle);
}

static struct ps_noted_source *find_noted(struct ps_store *store, const char *path)
{
	struct ps_noted_source *noted;

	for (size_t i = 0; i < store->n_sources; i++)
		if (strcmp(store->sources[i]->path, path) == 0)
			return store->sources[i];
	if (!pb_reserve(store->sources, store->n_sources, store->sources_room))
		return NULL;
	noted = calloc(1, sizeof(*noted));
	if (noted)
		noted->path = ps_store_text(store, path);
	if (noted && noted->path)
		return store->sources[store->n_sources++] = noted;
	free(noted);
	return NULL;
}

struct ps_noted_source *ps_store_note_source(struct ps_store *store, const char *path,
					     int64_t modified)
{
	struct ps_noted_source *noted;

	pthread_mutex_lock(&store->lock);
	noted = find_noted(store, path);
	if (noted)
		noted->modified = modified;
	pthread_mutex_unlock(&store->lock);
	return noted;
}

void ps_store_note_line(struct ps_store *store, struct ps_noted_source *noted, uint32_t line,
			const char *text, size_t n)
{
	const char *kept;

	pthread_mutex_lock(&store->lock);
	if (!ps_memo_get(&noted->lines, line, 0) && !memchr(text, '\0', n)) {
		kept = pb_arena_text(&store->texts, text, n);
		if (kept)
			ps_memo_put(&noted->lines, line, 0, kept);
	}
	pthread_mutex_unlock(&store->lock);
}

bool ps_store_was_cut(const struct ps_store *store)
{
	return ps_interrupt_was_cut(store->options.interrupt);
}

void ps_store_release(struct ps_store *store)
{
	if (--store->n_users)
		return;
	for (size_t i = 0; i < store->n; i++) {
		struct ps_dso *dso = store->dsos[i];

		forget_symbols(dso);
		if (dso->lines)
			dso->destroy_lines(dso->lines);
		ps_asked_destroy(dso->asked);
		free(dso);
	}
	ps_interrupt_release(store->options.interrupt);
	pb_arena_deinit(&store->texts);
	if (store->vdso_fd >= 0)
		close(store->vdso_fd);
	pthread_mutex_destroy(&store->lock);
	free(store->dsos);
	ps_bundle_destroy(store->bundle);
	for (size_t i = 0; i < store->n_sources; i++) {
		ps_memo_deinit(&store->sources[i]->lines);
		free(store->sources[i]);
	}
	free(store->sources);
	pb_map_deinit(&store->by_id);
	free(store);
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/*
 * Inodes tell binaries without build-ids apart; containers of one image differ in the devices.
 */
static bool is_same_id(const struct ps_dso_id *a, const struct ps_dso_id *b)
{
	return (a->build_id.size || a->file.inode == b->file.inode) && a->kind == b->kind &&
	       a->guest == b->guest && a->start == b->start && a->len == b->len &&
	       a->pid == b->pid && a->reference_address == b->reference_address &&
	       a->build_id.size == b->build_id.size &&
	       memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.size) == 0 &&
	       is_same_text(a->reference, b->reference) && is_same_text(a->shown, b->shown) &&
	       is_same_text(a->name, b->name);
}

/* Hashes everything by which a recording can tell many binaries of one name apart. */
static uint32_t hash_id(const struct ps_store *store, const struct ps_dso_id *id)
{
	const uint64_t words[] = {
		pb_hash_bytes(&store->secret, id->name, strlen(id->name)),
		pb_hash_bytes(&store->secret, id->build_id.bytes, id->build_id.size),
		id->build_id.size ? 0 : id->file.inode,
		id->start,
		id->len,
		id->reference_address,
		(uint64_t)id->kind << 32 | (uint32_t)id->pid,
	};

	return pb_hash_bytes(&store->secret, words, sizeof(words));
}

struct wanted {
	const struct ps_store *store;
	const struct ps_dso_id *id;
};

static bool has_id(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;

	return is_same_id(&wanted->store->dsos[item]->id, wanted->id);
}

/* Returns the slot of a binary, or the free one for it; NULL: nothing was stored yet. */
static struct pb_slot *find_id(const struct ps_store *store, const struct ps_dso_id *id)
{
	const struct wanted wanted = { store, id };

	return pb_map_find(&store->by_id, hash_id(store, id), has_id, &wanted);
}

static struct ps_dso *make_dso(struct ps_store *store, const struct ps_dso_id *id)
{
	struct ps_dso *dso = calloc(1, sizeof(*dso));

	if (!dso)
		return NULL;
	dso->store = store;
	dso->table.interrupt = store->options.interrupt;
	dso->id = *id;
	if (store->options.collects)
		dso->asked = ps_asked_create();
	if (copy_option(store, &dso->id.name) && copy_option(store, &dso->id.shown) &&
	    copy_option(store, &dso->id.reference) && ps_dso_name(dso) &&
	    (dso->asked || !store->options.collects))
		return dso;
	ps_asked_destroy(dso->asked);
	free(dso);
	return NULL;
}

/*
 * Adds what another mapping of the same inode number states. perf itself ignores generations.
 */
static void note_file(struct ps_file_id *file, const struct ps_file_id *mapped)
{
	if (!file->generation)
		file->generation = mapped->generation;
	file->is_ambiguous |= mapped->is_ambiguous || mapped->major != file->major ||
			      mapped->minor != file->minor ||
			      (mapped->generation && mapped->generation != file->generation);
}

static struct ps_dso *find_or_make(struct ps_store *store, const struct ps_dso_id *id)
{
	struct pb_slot *slot;
	struct ps_dso *dso;

	if (!pb_map_reserve(&store->by_id) ||
	    !pb_reserve(store->dsos, store->n, store->capacity))
		return NULL;
	slot = find_id(store, id);
	if (slot->item) {
		dso = store->dsos[slot->item - 1];
		note_file(&dso->id.file, &id->file);
		return dso;
	}
	dso = make_dso(store, id);
	if (dso) {
		pb_map_fill(&store->by_id, slot, hash_id(store, id), (uint32_t)store->n);
		store->dsos[store->n++] = dso;
	}
	return dso;
}

struct ps_dso *ps_store_dso(struct ps_store *store, const struct ps_dso_id *id)
{
	struct ps_dso *dso;

	pthread_mutex_lock(&store->lock);
	dso = find_or_make(store, id);
	pthread_mutex_unlock(&store->lock);
	return dso;
}

static bool is_dso(const void *arg, uint32_t item)
{
	const struct ps_dso *dso = arg;

	return dso->store->dsos[item] == dso;
}

void ps_dso_set_build_id(struct ps_dso *dso, const struct ps_build_id *id)
{
	struct ps_store *store = dso->store;
	struct pb_slot *slot;
	uint32_t item;

	pthread_mutex_lock(&store->lock);
	if (dso->state == PS_UNTRIED) {
		slot = pb_map_find(&store->by_id, hash_id(store, &dso->id), is_dso, dso);
		item = slot->item - 1;
		pb_map_remove(&store->by_id, slot);
		dso->id.build_id = *id;
		pb_map_add(&store->by_id, hash_id(store, &dso->id), item);
	}
	pthread_mutex_unlock(&store->lock);
}

size_t ps_store_count(const struct ps_store *store)
{
	return store->n;
}

struct ps_dso *ps_store_at(const struct ps_store *store, size_t i)
{
	return store->dsos[i];
}

const char *ps_store_text(struct ps_store *store, const char *text)
{
	return pb_arena_text(&store->texts, text, strlen(text));
}

bool ps_store_path(const struct ps_store *store, const char *name, char path[PATH_MAX])
{
	const char *symfs = store->options.symfs;
	int n = snprintf(path, PATH_MAX, "%s%s", symfs ? symfs : "", name);

	return *name == '/' && n < PATH_MAX;
}

bool ps_store_is_here(const struct ps_store *store)
{
	const struct ps_options *options = &store->options;
	struct utsname here;

	return options->release && options->host && uname(&here) == 0 &&
	       strcmp(here.release, options->release) == 0 &&
	       strcmp(here.nodename, options->host) == 0 &&
	       (!options->arch || strcmp(here.machine, options->arch) == 0);
}
