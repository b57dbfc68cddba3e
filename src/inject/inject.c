#include "internal.h"

#include <stdlib.h>

#include "perfdata/stream/bind.h"

bool pj_fail_memory(const struct pj_injector *in, struct pd_error *err)
{
	return pd_error_set(err, "ENOMEM", in->file->path, PD_NO_OFFSET, "no memory to inject");
}

void pj_make_record(const struct pj_injector *in, const struct pb_string *bytes,
		    struct pd_record *rec)
{
	struct pd_binder binder;

	pd_binder_init(&binder, in->file); /* events may have been added */
	rec->bytes = (const uint8_t *)bytes->p;
	pd_record_header(rec, rec->bytes, in->file->swap, false);
	pd_bind(&binder, rec);
}

struct pj_injector *pj_create(struct pd_file *file, struct pm_system *system,
			      const struct pj_asked *asked)
{
	struct pj_injector *in = calloc(1, sizeof(*in));
	struct pd_error err;
	bool ok = in != NULL;

	if (!ok)
		return NULL;
	in->file = file;
	in->system = system;
	in->asked = *asked;
	pw_description_init(&in->description);
	if (asked->ids == PJ_HIT) {
		in->resolver = pm_resolver_create(system);
		ok = in->resolver != NULL;
	}
	/* in pipe mode the rows of a pipe are its records */
	if (asked->pipe && file->pipe)
		pw_drop_feature(&in->description, PD_FEATURE_BUILD_ID);
	else
		ok = ok && pj_make_table(in, &err);
	if (ok)
		return in;
	pj_destroy(in);
	return NULL;
}

void pj_destroy(struct pj_injector *in)
{
	if (!in)
		return;
	pw_description_deinit(&in->description);
	pm_resolver_destroy(in->resolver);
	pb_id_map_deinit(&in->by_dso);
	pb_string_deinit(&in->table);
	pb_string_deinit(&in->made);
	free(in->binaries);
	free(in);
}

bool pj_write(struct pj_injector *in, struct pw_writer *writer, struct pd_record *rec,
	      struct pd_error *err)
{
	int kept = 1;

	if (in->asked.ids != PJ_NONE && !pj_add_ids(in, writer, rec, err))
		return false;
	if (in->asked.mappings != PJ_AS_RECORDED)
		kept = pj_identify_mapping(in, rec, err);
	if (kept <= 0)
		return kept == 0;
	return pj_correct_id(in, rec, err) && pw_write(writer, rec, err);
}

bool pj_finish(struct pj_injector *in, struct pw_writer *writer, struct pd_error *err)
{
	(void)writer;
	return in->asked.pipe || pj_make_table(in, err);
}
