/* Writes profiles by the names of their formats. */
#include <stdlib.h>

#include "gzip.h"
#include "profile.h"

static const struct {
	const char *name;
	bool (*write)(const struct pe_profile *, const char *title, struct pd_print *out);
	bool is_compressed;
} formats[PE_FORMATS] = {
	[PE_CALLGRIND] = { "callgrind", pe_write_callgrind, false },
	[PE_FIREFOX] = { "firefox", pe_write_firefox, true },
	[PE_FOLDED] = { "folded", pe_write_folded, false },
	[PE_PERFETTO] = { "perfetto", pe_write_perfetto, false },
	[PE_PPROF] = { "pprof", pe_write_pprof, true },
	[PE_SPEEDSCOPE] = { "speedscope", pe_write_speedscope, false },
};

const char *pe_format_name(enum pe_format format)
{
	return formats[format].name;
}

bool pe_write_plain(const struct pe_profile *p, enum pe_format format, const char *title,
		    struct pd_print *out)
{
	bool ok = formats[format].write(p, title, out);

	pd_print_flush(out);
	return ok;
}

bool pe_write(const struct pe_profile *p, enum pe_format format, const char *title,
	      struct pd_print *out)
{
	struct pe_gzip *gzip;
	bool ok;

	if (!formats[format].is_compressed)
		return pe_write_plain(p, format, title, out);
	gzip = malloc(sizeof(*gzip));
	ok = gzip && pe_gzip_init(gzip, out);
	if (ok) {
		ok = pe_write_plain(p, format, title, &gzip->in);
		pe_gzip_finish(gzip);
	}
	free(gzip);
	pd_print_flush(out);
	return ok;
}
