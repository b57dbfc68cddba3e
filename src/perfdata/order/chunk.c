#include "chunk.h"

void pd_cutter_begin(struct pd_cutter *k, const struct pd_record *rec, uint64_t time)
{
	k->chunk = (struct pd_chunk){
		.offset = rec->offset,
		.inside = rec->chunk_offset,
		.first = time,
		.min = time,
		.max = time,
		.number = k->next_number++,
		.sorted = true,
	};
	k->last = time;
}
