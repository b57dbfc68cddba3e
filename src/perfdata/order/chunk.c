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

uint64_t pd_chunk_types(const struct pd_types *types)
{
	uint64_t bits = types->unknown;

	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++)
		if (pd_types_has(types, type))
			bits |= pd_chunk_type(type);
	return bits;
}
