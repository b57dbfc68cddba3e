#include "pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum item_kind {
	SET,	  /* a byte of the set */
	FRONTIER, /* no byte: the one before is not of the set, the next one is */
	BALANCED, /* from byte `open` to the byte `close` that balances it */
};

enum repeat {
	ONCE,
	OPTIONAL,    /* ? */
	ANY,	     /* * and -, which match the same texts */
	ONE_OR_MORE, /* + */
};

struct item {
	uint8_t kind, repeat;
	uint8_t open, close;
	uint64_t set[4]; /* a bit for each byte */
};

struct pb_pattern {
	bool from_start, to_end;
	bool has_balanced;
	size_t n;
	size_t room;	 /* bytes that `states` has room for */
	uint8_t *states; /* two arrays of a flag for each position of a text, then numbers */
	struct item items[];
};

static inline bool has_byte(const struct item *item, uint8_t c)
{
	return item->set[c >> 6] >> (c & 63) & 1;
}

static void add_byte(struct item *item, uint8_t c)
{
	item->set[c >> 6] |= UINT64_C(1) << (c & 63);
}

static void add_byte_range(struct item *item, uint8_t first, uint8_t last)
{
	for (unsigned c = first; c <= last; c++)
		add_byte(item, (uint8_t)c);
}

static void complement_set(struct item *item)
{
	for (size_t i = 0; i < 4; i++)
		item->set[i] = ~item->set[i];
}

/* Returns true if a byte is of a class of Lua's patterns, in the locale "C". */
static bool is_of_class(uint8_t c, char class)
{
	bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
	bool digit = c >= '0' && c <= '9', print = c > ' ' && c < 127;

	switch (class) {
	case 'a':
		return lower || upper;
	case 'c':
		return c < ' ' || c == 127;
	case 'd':
		return digit;
	case 'g':
		return print;
	case 'l':
		return lower;
	case 'p':
		return print && !lower && !upper && !digit;
	case 's':
		return c == ' ' || (c >= '\t' && c <= '\r');
	case 'u':
		return upper;
	case 'w':
		return lower || upper || digit;
	default: /* x */
		return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
	}
}

/* Adds what stands after a %: a class, its complement in upper case, or the byte itself. */
static void add_escaped(struct item *item, char escaped)
{
	char class = escaped >= 'A' && escaped <= 'Z' ? (char)(escaped + ('a' - 'A')) : escaped;

	if (!class || !strchr("acdglpsuwx", class)) {
		add_byte(item, (uint8_t)escaped);
		return;
	}
	for (unsigned c = 0; c < 256; c++)
		if (is_of_class((uint8_t)c, class) == (class == escaped))
			add_byte(item, (uint8_t)c);
}

/* A pattern that is compiled. */
struct source {
	const char *p, *end;
	const char *wrong; /* NULL: nothing so far */
	int captures;	   /* number of open captures */
};

static size_t bytes_left(const struct source *s)
{
	return (size_t)(s->end - s->p);
}

/* Returns the ] that ends a set of Lua's, whose first byte is at p; NULL if it lacks one. */
static const char *find_lua_set_end(const char *p, const char *end)
{
	do {
		if (p == end)
			return NULL;
		p += *p == '%' && end - p > 1 ? 2 : 1;
	} while (p == end || *p != ']');
	return p;
}

/* Takes a set of Lua's, from after its [ on. */
static void take_lua_set(struct source *s, struct item *item)
{
	bool complement = s->p < s->end && *s->p == '^';
	const char *p = s->p + complement, *end = find_lua_set_end(p, s->end);

	if (!end) {
		s->wrong = "a set lacks its ']'";
		return;
	}
	while (p < end) {
		if (*p == '%') {
			add_escaped(item, p[1]);
			p += 2;
		} else if (end - p > 2 && p[1] == '-') {
			add_byte_range(item, (uint8_t)p[0], (uint8_t)p[2]);
			p += 3;
		} else {
			add_byte(item, (uint8_t)*p++);
		}
	}
	if (complement)
		complement_set(item);
	s->p = end + 1;
}

