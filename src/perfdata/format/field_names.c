#include "field_names.h"

#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "format.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* rows of all tables together, at most */
#define MAX_ROWS (PD_MAX_COMMON + PD_RECORD_TYPES * PD_MAX_FIELDS)

static size_t collect_names(const char **rows, size_t n, const struct pd_field *f)
{
	for (; f->name; f++)
		rows[n++] = f->name;
	return n;
}

void pd_field_names_init(struct pd_field_names *names)
{
	const char *rows[MAX_ROWS];
	size_t n = collect_names(rows, 0, pd_common_fields);

	for (uint32_t type = 0; type < PD_RECORD_TYPES; type++) {
		const struct pd_record_desc *desc = pd_record_desc(type);

		if (desc)
			n = collect_names(rows, n, desc->fields);
	}
	qsort(rows, n, sizeof(rows[0]), compare_names);
	names->n = 0;
	names->name[0] = "";
	for (size_t i = 0; i < n && names->n < PD_MAX_FIELD_NAMES; i++)
		if (strcmp(names->name[names->n], rows[i]) != 0)
			names->name[++names->n] = rows[i];
}

unsigned pd_field_name_id(const struct pd_field_names *names, const char *name, size_t n)
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
