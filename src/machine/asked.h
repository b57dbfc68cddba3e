/*
 * The address that a field is asked about: the ip of a record, for PD_SYS_…_DADDR its addr, or
 * one that `asked` names, such as that of a frame.
 */
#ifndef PERFLUA_MACHINE_ASKED_H
#define PERFLUA_MACHINE_ASKED_H

#include "resolver.h"
#include "symbols/lines/lines.h"

/*
 * Sets *at to the binary at the address, without opening it. Returns false if the record has no
 * address.
 */
bool pm_asked_dso(struct pm_resolver *resolver, const struct pd_record *rec,
		  const struct pd_asked *asked, struct pm_dso_address *at);

/*
 * Does what pm_asked_dso() does, for the ip of the record. The binary belongs to the resolver
 * until it is asked again; NULL: the record has no ip.
 */
const struct pm_dso_address *pm_own_dso(struct pm_resolver *resolver,
					const struct pd_record *rec);

/* Returns the function at the address, and sets *at as well; NULL: not known. */
const struct ps_symbol *pm_asked_symbol(struct pm_resolver *resolver,
					const struct pd_record *rec,
					const struct pd_asked *asked,
					struct pm_dso_address *at);

/*
 * Returns what was mapped at the address; NULL: nothing. It is looked up anew each time, so
 * that no map has to be kept.
 */
const struct pm_map *pm_asked_map(struct pm_resolver *resolver, const struct pd_record *rec,
				  const struct pd_asked *asked);

/*
 * Returns the source line of the address, which is the binary's; NULL: not known. Frames of a
 * call chain have the line of their own function, not of one inlined there.
 */
const struct ps_line *pm_asked_line(struct pm_resolver *resolver, const struct pd_record *rec,
				    const struct pd_asked *asked);

#endif
