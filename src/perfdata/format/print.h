/*
 * Records as lines: of text for people and for tools that split at spaces, or of JSON.
 *
 * Text: 0x1a8 sample cycles:u size=56 misc=0x2 cpumode=user ip=0x401136 pid=17
 * time=8590.143543000 …
 * - first the offset and the type, of a sample its event, then name=value of all it has;
 * - times are seconds with nine decimals, addresses and flags hex, other integers decimal,
 *   booleans true or false;
 * - in strings a backslash is \\; a space, control characters and what is not UTF-8 are \x20,
 *   inside of views also , = { } [ ];
 * - bytes are LENGTH:HEX, of which HEX shows at most the first 64;
 * - views are [item,…] and {name=value,…}; a call chain is its addresses, each cpumode before
 *   the first one it holds for: [kernel,0xffffffff81000000,user,0x401136].
 *
 * JSON: an object per line with the same names, "offset" and "type" first. Nothing is lost or
 * rounded: integers are decimals of up to 64 bits, addresses and flags strings "0x…", times
 * nanoseconds, bytes strings of hex digits. In strings a byte that is not part of UTF-8 is the
 * character of that number (\u00ff). A call chain is an array of {ip, cpumode}, after which
 * {cookie} says that the user part comes in a callchain_deferred record.
 */
#ifndef PERFLUA_PERFDATA_PRINT_H
#define PERFLUA_PERFDATA_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

/* A buffer on its way out. It owns nothing, so it may be dropped at any time. */
struct pd_print {
	/* receives `n` bytes; may leave by longjmp */
	void (*flush)(void *arg, const char *p, size_t n);
	void *arg;
	size_t n;
	char buffer[16384];
};

/* Prepares a buffer that passes its text to `flush`, which is called with `arg`. */
void pd_print_init(struct pd_print *out, void (*flush)(void *arg, const char *p, size_t n),
		   void *arg);

/* For pd_print_init(): adds the text to the pb_string at `arg`. */
void pd_print_to_string(void *arg, const char *p, size_t n);

/* Passes the rest of the buffer on. */
void pd_print_flush(struct pd_print *out);

/* Prints one line with all that was recorded, newline included. */
void pd_print_record(struct pd_print *out, const struct pd_record *rec, bool json);

/*
 * Print such a line in parts: the recorded fields; any number of further fields, where a PD_NIL
 * value is left out; the end.
 */
void pd_print_recorded(struct pd_print *out, const struct pd_record *rec, bool json);
void pd_print_field(struct pd_print *out, const char *name, const struct pd_value *value,
		    bool json);
void pd_print_end(struct pd_print *out, bool json);

/* Prints a time in seconds with nine decimals: "8590.143543000". */
void pd_print_seconds(struct pd_print *out, uint64_t ns);

#endif
