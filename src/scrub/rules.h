/*
 * The kinds of data that a recording has beside times and counts, and what becomes of each when
 * the recording is scrubbed. One table drives scrubbing and what doctor --sharing says.
 */
#ifndef PERFLUA_SCRUB_RULES_H
#define PERFLUA_SCRUB_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pv_kind {
	PV_COMM,
	PV_BINARY,
	PV_FUNCTION,
	PV_PATH,
	PV_STRING,
	PV_RAW,
	PV_EVENT,
	PV_ALIAS,
	PV_PROBE,
	PV_CMDLINE,
	PV_HOST,
	PV_KERNEL,
	PV_CPU,
	PV_HARDWARE,
	PV_CLOCK,
	PV_CGROUP,
	PV_NAMESPACE,
	PV_BUILDID,
	PV_BPF,
	PV_CODE,
	PV_SOURCE,
	PV_TEXT,
	PV_REGISTERS,
	PV_STACKS,
	PV_AUX,
	PV_ADDRESSES,
	PV_BASICS,
	PV_UNKNOWN,
	PV_KINDS,
};

enum pv_action {
	PV_DROP,
	PV_HASH,     /* a keyed hash takes the place of a name */
	PV_BASE,     /* the same of the directory, but the name of the file stays */
	PV_RELATIVE, /* of addresses: to their binary */
	PV_KEEP,
	PV_ACTIONS,
};

struct pv_kind_desc {
	const char *name, *doc;
	uint8_t can; /* bit per enum pv_action: what may become of the kind */
	/* enum pv_action: what becomes of it by default */
	uint8_t share, anonymous;
};

extern const struct pv_kind_desc pv_kinds[PV_KINDS];
extern const char *const pv_actions[PV_ACTIONS]; /* their names */

struct pv_rules {
	enum pv_action of[PV_KINDS];
};

#endif
