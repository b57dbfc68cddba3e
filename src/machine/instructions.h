/* The instruction and the line of source text at the ip of a record. */
#ifndef PERFLUA_MACHINE_INSTRUCTIONS_H
#define PERFLUA_MACHINE_INSTRUCTIONS_H

#include "resolver.h"

/*
 * Sets *out to the instruction at an address. Its texts are the resolver's until it is
 * asked again. Returns false if the code is not there, or cannot be decoded.
 */
bool pm_instruction_at(struct pm_resolver *resolver, const struct pm_dso_address *at,
		       struct pm_instruction *out);

/*
 * Sets *out to the innermost source line of an address. Returns false if it is not known, or
 * the file is not there.
 */
bool pm_source_line_at(struct pm_resolver *resolver, const struct pm_dso_address *at,
		       struct pm_source_line *out);

/* Frees what the resolver remembers of these. */
void pm_instructions_destroy(struct pm_instructions *instructions);

#endif
