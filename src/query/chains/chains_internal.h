/* Shared by the files of chains. */
#ifndef PERFLUA_QUERY_CHAINS_INTERNAL_H
#define PERFLUA_QUERY_CHAINS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "base/string_builder.h"
#include "base/wide.h"
#include "chains.h"

/*
 * 128-bit hashes of call chains: the sum of products of pairs of words, each plus a random
 * number for its position (NH, the hash of UMAC: RFC 4418, 5.2). Without the random numbers,
 * two chains can be made equal only with a chance of 2^-64.
 */

#define PQ_HEAD_WORDS 4	   /* words in front of a chain: whose it is */
#define PQ_HASH_WORDS 2048 /* longer chains are not hashed */

struct pq_hash_keys {
	uint64_t head[PQ_HEAD_WORDS];
	uint64_t words[PQ_HASH_WORDS];
	uint64_t factors[2]; /* odd */
};

struct pq_hash {
	uint64_t low, high;
};

static inline uint64_t pq_word(const uint8_t *bytes, size_t i)
{
	uint64_t word;

	memcpy(&word, bytes + 8 * i, sizeof(word));
	return word;
}

/* Returns the hash of a head and `n` words, of any alignment. */
static inline struct pq_hash pq_hash_of(const struct pq_hash_keys *keys,
					const uint64_t head[PQ_HEAD_WORDS], const void *words,
					size_t n)
{
	const uint8_t *bytes = words;
	const uint64_t *k = keys->words;
	struct pb_wide sum = { n, 0 }, more = { 0, 0 };
	struct pq_hash hash;
	size_t i = 0;

	for (size_t h = 0; h < PQ_HEAD_WORDS; h += 2)
		pb_wide_add(&sum, pb_wide_product(head[h] + keys->head[h],
						  head[h + 1] + keys->head[h + 1]));
	for (; i + 4 <= n; i += 4) {
		pb_wide_add(&sum, pb_wide_product(pq_word(bytes, i) + k[i],
						  pq_word(bytes, i + 1) + k[i + 1]));
		pb_wide_add(&more, pb_wide_product(pq_word(bytes, i + 2) + k[i + 2],
						   pq_word(bytes, i + 3) + k[i + 3]));
	}
	for (; i < n; i += 2) {
		uint64_t second = i + 1 < n ? pq_word(bytes, i + 1) : 0;

		pb_wide_add(&sum, pb_wide_product(pq_word(bytes, i) + k[i], second + k[i + 1]));
	}
	pb_wide_add(&sum, more);
	/*
	 * mix each half into the other, as the lower half alone is not a good hash; nothing is
	 * lost by it
	 */
	hash.low = sum.low;
	hash.high = sum.high;
	hash.high += (hash.low ^ hash.low >> 32) * keys->factors[0];
	hash.low += (hash.high ^ hash.high >> 32) * keys->factors[1];
	hash.high += hash.low ^ hash.low >> 29;
	return hash;
}

/* A further kind: frames by the names of their functions. */
#define PQ_SYMBOLS   (PQ_CHAIN_ADDRESS + 1)
#define PQ_KINDS     (PQ_SYMBOLS + 1)
#define PQ_NO_SYMBOL (UINT32_MAX - 1) /* number of frames without a function */

/*
 * A frame that was met before, identified by a function, or an address in a binary, and by the
 * cpumode.
 */
struct pq_alias {
	const void *location; /* the symbol; without one the dso, or NULL */
	uint64_t address;     /* address in the binary, without a symbol */
	uint32_t number;      /* number of the frame */
	uint8_t mode;	      /* the cpumode, or the value that stands for it in the text */
	uint8_t kind;	      /* enum pq_chain_kind, or PQ_SYMBOLS */
};

/* A frame that is an address. There may be very many, so their texts are made on demand. */
#define PQ_NO_TEXT UINT32_MAX

/* The frame of an address, valid while the mappings are those of `tag`. */
struct pq_seen_frame {
	uint64_t ip, tag;
	uint32_t number; /* from 1 on; 0: free */
	bool is_alone;	 /* it is known that no function was inlined there */
};

#ifndef PQ_SEEN_FRAMES
#define PQ_SEEN_FRAMES 16384 /* a power of two */
#endif

/* The mapping version of a process, or of the kernel, in a time range. */
struct pq_version_memo {
	uint64_t key;	     /* the process, or the kernel: see pm_key_of() */
	uint64_t taken;	     /* revision of the system, plus 1; 0: free */
	uint64_t from, last; /* ns, both included */
	uint64_t tag;
	bool known;
};

#ifndef PQ_VERSION_MEMOS
#define PQ_VERSION_MEMOS 256
#endif

