/* Writes profiles by the names of their formats. */
#include <string.h>

#include "profile.h"

static const struct {
	const char *name;
	bool (*write)(const struct pe_profile *, const char *title, struct pd_print *out);
} formats[PE_FORMATS] = {
	[PE_CALLGRIND] = { "callgrind", pe_write_callgrind },
	[PE_FOLDED] = { "folded", pe_write_folded },
	[PE_PPROF] = { "pprof", pe_write_pprof },
	[PE_SPEEDSCOPE] = { "speedscope", pe_write_speedscope },
};

const char *pe_format_name(enum pe_format format)
{
	return formats[format].name;
}

bool pe_write(const struct pe_profile *p, enum pe_format format, const char *title,
	      struct pd_print *out)
{
	bool ok = formats[format].write(p, title, out);

	pd_print_flush(out);
	return ok;
}
