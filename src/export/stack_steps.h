/* The frames of an entry's stack as steps from the outermost caller on, or reversed. */
#ifndef PERFLUA_EXPORT_STACK_STEPS_H
#define PERFLUA_EXPORT_STACK_STEPS_H

#include "profile.h"

struct pe_step {
	uint32_t name; /* text */
	uint32_t line; /* number of the line; PE_NONE: it is no code */
	uint8_t kind;  /* letter, see struct pe_node */
	uint32_t node; /* its node in a tree, and what its line weighs there: for the caller */
	uint32_t sum;
};

/* Zero-initialised: none. The owner frees `list`. */
struct pe_steps {
	struct pe_step *list; /* [n] */
	size_t n, room;
};

/* Replaces the steps by those of an entry, at least one. Returns false without memory. */
bool pe_steps_find(struct pe_steps *steps, const struct pe_profile *profile,
		   const struct pe_tree_asked *asked, const struct pe_entry *entry);

/* Exchanges two lists of steps: most stacks begin like the one before. */
static inline void pe_steps_swap(struct pe_steps *a, struct pe_steps *b)
{
	struct pe_steps steps = *a;

	*a = *b;
	*b = steps;
}

#endif
