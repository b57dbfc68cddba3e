#include "event.h"

#include <stdlib.h>
#include <sys/random.h>

static void insert(struct pd_id_table *table, uint64_t id, uint32_t event)
{
	uint64_t h = pd_id_place(table, id);
	struct pd_id_slot *slot;

	do {
		slot = &table->slots[h++ & (table->capacity - 1)];
	} while (slot->event && slot->id != id);
	if (slot->event)
		return; /* the first owner of an id keeps it */
	*slot = (struct pd_id_slot){ id, event + 1 };
	table->n++;
}

/* The table at twice its capacity; a new one of 16 places. */
static bool grow(struct pd_id_table *table)
{
	struct pd_id_table grown = {
		.events = table->events,
		.capacity = table->capacity * 2,
		.factor = table->factor,
		.shift = table->shift - 1,
	};

	if (!table->capacity) {
		grown.capacity = 16;
		grown.shift = 60;
		grown.factor = UINT64_C(0x9e3779b97f4a7c15); /* without random bytes */
		if (getrandom(&grown.factor, sizeof(grown.factor), GRND_NONBLOCK) > 0)
			grown.factor |= 1;
	}
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].event)
			insert(&grown, table->slots[i].id, table->slots[i].event - 1);
	free(table->slots);
	*table = grown;
	return true;
}

bool pd_id_table_add(struct pd_id_table *table, uint64_t id, uint32_t event)
{
	if (table->n * 2 >= table->capacity && !grow(table))
		return false;
	insert(table, id, event);
	return true;
}

void pd_id_table_deinit(struct pd_id_table *table)
{
	free(table->slots);
	*table = (struct pd_id_table){ 0 };
}
