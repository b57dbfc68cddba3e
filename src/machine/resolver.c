#include "resolver.h"

#include <stdlib.h>

#include "machine.h"

struct pm_resolver *pm_resolver_create(struct pm_system *system)
{
	struct pm_resolver *r = calloc(1, sizeof(*r));

	if (r)
		r->system = system;
	return r;
}

void pm_resolver_destroy(struct pm_resolver *r)
{
	if (!r)
		return;
	pm_unwinder_destroy(r->unwinder);
	pm_messages_destroy(r);
	pm_instructions_destroy(r->instructions);
	pb_set_deinit(&r->branches);
	pm_stitches_deinit(&r->stitches);
	pb_string_deinit(&r->text);
	free(r);
}

void pm_resolver_use_later_names(struct pm_resolver *r)
{
	r->later_names = true;
}

struct pm_system *pm_resolver_system(const struct pm_resolver *r)
{
	return r->system;
}
