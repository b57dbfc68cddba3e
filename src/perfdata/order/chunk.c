#include "chunk.h"

void pd_chunker_begin(struct pd_chunker *k, const struct pd_record *rec, uint64_t time)
{
	k->chunk = (struct pd_chunk){
		.offset = rec->offset,
		.chunk_offset = rec->chunk_offset,
		.first = time,
		.min = time,
		.max = time,
		.number = k->next_number++,
		.sorted = true,
	};
	k->last = time;
}
