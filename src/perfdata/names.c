#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "format.h"

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect(struct pd_names *names, const struct pd_field *f)
{
	for (; f->name && names->n < PD_MAX_NAMES; f++) {
		bool seen = false;

		for (unsigned i = 1; i <= names->n && !seen; i++)
			seen = strcmp(names->name[i], f->name) == 0;
		if (!seen)
			names->name[++names->n] = f->name;
	}
}

void pd_names_init(struct pd_names *names)
{
	names->n = 0;
	names->name[0] = "";
	collect(names, pd_common_fields);
	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc)
			collect(names, desc->fields);
	}
	qsort(names->name + 1, names->n, sizeof(names->name[0]), compare);
}

unsigned pd_name_id(const struct pd_names *names, const char *name, size_t n)
{
	unsigned low = 1, high = names->n;

	while (low <= high) {
		unsigned mid = (low + high) / 2;
		const char *at = names->name[mid];
		int order = strncmp(name, at, n);

		if (order == 0 && at[n])
			order = -1;
		if (order == 0)
			return mid;
		if (order < 0)
			high = mid - 1;
		else
			low = mid + 1;
	}
	return 0;
}