static void take_repeat(struct source *s, struct item *item)
{
	static const char signs[] = { [OPTIONAL] = '?', [ANY] = '*', [ONE_OR_MORE] = '+' };

	if (s->p == s->end)
		return;
	for (uint8_t i = OPTIONAL; i <= ONE_OR_MORE; i++)
		if (*s->p == signs[i] || (i == ANY && *s->p == '-'))
			item->repeat = i;
	s->p += item->repeat != ONCE;
}

/* Takes what is after a %, which may be more than a class. */
static void take_lua_escape(struct source *s, struct item *item)
{
	char c;

	if (s->p == s->end) {
		s->wrong = "it ends with a '%'";
		return;
	}
	c = *s->p++;
	if (c >= '0' && c <= '9') {
		s->wrong = "back-references (%1) are not known here";
	} else if (c == 'b') {
		item->kind = BALANCED;
		if (bytes_left(s) < 2) {
			s->wrong = "'%b' lacks its two characters";
			return;
		}
		item->open = (uint8_t)*s->p++;
		item->close = (uint8_t)*s->p++;
	} else if (c == 'f') {
		item->kind = FRONTIER;
		if (s->p == s->end || *s->p++ != '[')
			s->wrong = "'%f' lacks its set";
		else
			take_lua_set(s, item);
	} else {
		add_escaped(item, c);
		take_repeat(s, item);
	}
}

/* Takes the next item; returns false where there is none, but a capture's end, or an error. */
static bool take_lua_item(struct source *s, struct item *item)
{
	char c = *s->p++;

	switch (c) {
	case '(':
		s->captures++;
		return false;
	case ')':
		if (s->captures-- == 0)
			s->wrong = "a ')' closes no '('";
		return false;
	case '%':
		take_lua_escape(s, item);
		break;
	case '[':
		take_lua_set(s, item);
		take_repeat(s, item);
		break;
	case '.':
		complement_set(item);
		take_repeat(s, item);
		break;
	default:
		add_byte(item, (uint8_t)c);
		take_repeat(s, item);
	}
	return !s->wrong;
}

/* Returns the ] that ends a glob's set whose [ is at p; NULL: it is none, but a character. */
static const char *find_set_end(const char *p, const char *end)
{
	const char *content = p + 1 + (p + 1 < end && (p[1] == '!' || p[1] == '^'));
	const char *from = content + (content < end && *content == ']');
	const char *found = from < end ? memchr(from, ']', (size_t)(end - from)) : NULL;

	return found > content ? found : NULL;
}

static void take_glob_item(struct source *s, struct item *item)
{
	const char *end = *s->p == '[' ? find_set_end(s->p, s->end) : NULL;
	const char *p = s->p + 1;

	if (*s->p == '*' || *s->p == '?') {
		complement_set(item);
		item->repeat = *s->p == '*' ? ANY : ONCE;
	} else if (end) {
		bool complement = *p == '!' || *p == '^';

		for (p += complement; p < end; p++) {
			bool range = end - p > 2 && p[1] == '-';

			add_byte_range(item, (uint8_t)*p, (uint8_t)p[range ? 2 : 0]);
			p += range ? 2 : 0;
		}
		if (complement)
			complement_set(item);
		p = end + 1;
	} else {
		add_byte(item, (uint8_t)*s->p);
	}
	s->p = p;
}

static void take_items(struct source *s, bool is_glob, struct pb_pattern *pattern)
{
	while (s->p < s->end && !s->wrong) {
		struct item *item = &pattern->items[pattern->n];

		if (is_glob) {
			take_glob_item(s, item);
			pattern->n++;
		} else if (*s->p == '$' && bytes_left(s) == 1) {
			pattern->to_end = true;
			s->p++;
		} else if (take_lua_item(s, item)) {
			pattern->has_balanced |= item->kind == BALANCED;
			pattern->n++;
		}
	}
	if (!s->wrong && s->captures)
		s->wrong = "a '(' is not closed";
}

