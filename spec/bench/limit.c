/*
 * limit types|comm FILE: what the questions cost a loop that does nothing beyond them, as a
 * measure for perflua's.
 *
 * It believes everything: a whole, plain file of this machine's byte order, all of whose events
 * record what the first one does, but perhaps for the period, which is the last of it. `comm`
 * takes names as they come in the file, which is not always right. Prints the counts by type,
 * or the periods by name.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK (256 * 1024)

enum {
	COMM = 3,
	FORK = 7,
	SAMPLE = 9,
	TYPES = 96
};

enum {
	IP = 1 << 0,
	TID = 1 << 1,
	TIME = 1 << 2,
	ADDR = 1 << 3,
	ID = 1 << 6,
	CPU = 1 << 7,
	STREAM_ID = 1 << 9,
	IDENTIFIER = 1 << 16
};

struct header {
	uint32_t type;
	uint16_t misc, size;
};

/* Names by tid: tids are small numbers. */
#define TIDS (1 << 22)

struct names {
	uint32_t *of_tid; /* [TIDS] */
	char (*text)[16];
	uint64_t *period;
	uint32_t n;
};

static uint32_t name_number(struct names *names, const char *text)
{
	uint32_t i = 0;

	while (i < names->n && strncmp(names->text[i], text, 16) != 0)
		i++;
	if (i == names->n)
		memcpy(names->text[names->n++], text, 16);
	return i;
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The words of a sample before its thread's id, and before its period. */
static void places(uint64_t type, size_t *tid, size_t *period)
{
	*tid = 8 + 8 * (size_t)(!!(type & IDENTIFIER) + !!(type & IP));
	*period = *tid + 8 * (size_t)(!!(type & TID) + !!(type & TIME) + !!(type & ADDR) +
				      !!(type & ID) + !!(type & STREAM_ID) + !!(type & CPU));
}

struct loop {
	size_t tid, period;
	struct names names;
	uint64_t counts[TYPES];
};

static void by_comm(struct loop *l, const uint8_t *p, const struct header *h)
{
	struct names *names = &l->names;

	if (h->type == SAMPLE) {
		uint32_t tid = load32(p + l->tid + 4) & (TIDS - 1);

		names->period[names->of_tid[tid]] += h->size >= l->period + 8 ?
							     load64(p + l->period) :
							     1;
	} else if (h->type == COMM) {
		names->of_tid[load32(p + 12) & (TIDS - 1)] = name_number(names,
									 (const char *)p + 16);
	} else if (h->type == FORK) {
		names->of_tid[load32(p + 16) & (TIDS - 1)] =
			names->of_tid[load32(p + 20) & (TIDS - 1)];
	}
}

static void walk(struct loop *l, int fd, uint64_t at, uint64_t end, bool comm)
{
	static uint8_t block[BLOCK];
	size_t have = 0;

	while (at + have < end) {
		size_t want = end - at - have < BLOCK - have ? end - at - have : BLOCK - have,
		       pos = 0;
		ssize_t got = pread(fd, block + have, want, (off_t)(at + have));

		if (got <= 0)
			break;
		have += (size_t)got;
		while (have - pos >= sizeof(struct header)) {
			struct header h;

			memcpy(&h, block + pos, sizeof(h));
			if (h.size < sizeof(h) || have - pos < h.size)
				break;
			if (comm)
				by_comm(l, block + pos, &h);
			else
				l->counts[h.type % TYPES]++;
			pos += h.size;
		}
		memmove(block, block + pos, have - pos);
		at += pos;
		have -= pos;
	}
}

int main(int argc, char **argv)
{
	static struct loop l;
	uint64_t head[13], attr[4] = { 0 };
	bool comm = argc == 3 && strcmp(argv[1], "comm") == 0;
	int fd = argc == 3 ? open(argv[2], O_RDONLY) : -1;

	if (fd < 0 || pread(fd, head, sizeof(head), 0) != sizeof(head) ||
	    pread(fd, attr, sizeof(attr), (off_t)head[3]) != sizeof(attr)) {
		fprintf(stderr, "usage: limit types|comm FILE\n");
		return 2;
	}
	places(attr[3], &l.tid, &l.period);
	l.names.of_tid = calloc(TIDS, sizeof(*l.names.of_tid));
	l.names.text = calloc(65536, sizeof(*l.names.text));
	l.names.period = calloc(65536, sizeof(*l.names.period));
	l.names.n = 1;
	walk(&l, fd, head[5], head[5] + head[6], comm);
	for (unsigned i = 0; !comm && i < TYPES; i++)
		if (l.counts[i])
			printf("%u %llu\n", i, (unsigned long long)l.counts[i]);
	for (uint32_t i = 0; comm && i < l.names.n; i++)
		if (l.names.period[i])
			printf("%.16s %llu\n", l.names.text[i],
			       (unsigned long long)l.names.period[i]);
	return 0;
}
