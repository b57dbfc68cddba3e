/* The Lua library inside the program: the files of lua/, compiled. embed.c prints the table. */
#ifndef PERFLUA_EMBED_H
#define PERFLUA_EMBED_H

#include <stddef.h>

struct embedded {
	/* name for require: "perflua.query", "perflua/flame/style.css" */
	const char *module;
	const unsigned char *code;
	size_t size;
};

/* Ends with a NULL module. */
extern const struct embedded embedded_library[];

#endif
