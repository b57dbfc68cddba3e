/*
 * Samples of sched_stat_* as those of the switch after which their thread slept: with its call
 * chain, and with the time and the period of the statistic. See perf_inject__sched_stat,
 * tools/perf/builtin-inject.c.
 */
#include <stdlib.h>

#include "internal.h"
#include "perfdata/tracepoint/tracepoint.h"
#include "write/edit.h"

/* The last switch of a thread. */
struct slept {
	const struct pd_layout *layout;
	struct pb_string bytes;
	bool is_there; /* it did not exit since */
};

struct pj_sched {
	struct pb_id_map by_tid; /* numbers in `list` */
	struct slept *list;	 /* [n] */
	size_t n, room;
};

struct pj_sched *pj_sched_create(void)
{
	return calloc(1, sizeof(struct pj_sched));
}

void pj_sched_destroy(struct pj_sched *sched)
{
	if (!sched)
		return;
	for (size_t i = 0; i < sched->n; i++)
		pb_string_deinit(&sched->list[i].bytes);
	free(sched->list);
	pb_id_map_deinit(&sched->by_tid);
	free(sched);
}

static struct slept *find(const struct pj_sched *sched, int64_t tid)
{
	uint32_t i = pb_id_map_find(&sched->by_tid, (uint32_t)tid);

	return i == UINT32_MAX ? NULL : &sched->list[i];
}

/* Keeps the switch of a thread in place of the one before. Returns false with *err. */
static bool keep_switch(struct pj_injector *in, const struct pd_record *rec, int64_t tid,
			struct pd_error *err)
{
	struct pj_sched *sched = in->sched;
	struct slept *slept = find(sched, tid);

	if (!slept) {
		if (!pb_reserve(sched->list, sched->n, sched->room) ||
		    !pb_id_map_add(&sched->by_tid, (uint32_t)tid, (uint32_t)sched->n))
			return pj_fail_memory(in, err);
		slept = &sched->list[sched->n++];
		*slept = (struct slept){ .is_there = false };
	}
	slept->layout = rec->layout;
	slept->is_there = true;
	pb_string_clear(&slept->bytes);
	pb_string_add(&slept->bytes, (const char *)rec->bytes, rec->size);
	return !slept->bytes.failed || pj_fail_memory(in, err);
}

/* Sets *out to an integer argument of a sample. Returns false if it has none. */
static bool read_arg(const struct pd_tracepoint *tracepoint, const struct pd_record *rec,
		     const char *name, int64_t *out)
{
	uint32_t field = pd_tracepoint_find(tracepoint, name, strlen(name)), n;
	const uint8_t *raw;

	return field != PD_NO_ARG && pd_args_raw(rec, &raw, &n) &&
	       pd_args_integer(tracepoint, &tracepoint->fields[field], raw, n, out);
}

static bool fail_parts(const struct pj_injector *in, struct pd_error *err)
{
	return pd_error_set(err, "FORMAT", in->file->path, PD_NO_OFFSET,
			    "samples of the scheduler's tracepoints have no times or no "
			    "periods: perf record -e sched:sched_switch -e "
			    "'sched:sched_stat_*'");
}

/*
 * Makes *rec, of a statistic, the switch of its thread. Returns 1; 0 if none is known; -1 with
 * *err.
 */
static int merge(struct pj_injector *in, const struct pd_tracepoint *tracepoint,
		 struct pd_record *rec, struct pd_error *err)
{
	const uint16_t *own = rec->layout->parts, *parts;
	struct slept *slept;
	uint8_t *bytes;
	int64_t pid;

	if (!read_arg(tracepoint, rec, "pid", &pid))
		return 0;
	slept = find(in->sched, pid);
	if (!slept || !slept->is_there)
		return 0;
	parts = slept->layout->parts;
	if (!own[PD_PART_PERIOD] || !own[PD_PART_TIME] || !parts[PD_PART_PERIOD] ||
	    !parts[PD_PART_TIME])
		return fail_parts(in, err) - 1;
	/* the period lies after the time */
	if (rec->size < own[PD_PART_PERIOD] + 8u || slept->bytes.n < parts[PD_PART_PERIOD] + 8u)
		return 0;
	pb_string_clear(&in->made);
	pb_string_add(&in->made, slept->bytes.p, slept->bytes.n);
	if (in->made.failed)
		return pj_fail_memory(in, err) - 1;
	bytes = (uint8_t *)in->made.p;
	pw_store64(bytes + parts[PD_PART_PERIOD], pd_rec64(rec, own[PD_PART_PERIOD]),
		   rec->layout->swap);
	pw_store64(bytes + parts[PD_PART_TIME], pd_rec64(rec, own[PD_PART_TIME]),
		   rec->layout->swap);
	pj_make_record(in, &in->made, rec);
	in->n_merged++;
	return 1;
}

int pj_merge_sched(struct pj_injector *in, struct pd_record *rec, struct pd_error *err)
{
	const struct pd_tracepoint *tracepoint = pd_tracepoint_of_record(rec);
	unsigned tid_id = pm_system_field_ids(in->system)->tid;
	struct slept *slept;
	int64_t tid;

	if (!tracepoint || strcmp(tracepoint->system, "sched") != 0)
		return 1;
	if (strncmp(tracepoint->name, "sched_stat_", 11) == 0)
		return merge(in, tracepoint, rec, err);
	if (strcmp(tracepoint->name, "sched_switch") == 0)
		return !pm_integer(rec, tid_id, &tid) || keep_switch(in, rec, tid, err) ? 0 :
											  -1;
	if (strcmp(tracepoint->name, "sched_process_exit") != 0)
		return 1;
	slept = pm_integer(rec, tid_id, &tid) ? find(in->sched, tid) : NULL;
	if (slept)
		slept->is_there = false;
	return 0;
}