struct pb_pattern *pb_pattern_create(const char *text, size_t n, bool is_glob,
				     const char **wrong)
{
	struct source s = { .p = text, .end = text + n };
	struct pb_pattern *pattern = n > SIZE_MAX / 2 / sizeof(struct item) - 1 ?
					     NULL :
					     calloc(1, sizeof(*pattern) +
							       (n + 1) * sizeof(struct item));

	*wrong = NULL;
	if (!pattern)
		return NULL;
	pattern->from_start = pattern->to_end = is_glob;
	if (!is_glob && n && *s.p == '^') {
		pattern->from_start = true;
		s.p++;
	}
	take_items(&s, is_glob, pattern);
	*wrong = s.wrong;
	if (!s.wrong)
		return pattern;
	pb_pattern_destroy(pattern);
	return NULL;
}

void pb_pattern_destroy(struct pb_pattern *pattern)
{
	if (pattern)
		free(pattern->states);
	free(pattern);
}

/* Goes on from positions `from` by bytes of a set to positions `to`, which are clear. */
static void step_set(const struct item *item, const uint8_t *text, size_t n,
		     const uint8_t *from, uint8_t *to)
{
	bool many = item->repeat == ANY || item->repeat == ONE_OR_MORE;

	if (item->repeat == OPTIONAL || item->repeat == ANY)
		memcpy(to, from, n + 1);
	for (size_t i = 0; i < n; i++)
		if ((from[i] || (many && to[i])) && has_byte(item, text[i]))
			to[i + 1] = 1;
}

static void step_frontier(const struct item *item, const uint8_t *text, size_t n,
			  const uint8_t *from, uint8_t *to)
{
	for (size_t i = 0; i <= n; i++)
		to[i] = from[i] && !has_byte(item, i ? text[i - 1] : 0) &&
			has_byte(item, i < n ? text[i] : 0);
}

/* `stack` has room for the positions of all bytes that open. */
static void step_balanced(const struct item *item, const uint8_t *text, size_t n,
			  const uint8_t *from, uint8_t *to, size_t *stack)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == item->close && depth) {
			to[i + 1] |= from[stack[--depth]];
			/* where both are one byte, it may also open the next text */
			if (item->open != item->close)
				continue;
		}
		if (text[i] == item->open)
			stack[depth++] = i;
	}
}

static bool make_item_room(struct pb_pattern *pattern, size_t n)
{
	size_t each = 2 + (pattern->has_balanced ? sizeof(size_t) : 0);
	size_t needed = n > SIZE_MAX / 2 / each - 2 ? 0 : (n + 1) * each + sizeof(size_t);
	uint8_t *states;

	if (needed && needed <= pattern->room)
		return true;
	states = needed ? realloc(pattern->states, 2 * needed) : NULL;
	if (!states)
		return false;
	pattern->states = states;
	pattern->room = 2 * needed;
	return true;
}

bool pb_pattern_match(struct pb_pattern *pattern, const char *text, size_t n, bool *matches)
{
	const uint8_t *bytes = (const uint8_t *)text;
	uint8_t *from, *to, *spare;
	size_t *stack;

	if (!make_item_room(pattern, n))
		return false;
	stack = (size_t *)(void *)pattern->states;
	from = pattern->states + (pattern->has_balanced ? (n + 1) * sizeof(*stack) : 0);
	to = from + n + 1;
	memset(from, !pattern->from_start, n + 1);
	from[0] = 1;
	for (size_t i = 0; i < pattern->n; i++) {
		const struct item *item = &pattern->items[i];

		memset(to, 0, n + 1);
		if (item->kind == SET)
			step_set(item, bytes, n, from, to);
		else if (item->kind == FRONTIER)
			step_frontier(item, bytes, n, from, to);
		else
			step_balanced(item, bytes, n, from, to, stack);
		spare = from;
		from = to;
		to = spare;
	}
	*matches = pattern->to_end ? from[n] : memchr(from, 1, n + 1) != NULL;
	return true;
}
