#include "event.h"

#include <stdlib.h>

static void insert(struct pd_id_table *table, uint64_t id, uint32_t event)
{
	uint64_t h = pd_id_hash(id);
	struct pd_id_slot *slot;

	do {
		slot = &table->slots[h++ & (table->capacity - 1)];
	} while (slot->event && slot->id != id);
	if (slot->event)
		return; /* the first owner of an id keeps it */
	*slot = (struct pd_id_slot){ id, event + 1 };
	table->n++;
}

bool pd_id_table_add(struct pd_id_table *table, uint64_t id, uint32_t event)
{
	if (table->n * 2 >= table->capacity) {
		struct pd_id_table grown = { .capacity = table->capacity ? table->capacity * 2 :
									   16 };

		grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
		if (!grown.slots)
			return false;
		for (size_t i = 0; i < table->capacity; i++)
			if (table->slots[i].event)
				insert(&grown, table->slots[i].id, table->slots[i].event - 1);
		free(table->slots);
		*table = grown;
	}
	insert(table, id, event);
	return true;
}

void pd_id_table_deinit(struct pd_id_table *table)
{
	free(table->slots);
	*table = (struct pd_id_table){ 0 };
}