/* A binary met before by chains of a kind for which pq_is_binary_kind(). */
struct pq_seen_binary {
	struct ps_dso *dso; /* NULL: nothing was mapped */
	uint32_t chain;	    /* number of the chain that it is, from 1 on; 0: not known */
	bool is_loaded;	    /* its symbols were looked for */
};

#define PQ_SEEN_BINARIES 64 /* a power of two */

/* Raw chains met before, as far as there is room. A line is a cache line. */
struct pq_raw_line {
	struct pq_hash hash[3];
	uint32_t chain[3]; /* from 1 on; 0: free */
	uint32_t next;	   /* index of the one that is replaced next */
};

/*
 * A cache of chains by their raw form. It is bounded, forgets, and compares hashes only.
 * Without it the bench's line "query: period by comm and stack" takes 6 % more instructions on
 * 20 MB.
 */
struct pq_raw {
	struct pq_raw_line *lines; /* [2^bits]; NULL: not needed yet, or no memory */
	unsigned bits;
	size_t n;  /* number of chains */
	bool full; /* the number of lines does not grow any more */
};

struct pq_chain {
	uint32_t at; /* index in `numbers` */
	struct pq_origin first;
	uint16_t n;
	uint8_t kind;
};

/* The name of the function at an address, while the mappings are those of `tag`. */
struct pq_seen_name {
	uint64_t ip, tag;
	const char *name; /* NULL: it is not known */
	uint32_t size;
	bool is_filled;
};

/* A chain that is being looked up. */
struct pq_looked {
	struct pm_resolver *resolver;
	const struct pd_record *rec;
	struct pm_addr_context context;
	unsigned kind;	  /* enum pq_chain_kind, or PQ_SYMBOLS */
	uint64_t tags[2]; /* mapping versions of the process and of the kernel */
	bool known;	  /* the tags are known */
	bool by_time;	  /* mappings depend on more than the tags: nothing is kept */
	bool alone;	  /* the chain has no frames but that of the ip */
	bool has_ip;
	struct pd_frame own; /* the frame of the ip */
};

/* The part of a frame that many share. It has no padding, so equal parts have equal bytes. */
struct pq_code {
	struct ps_dso *dso;
	const struct ps_symbol *symbol;
	uint32_t mode, kind;
};

/* A frame as it is kept: there may be millions. */
struct pq_kept_frame {
	uint64_t address;
	uint32_t code; /* number of its struct pq_code */
	uint32_t text;
};

/* Facts about a frame of PQ_CHAIN_VALUES beside its struct pq_frame. */
struct pq_frame_value {
	uint64_t ip;			  /* ip of the first record that has the frame */
	const struct ps_symbol *function; /* result of pq_chains_function(), if is_asked */
	struct pq_origin first;		  /* position of that record */
	bool is_asked;			  /* pq_chains_function() was asked */
};

struct pq_chains {
	struct pq_hash_keys keys;
	struct pq_raw raw;
	struct pq_version_memo versions[PQ_VERSION_MEMOS];
	struct pq_seen_frame seen[PQ_SEEN_FRAMES];
	struct pq_seen_binary binaries[PQ_SEEN_BINARIES];
	struct pm_string_pool texts[PQ_KINDS];
	uint32_t *by_text[PQ_KINDS]; /* [texts[kind].n]: number of the frame with the text */
	size_t by_text_room[PQ_KINDS];
	/* [n_frames]: no two have the same text in texts[kind] */
	struct pq_kept_frame *frames;
	size_t n_frames, frames_room;
	struct pb_set codes;   /* struct pq_code */
	uint64_t *code_hashes; /* [codes.n]: equal for codes that are one: see is_same_code() */
	size_t code_hashes_room;
	uint32_t last_code; /* code of the frame that was kept last; many have the same one */
	/* [n_frame_values] by number of a frame, up to the last one of PQ_CHAIN_VALUES */
	struct pq_frame_value *frame_values;
	size_t n_frame_values, frame_values_room;
	/* 1 + frame of unmapped_frame(), by whether is_mapped_kind(), and by cpumode */
	uint32_t unmapped[2][PD_MISC_CPUMODE + 1];
	struct pb_set exact;	  /* struct pq_exact, by `text` of a frame */
	struct pb_map addresses;  /* frames of PQ_CHAIN_FRAMES without a text */
	struct pb_map values;	  /* frames of kinds for which pq_is_value_kind() */
	struct pb_secret secret;  /* key of the hashes of `addresses` and `values` */
	struct pq_alias *aliases; /* [n_aliases] */
	size_t n_aliases, aliases_room;
	struct pb_map by_place; /* numbers of aliases */
	struct pq_chain *list;	/* [n] */
	size_t n, room;
	size_t limit;	   /* the largest n; SIZE_MAX: none */
	uint32_t *numbers; /* [n_numbers]: numbers of frames, callee first, chain after chain */
	size_t n_numbers, numbers_room;
	struct pb_map by_frames;  /* numbers of chains in the list */
	struct pb_string text;	  /* the result of pq_chains_text() */
	uint32_t own;		  /* the result of pq_chains_own() */
	struct pq_looked entered; /* the record of pq_chains_enter() */
	/*
	 * Names met last, in sets of two, a cache line each: the first is the one that was
	 * asked for last; NULL: not needed yet
	 */
	struct pq_seen_name (*names)[2];
};

