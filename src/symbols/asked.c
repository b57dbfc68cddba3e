#include "asked.h"

#include <stdlib.h>

#include "base/vector.h"

struct ps_asked *ps_asked_create(void)
{
	struct ps_asked *asked = calloc(1, sizeof(*asked));

	if (!asked)
		return NULL;
	pthread_mutex_init(&asked->mutex, NULL);
	pb_set_init(&asked->addresses, sizeof(uint64_t));
	pb_set_init(&asked->bytes, sizeof(struct ps_asked_bytes));
	pb_set_init(&asked->rows_at, sizeof(struct ps_asked_row));
	return asked;
}

void ps_asked_destroy(struct ps_asked *asked)
{
	if (!asked)
		return;
	for (size_t i = 0; i < asked->n_rows; i++)
		free(asked->rows[i]);
	for (size_t i = 0; i < asked->n_codes; i++) {
		ps_code_deinit(&asked->codes[i].code);
		free(asked->codes[i].path);
	}
	free(asked->codes);
	free(asked->rows);
	pb_map_deinit(&asked->by_content);
	pb_set_deinit(&asked->addresses);
	pb_set_deinit(&asked->bytes);
	pb_set_deinit(&asked->rows_at);
	pthread_mutex_destroy(&asked->mutex);
	free(asked);
}

static void note_item(struct ps_asked *asked, struct pb_set *set, const void *item)
{
	pthread_mutex_lock(&asked->mutex);
	asked->failed |= pb_set_add(set, item) == UINT32_MAX;
	pthread_mutex_unlock(&asked->mutex);
}

void ps_note_address(struct ps_asked *asked, uint64_t address)
{
	note_item(asked, &asked->addresses, &address);
}

void ps_note_machine(struct ps_asked *asked, uint16_t machine)
{
	__atomic_store_n(&asked->machine, machine, __ATOMIC_RELAXED);
}

void ps_note_bytes(struct ps_asked *asked, uint64_t address, const void *bytes, size_t n)
{
	struct ps_asked_bytes item = { .address = address, .n = n };

	memcpy(item.bytes, bytes, n);
	note_item(asked, &asked->bytes, &item);
}

struct wanted {
	const struct ps_asked *asked;
	const struct ps_row *row;
};

static bool has_row(const void *arg, uint32_t item)
{
	const struct wanted *wanted = arg;
	const struct ps_row *row = wanted->asked->rows[item];

	return row->size == wanted->row->size && memcmp(row, wanted->row, row->size) == 0;
}

/* Returns the number of a row, of which a copy is kept; UINT32_MAX: no memory. */
static uint32_t intern_row(struct ps_asked *asked, const struct ps_row *row)
{
	const struct wanted wanted = { asked, row };
	uint32_t hash = pb_hash_bytes(&asked->addresses.secret, row, row->size);
	struct pb_slot *slot;
	struct ps_row *kept;

	if (!pb_map_reserve(&asked->by_content) ||
	    !pb_reserve(asked->rows, asked->n_rows, asked->rows_room))
		return UINT32_MAX;
	slot = pb_map_find(&asked->by_content, hash, has_row, &wanted);
	if (slot->item)
		return slot->item - 1;
	kept = malloc(row->size);
	if (!kept)
		return UINT32_MAX;
	memcpy(kept, row, row->size);
	pb_map_fill(&asked->by_content, slot, hash, (uint32_t)asked->n_rows);
	asked->rows[asked->n_rows++] = kept;
	return (uint32_t)asked->n_rows - 1;
}

void ps_note_row(struct ps_asked *asked, uint64_t address, const struct ps_row *row)
{
	struct ps_asked_row item = { .address = address };
	uint32_t number;

	pthread_mutex_lock(&asked->mutex);
	number = intern_row(asked, row);
	item.row = number;
	asked->failed |= number == UINT32_MAX ||
			 pb_set_add(&asked->rows_at, &item) == UINT32_MAX;
	pthread_mutex_unlock(&asked->mutex);
}

static bool keep_code(struct ps_asked *asked, uint64_t start, uint64_t size,
		      const struct ps_code *code)
{
	struct ps_asked_code *kept;

	for (size_t i = 0; i < asked->n_codes; i++)
		if (asked->codes[i].start == start && asked->codes[i].size == size)
			return true;
	if (!pb_reserve(asked->codes, asked->n_codes, asked->codes_room))
		return false;
	kept = &asked->codes[asked->n_codes];
	*kept = (struct ps_asked_code){ .start = start, .size = size, .code = *code };
	kept->path = strdup(code->path ? code->path : "");
	kept->code.bytes = malloc(code->size + 1);
	if (!kept->code.bytes || !kept->path) {
		free(kept->code.bytes);
		free(kept->path);
		return false;
	}
	memcpy(kept->code.bytes, code->bytes, code->size);
	asked->n_codes++;
	return true;
}

void ps_note_code(struct ps_asked *asked, uint64_t start, uint64_t size,
		  const struct ps_code *code)
{
	pthread_mutex_lock(&asked->mutex);
	asked->failed |= !keep_code(asked, start, size, code);
	pthread_mutex_unlock(&asked->mutex);
}
