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
	if (asked->jit) {
		in->jit = pj_jit_create(in);
		ok = ok && in->jit;
	}
	if (asked->sched_stat) {
		in->sched = pj_sched_create();
		ok = ok && in->sched;
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
	pb_string_deinit(&in->row);
	pj_jit_destroy(in->jit);
	pj_sched_destroy(in->sched);
	free(in->failures);
	free(in->binaries);
	free(in);
}

/*
 * Makes the record what is written in its place. Returns 1; 0 if it is left out; -1 with *err.
 */
static int change(struct pj_injector *in, struct pd_record *rec, struct pd_error *err)
{
	int kept = 1;

	if (in->jit)
		kept = pj_jit_take(in, rec, err);
	if (kept > 0 && in->sched && rec->type == PD_RECORD_SAMPLE)
		kept = pj_merge_sched(in, rec, err);
	if (kept > 0 && in->asked.mappings != PJ_AS_RECORDED)
		kept = pj_identify_mapping(in, rec, err);
	return kept;
}

bool pj_write(struct pj_injector *in, struct pw_writer *writer, struct pd_record *rec,
	      struct pd_error *err)
{
	uint64_t time;
	int kept;

	if (in->jit && pd_timestamp_of(&writer->locator, rec, &time) &&
	    !pj_jit_write(in, writer, time, err))
		return false;
	kept = change(in, rec, err);
	if (kept <= 0)
		return kept == 0;
	if (in->asked.ids != PJ_NONE && !pj_add_ids(in, writer, rec, err))
		return false;
	return pj_correct_id(in, rec, err) && pw_write(writer, rec, err);
}

/* Returns false with *err if no jitdump could be used. */
static bool check_dumps(const struct pj_injector *in, struct pd_error *err)
{
	const char *path = in->file->path;

	if (in->n_dumps)
		return true;
	if (in->n_failures)
		return pd_error_set(err, "ENODATA", in->failures[0].path, PD_NO_OFFSET,
				    "the jitdump cannot be used: %s", in->failures[0].reason);
	return pd_error_set(err, "ENODATA", path, PD_NO_OFFSET,
			    "no process of the recording mapped a jitdump, jit-PID.dump");
}

bool pj_finish(struct pj_injector *in, struct pw_writer *writer, struct pd_error *err)
{
	if (in->jit && (!pj_jit_write(in, writer, UINT64_MAX, err) || !check_dumps(in, err)))
		return false;
	return in->asked.pipe || pj_make_table(in, err);
}