/* Returns true if chains of a kind are the binary at ip. */
static inline bool pq_is_binary_kind(unsigned kind)
{
	return kind == PQ_CHAIN_BINARY || kind == PQ_CHAIN_BINARIES;
}

/* Returns true if chains of a kind have inlined functions, and the frame of ip at their end. */
static inline bool pq_is_inlined_kind(unsigned kind)
{
	return kind == PQ_CHAIN_INLINED || kind == PQ_CHAIN_UNWOUND || kind == PQ_CHAIN_EXACT;
}

/* Returns true if frames of a kind of chains are told apart by values, not by texts. */
static inline bool pq_is_value_kind(unsigned kind)
{
	return kind >= PQ_CHAIN_VALUES && kind <= PQ_CHAIN_BINARIES;
}

static inline const struct pq_code *pq_code_at(const struct pq_chains *chains, uint32_t frame)
{
	return pb_set_at(&chains->codes, chains->frames[frame].code);
}

/* Sets looked->tags. */
void pq_look_when(struct pq_chains *chains, struct pq_looked *looked);

/* Returns the number of the frame of an address; UINT32_MAX: no memory. */
uint32_t pq_frame_at(struct pq_chains *chains, struct pq_looked *looked,
		     const struct pd_frame *at);

/*
 * Writes the numbers of the functions that were inlined at an address, as frames, and that of
 * its frame to numbers[room], which has room for one. Returns how many they are.
 */
size_t pq_frames_at(struct pq_chains *chains, struct pq_looked *looked,
		    const struct pd_frame *at, uint32_t *numbers, size_t room);

/* Returns true if the record at `a` comes before that at `b` in the recordings. */
static inline bool pq_is_earlier(const struct pq_origin *a, const struct pq_origin *b)
{
	if (a->source != b->source)
		return a->source < b->source;
	return a->stream != b->stream ? a->stream < b->stream : a->offset < b->offset;
}

static inline struct pq_origin pq_origin_of(const struct pd_record *rec)
{
	return (struct pq_origin){ rec->offset, rec->source, rec->stream };
}

/*
 * Returns the number of the frame with that text, added as *frame if it is new; UINT32_MAX: no
 * memory.
 */
uint32_t pq_frame_of_text(struct pq_chains *chains, unsigned kind, struct pd_text text,
			  const struct pq_frame *frame);

/* Returns the number of a frame of PQ_CHAIN_FRAMES without a symbol, as pq_frame_of_text(). */
uint32_t pq_frame_of_address(struct pq_chains *chains, const struct pq_frame *frame);

/*
 * Returns the number of a frame that is told apart by values, as pq_frame_of_text(). `seen` is
 * where one of PQ_CHAIN_VALUES was met.
 */
uint32_t pq_frame_of_value(struct pq_chains *chains, const struct pq_frame *frame,
			   const struct pq_frame_value *seen);

/* Returns the number of a frame of PQ_CHAIN_EXACT, as pq_frame_of_text(). */
uint32_t pq_frame_of_exact(struct pq_chains *chains, const struct pq_looked *looked,
			   struct pq_frame *frame, const struct pd_frame *at);

/*
 * Returns the number of the chain with these frames, at most PM_MAX_FRAMES + 1, that the record
 * at `first` has; added if it is new; PQ_CHAIN_NO_MEMORY.
 */
uint32_t pq_chain_intern(struct pq_chains *chains, unsigned kind, const uint32_t *frames,
			 size_t n, const struct pq_origin *first);

/* Returns the number of the chain that is a binary (NULL: none), as pq_chain_intern() does. */
uint32_t pq_chain_of_binary(struct pq_chains *chains, struct ps_dso *dso,
			    const struct pq_origin *first);

/* Notes that the record at `first` has a chain that is known. */
static inline void pq_chain_meet(struct pq_chains *chains, uint32_t chain,
				 const struct pq_origin *first)
{
	if (pq_is_earlier(first, &chains->list[chain].first))
		chains->list[chain].first = *first;
}

/* Returns the number of the chain of a raw chain, from 1 on; 0: it is not kept. */
uint32_t pq_raw_find(const struct pq_raw *raw, const struct pq_hash *hash);
/* Remembers the chain of a raw chain, as long as there is room. */
void pq_raw_keep(struct pq_raw *raw, const struct pq_hash *hash, uint32_t chain);

#endif
