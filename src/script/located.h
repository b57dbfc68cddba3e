/*
 * Texts of addresses that were written before: a frame of a call chain, or what stands after
 * an ip. An address has one text for as long as what is mapped there stays. The texts are
 * bounded: a new one takes the room of the oldest.
 */
#ifndef PERFLUA_SCRIPT_LOCATED_H
#define PERFLUA_SCRIPT_LOCATED_H

#include "base/hash.h"
#include "machine/machine.h"
#include "perfdata/format/print_scalar.h"

#define PX_LOCATED_BITS	 16		   /* texts that are kept, as a power of two */
#define PX_LOCATED_ROOM	 ((size_t)6 << 20) /* bytes of all */
#define PX_MAPPINGS_KEPT 256		   /* a power of two */

/* A time during which the mappings of a process, or of the kernel, do not change. */
struct px_mapping {
	uint64_t key;	     /* see pm_key_of() */
	uint64_t taken;	     /* revision of the system, plus 1; 0: free */
	uint64_t from, last; /* ns, both included */
	uint64_t number;     /* of its own; 0: it is not known how long it stays */
};

struct px_located_text {
	uint64_t address;
	uint64_t tag; /* see px_located_tag(); 0: free */
	uint64_t at;  /* bytes of texts written before it */
	uint32_t n;
};

struct px_located {
	struct px_mapping mappings[PX_MAPPINGS_KEPT];
	uint64_t n_mappings; /* numbers given so far */
	struct px_located_text texts[1 << PX_LOCATED_BITS];
	uint64_t used;			 /* bytes of texts written so far */
	struct pd_print out;		 /* takes a text that is to be kept */
	bool is_too_long;		 /* it does not fit there */
	char room[PX_LOCATED_ROOM + 32]; /* short texts are read 32 bytes at once */
};

/* Creates texts of which there are none. Returns NULL without memory. */
struct px_located *px_located_create(void);
void px_located_destroy(struct px_located *located);

/*
 * Returns a number that stands for what is mapped at the addresses of a context, those of the
 * kernel if `kernel`; 0: it is not known how long that stays.
 */
uint64_t px_located_number(struct px_located *located, const struct pm_system *system,
			   const struct pm_addr_context *context, bool kernel);

/*
 * Returns the tag of texts of a form, which is below 256, of addresses in a cpumode; `number`
 * is that of the mapping.
 */
static inline uint64_t px_located_tag(uint64_t number, enum pd_cpumode mode, unsigned form)
{
	return number << 16 | (uint64_t)mode << 8 | form;
}

static inline struct px_located_text *px_located_slot(struct px_located *located,
						      uint64_t address, uint64_t tag)
{
	return &located->texts[pb_scatter(address ^ pb_scatter(tag)) >> (64 - PX_LOCATED_BITS)];
}

/* Returns a text of *n bytes; NULL: it is not kept. */
static inline const char *px_located_find(struct px_located *located, uint64_t address,
					  uint64_t tag, size_t *n)
{
	const struct px_located_text *text = px_located_slot(located, address, tag);

	if (text->address != address || text->tag != tag ||
	    located->used - text->at > PX_LOCATED_ROOM)
		return NULL;
	*n = text->n;
	return located->room + text->at % PX_LOCATED_ROOM;
}

/*
 * Prefetch where px_located_find() looks; after that, the text that is there. A look takes
 * long, as the texts lie anywhere in memory, unless several are prefetched at once.
 */
static inline void px_located_prefetch(struct px_located *located, uint64_t address,
				       uint64_t tag)
{
	__builtin_prefetch(px_located_slot(located, address, tag));
}

static inline void px_located_prefetch_text(struct px_located *located, uint64_t address,
					    uint64_t tag)
{
	size_t n;
	const char *text = px_located_find(located, address, tag, &n);

	if (text) {
		__builtin_prefetch(text);
		__builtin_prefetch(text + 64);
	}
}

/* Returns what a text that is to be kept is to be written to. */
struct pd_print *px_located_begin(struct px_located *located);

/*
 * Keeps the text that was written since px_located_begin(). Returns it, as px_located_find();
 * NULL: it is too long.
 */
const char *px_located_keep(struct px_located *located, uint64_t address, uint64_t tag,
			    size_t *n);

#endif
