/*
 * A query over a recording: the size of its description (u32), the description, the recording.
 * By one thread and by several (which takes twice the time, and so only some descriptions ask
 * for it), in the order of the file and in that of time it has the same answer, and the
 * recording the same damage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "query/query.h"
#include "common.h"

#define MAX_KEYS     3
#define MAX_MEASURES 4
#define MAX_NODES    64
#define THREADS	     3

static const struct {
	enum pq_kind kind;
	const char *name;
	struct pq_step steps[2];
} fields[] = {
	{ PQ_K_SIGNED, "pid", { { NULL, 0 } } },
	{ PQ_K_SIGNED, "tid", { { NULL, 0 } } },
	{ PQ_K_UNSIGNED, "cpu", { { NULL, 0 } } },
	{ PQ_K_UNSIGNED, "period", { { NULL, 0 } } },
	{ PQ_K_UNSIGNED, "time", { { NULL, 0 } } },
	{ PQ_K_UNSIGNED, "type_id", { { NULL, 0 } } },
	{ PQ_K_UNSIGNED, "size", { { NULL, 0 } } },
	{ PQ_K_ADDRESS, "ip", { { NULL, 0 } } },
	{ PQ_K_ADDRESS, "addr", { { NULL, 0 } } },
	{ PQ_K_STRING, "type", { { NULL, 0 } } },
	{ PQ_K_STRING, "comm", { { NULL, 0 } } },
	{ PQ_K_STRING, "dso", { { NULL, 0 } } },
	{ PQ_K_STRING, "symbol", { { NULL, 0 } } },
	{ PQ_K_UNSIGNED, "symoff", { { NULL, 0 } } },
	{ PQ_K_STRING, "srcline", { { NULL, 0 } } },
	{ PQ_K_STRING, "cgroup_path", { { NULL, 0 } } },
	{ PQ_K_STRING, "cpumode", { { NULL, 0 } } },
	{ PQ_K_STRING, "filename", { { NULL, 0 } } },
	{ PQ_K_STRING, "raw", { { NULL, 0 } } },
	{ PQ_K_STRING, "stack", { { NULL, 0 } } },
	{ PQ_K_STRING, "frames", { { NULL, 0 } } },
	{ PQ_K_EVENT, "event", { { NULL, 0 } } },
	{ PQ_K_VIEW, "callchain", { { NULL, 0 } } },
	{ PQ_K_VIEW, "branch_stack", { { NULL, 0 } } },
	{ PQ_K_ADDRESS, "callchain", { { NULL, 1 }, { "ip", 0 } } },
	{ PQ_K_STRING, "callchain", { { NULL, 2 }, { "symbol", 0 } } },
	{ PQ_K_ADDRESS, "branch_stack", { { NULL, 1 }, { "from", 0 } } },
	{ PQ_K_STRING, "branch_stack", { { NULL, 1 }, { "symbol_to", 0 } } },
	{ PQ_K_STRING, "data_src", { { "lvl", 0 } } },
	{ PQ_K_UNSIGNED, "read", { { NULL, 1 }, { "value", 0 } } },
	{ PQ_K_STRING, "map", { { "filename", 0 } } },
	{ PQ_K_ADDRESS, "regs_user", { { "ax", 0 } } },
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

/* A question about a session. */
struct query {
	struct pb_cursor c;
	const struct pd_session *session;
	struct pq_field fields[MAX_NODES];
	struct pq_node nodes[MAX_NODES];
	size_t n_nodes;
	struct pq_key keys[MAX_KEYS];
	struct pq_measure measures[MAX_MEASURES];
	struct pq_grouping grouping;
	uint8_t *events[2];
	const struct pq_node *filter;
	uint8_t how;
	bool by_place; /* its answer depends on the order of the records */
};

static struct pq_node *new_node(struct query *q, enum pq_op op, enum pq_kind kind)
{
	struct pq_node *node = &q->nodes[q->n_nodes++];

	FUZZ_CHECK(q->n_nodes <= MAX_NODES);
	node->op = op;
	node->kind = kind;
	return node;
}

static struct pq_node *take_field(struct query *q)
{
	size_t i = pb_take8(&q->c) % N_FIELDS;
	struct pq_field *field = &q->fields[q->n_nodes];
	struct pq_node *node = new_node(q, PQ_FIELD, fields[i].kind);

	field->name = pd_field_name_id(&q->session->files[0]->field_names, fields[i].name,
				       strlen(fields[i].name));
	memcpy(field->steps, fields[i].steps, sizeof(fields[i].steps));
	while (field->n_steps < 2 &&
	       (field->steps[field->n_steps].name || field->steps[field->n_steps].index))
		field->n_steps++;
	node->field = field;
	return node;
}

static struct pq_node *constant(struct query *q, int64_t i)
{
	struct pq_node *node = new_node(q, PQ_CONST, PQ_K_NATURAL);

	node->constant = (struct pq_value){ .type = PQ_INT, .i = i };
	return node;
}

static struct pq_node *text(struct query *q, const char *p)
{
	struct pq_node *node = new_node(q, PQ_CONST, PQ_K_STRING);

	node->constant = (struct pq_value){ .type = PQ_TEXT,
					    .p = p,
					    .size = (uint32_t)strlen(p) };
	return node;
}

/* A field, or something of one. */
static const struct pq_node *take_value(struct query *q)
{
	uint8_t how = pb_take8(&q->c) % 16;
	struct pq_node *left = take_field(q), *node = left;

	if (how == 1) {
		node = new_node(q, PQ_BUCKET, left->kind);
		node->left = left;
		node->right = constant(q, 1 + pb_take8(&q->c));
	} else if (how == 2) {
		node = new_node(q, PQ_COUNT, PQ_K_UNSIGNED);
		node->left = left;
	} else if (how == 3) {
		node = new_node(q, PQ_EQ, PQ_K_BOOLEAN);
		node->left = left;
		node->right = take_field(q);
	} else if (how == 4) {
		node = new_node(q, PQ_UNDER, PQ_K_BOOLEAN);
		node->right = text(q, "do_work");
	}
	return node;
}

static const struct pq_node *take_filter(struct query *q)
{
	struct pq_node *node = NULL, *left;

	switch (pb_take8(&q->c) % 8) {
	case 0:
		node = new_node(q, PQ_PRESENT, PQ_K_BOOLEAN);
		node->left = take_field(q);
		node->negated = pb_take8(&q->c) & 1;
		break;
	case 1:
		node = new_node(q, PQ_GT, PQ_K_BOOLEAN);
		node->left = take_field(q);
		node->right = constant(q, pb_take8(&q->c));
		break;
	case 2:
		node = new_node(q, PQ_FIND, PQ_K_BOOLEAN);
		node->left = take_field(q);
		node->right = text(q, "s");
		break;
	case 3:
		left = new_node(q, PQ_UNDER, PQ_K_BOOLEAN);
		left->right = text(q, "do_work");
		node = new_node(q, PQ_NOT, PQ_K_BOOLEAN);
		node->left = left;
		break;
	case 6:
		left = new_node(q, PQ_LOWER, PQ_K_STRING);
		left->left = take_field(q);
		node = new_node(q, PQ_MATCH, PQ_K_BOOLEAN);
		node->left = left;
		node->right = text(q, "%f[%a](s?.-)%b()");
		break;
	case 7:
		node = new_node(q, PQ_UNDER, PQ_K_BOOLEAN);
		node->right = text(q, "*[a-w]o*");
		break;
	default:
		break;
	}
	return node;
}

static void take_measure(struct query *q, struct pq_measure *m)
{
	uint8_t how = pb_take8(&q->c);

	m->kind = how % PQ_M_TIMES;
	if (m->kind != PQ_M_COUNT)
		m->value = take_value(q);
	if (how & 0x80 && m->kind != PQ_M_RATIO)
		m->weight = take_field(q);
	if (m->kind == PQ_M_RATIO) {
		m->n_events = q->session->n_events;
		m->events[0] = q->events[0];
		m->events[1] = q->events[1];
	}
	q->by_place = q->by_place || pq_measure_row(m->kind)->is_ordered;
}

static void take_query(struct query *q, const struct fuzz_part *part,
		       const struct pd_session *session)
{
	*q = (struct query){ .session = session };
	pb_cursor_init(&q->c, part->bytes, part->n, false);
	for (int i = 0; i < 2; i++) {
		uint8_t mask = pb_take8(&q->c);

		q->events[i] = calloc(session->n_events + 1, 1);
		for (size_t k = 0; k < session->n_events; k++)
			q->events[i][k] = mask >> k % 8 & 1;
	}
	q->how = pb_take8(&q->c);
	q->grouping.n_keys = pb_take8(&q->c) % (MAX_KEYS + 1);
	q->grouping.n_measures = 1 + pb_take8(&q->c) % MAX_MEASURES;
	q->grouping.keys = q->keys;
	q->grouping.measures = q->measures;
	q->grouping.most = q->how & 32 ? 100 : 0;
	for (size_t i = 0; i < q->grouping.n_keys; i++) {
		q->keys[i].value = take_value(q);
		if (pb_take8(&q->c) % 4 == 1)
			q->keys[i].fallback = take_value(q);
	}
	for (size_t i = 0; i < q->grouping.n_measures; i++)
		take_measure(q, &q->measures[i]);
	if (q->how & 1)
		q->filter = take_filter(q);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	return ((a ^ b) * UINT64_C(0x9e3779b97f4a7c15)) ^ (a >> 29);
}

static uint64_t hash_bytes(const char *p, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = mix(h, (uint8_t)p[i]);
	return h;
}

/* Returns a hash that is equal for equal values of two sessions. */
static uint64_t hash_value(const struct pq_groups *groups, const struct pq_value *v)
{
	const char *p;
	size_t n;

	FUZZ_CHECK(v->type < PQ_TYPES);
	switch (v->type) {
	case PQ_NIL:
		return 0;
	case PQ_TEXT:
		return mix(PQ_TEXT, hash_bytes(v->p, v->size));
	case PQ_EVENT:
		return mix(PQ_EVENT, v->event->number);
	case PQ_CHAIN:
		p = pq_chains_text(pq_groups_chains(groups), (uint32_t)v->u, &n);
		FUZZ_CHECK(p);
		return mix(PQ_CHAIN, hash_bytes(p, n));
	default:
		return mix(v->type, v->u);
	}
}

static uint64_t hash_state(const struct pq_groups *groups, const struct pq_state *s)
{
	uint64_t h = 0, sum = 0;
	const struct pq_bucket_count *counts;
	size_t n_counts = s->sketch ? pq_sketch_counts(s->sketch, &counts) : 0;

	for (size_t i = 0; i < PQ_MOST_PARTS; i++)
		h = mix(h, hash_value(groups, &s->parts[i]));
	for (size_t i = 0; i < n_counts; i++)
		sum += mix(counts[i].count, (uint32_t)counts[i].bucket);
	for (size_t i = 0; i < s->n_set; i++)
		sum += mix(1, hash_value(groups, &s->set[i]));
	return mix(h, sum);
}

/* Its answer. */
struct answer {
	enum pb_outcome ran;
	enum pq_wrong wrong;
	size_t n;
	uint64_t sum; /* of all groups, whatever their order */
	bool shared;  /* it is to be compared with that of several threads */
};

/* Makes a report of the groups, whose samples are all in one group each. */
static void check_report(const struct query *q, struct pq_groups *groups, bool callers)
{
	static const struct pq_node any = { .kind = PQ_K_ANY },
				    natural = { .kind = PQ_K_UNSIGNED };
	static const struct pq_key keys[] = {
		{ .value = &natural }, { .value = &any }, { .value = &any },
		{ .value = &any },     { .value = &any },
	};
	static const struct pq_measure measures[] = {
		{ .kind = PQ_M_COUNT },
		{ .kind = PQ_M_SUM, .value = &natural },
		{ .kind = PQ_M_SUM, .value = &natural },
	};
	const struct pq_grouping *g = &q->grouping;
	const struct pq_report_key shown[] = {
		{ PQ_FROM_KEY, 0 },
		{ PQ_FROM_DSO, g->n_keys - 1 },
		{ PQ_FROM_SYMBOL, g->n_keys - 1 },
		{ PQ_FROM_MODE, 0 },
	};
	bool has_key = !callers || g->n_keys > 1;
	const struct pq_report report = {
		.keys = has_key ? shown : shown + 1,
		.n_keys = has_key ? 4 : 3,
		.n_measures = 2,
		.n_slots = 1,
		.event_key = SIZE_MAX,
		.callers = callers,
	};
	const struct pq_grouping grouping = {
		.keys = keys,
		.n_keys = report.n_keys + 1,
		.measures = measures,
		.n_measures = 2 + callers,
	};
	struct pq_groups *made;
	struct pq_report_sections sections;
	uint64_t samples = 0, all = 0;

	if (!g->n_keys || g->n_measures < 2 || g->measures[0].kind != PQ_M_COUNT ||
	    g->measures[0].weight || g->measures[1].kind != PQ_M_SUM)
		return;
	made = pq_groups_create_bare(&grouping);
	FUZZ_CHECK(made && pq_report_make(&report, groups, made, &sections, NULL));
	FUZZ_CHECK(sections.n <= 1 && sections.taken == pq_groups_size(groups));
	for (size_t i = 0; i < pq_groups_size(made); i++) {
		struct pq_state states[3];

		for (size_t m = 0; m < grouping.n_measures; m++)
			pq_groups_state(made, i, m, &states[m]);
		FUZZ_CHECK(!callers || states[2].value.u >= states[1].value.u);
		samples += states[0].value.u;
	}
	for (size_t i = 0; i < pq_groups_size(groups); i++) {
		struct pq_state state;

		pq_groups_state(groups, i, 0, &state);
		all += state.value.u;
	}
	FUZZ_CHECK(samples == all && (!sections.n || sections.list[0].samples == all));
	free(sections.list);
	pq_groups_destroy(made);
}

static struct answer run(const struct query *q, const struct pq_scope *scope)
{
	struct answer answer = { 0 };
	struct pq_groups *groups = NULL;
	struct pd_error err;

	answer.ran = pq_run(scope, &q->grouping, &groups, &err);
	FUZZ_CHECK(answer.ran == PB_FAILED || groups);
	FUZZ_CHECK(answer.ran != PB_RETRY_SERIAL);
	FUZZ_CHECK(answer.ran != PB_FAILED || (err.code && err.message[0]));
	if (!groups)
		return answer;
	answer.n = pq_groups_size(groups);
	answer.wrong = pq_groups_wrong(groups);
	answer.sum = mix(1, pq_groups_set_aside(groups));
	for (size_t g = 0; g < answer.n; g++) {
		uint64_t h = 1;

		for (size_t k = 0; k < q->grouping.n_keys; k++) {
			struct pq_value value;

			pq_groups_key(groups, g, k, &value);
			h = mix(h, hash_value(groups, &value));
		}
		for (size_t m = 0; m < q->grouping.n_measures; m++) {
			struct pq_state state;

			pq_groups_state(groups, g, m, &state);
			h = mix(h, hash_state(groups, &state));
		}
		answer.sum += h;
	}
	check_report(q, groups, true);
	check_report(q, groups, false);
	pq_groups_destroy(groups);
	return answer;
}

static bool is_same(const struct answer *a, const struct answer *b)
{
	return a->ran == b->ran && a->wrong == b->wrong && a->n == b->n &&
	       (a->sum == b->sum || a->wrong != PQ_RIGHT);
}

/* The names that symbols have come from here: $TMPDIR/query. */
static const char *root(void)
{
	static char path[256];
	static const struct {
		const char *path, *text;
	} files[] = {
		{ "/kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T do_work\n"
			       "ffffffffc0000000 t of_module\t[ext4]\n" },
		{ "/tmp/perf-7.map", "1000 800 made at run time\n1800 10 and;this\n" },
	};
	const char *dir = getenv("TMPDIR");
	char name[300];

	if (path[0])
		return path;
	snprintf(path, sizeof(path), "%s/query", dir ? dir : "/tmp");
	mkdir(path, 0700);
	snprintf(name, sizeof(name), "%s/tmp", path);
	mkdir(name, 0700);
	for (size_t i = 0; i < 2; i++) {
		FILE *f;

		snprintf(name, sizeof(name), "%s%s", path, files[i].path);
		f = fopen(name, "w");
		FUZZ_CHECK(f);
		fputs(files[i].text, f);
		fclose(f);
	}
	return path;
}

static size_t damages(const struct pd_session *session)
{
	size_t n = 0;

	for (size_t i = 0; i < session->n_files; i++)
		n += session->files[i]->n_damage;
	return n;
}

/* Counted, too. */
static void count(const struct pq_scope *scope, struct answer *answer)
{
	struct pd_stat stat;
	struct pd_error err;

	FUZZ_CHECK(pq_count(scope, &stat, &err));
	for (size_t i = 0; i < PD_RECORD_TYPES; i++)
		answer->sum = mix(answer->sum, mix(stat.types[i].records, stat.types[i].bytes));
	answer->sum = mix(answer->sum, stat.n_unknown);
	pd_stat_deinit(&stat);
}

/* Answers all queries over a session with so many threads; false: it cannot be opened. */
static bool ask(const char *path, const struct fuzz_part *part, unsigned threads,
		struct answer *answer, size_t *n_damages)
{
	char kallsyms[300];
	const struct ps_options options = { .symfs = root(), .kallsyms = kallsyms };
	struct pd_session *session;
	struct pm_system *system;
	struct answer ordered;
	struct pd_error err;
	struct query q;
	struct pq_scope scope;
	size_t known;

	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", root());
	if (!pd_session_open(&session, &path, 1, false, PD_PERF_NEWEST, NULL, &err))
		return false;
	known = session->n_events;
	take_query(&q, part, session);
	system = pm_system_create(session, &options);
	FUZZ_CHECK(system && pm_system_read(system, NULL, threads, false, NULL, &err));
	scope = (struct pq_scope){
		.session = session,
		.system = system,
		.types = PD_ALL_TYPES,
		.filter = q.filter,
		.threads = threads,
		.split = q.how & 64,
		.by_time = q.how & 2,
		.from = 5,
		.to = 1u << (q.how >> 4),
		.order = PD_ORDER_FILE,
	};
	if (q.how & 4) {
		scope.types = (struct pd_types){ 0 };
		pd_types_add(&scope.types, PD_RECORD_SAMPLE);
	}
	*answer = run(&q, &scope);
	scope.order = PD_ORDER_TIME;
	/*
	 * The set of events decides what is known of a record, and the order decides the values
	 * of counters.
	 */
	if (q.how & 8 && known == session->n_events && !q.by_place &&
	    !pq_scope_splits(&scope)) {
		ordered = run(&q, &scope);
		FUZZ_CHECK(is_same(answer, &ordered));
	}
	scope.order = PD_ORDER_FILE;
	count(&scope, answer);
	answer->shared = q.grouping.n_measures == 1;
	*n_damages = damages(session);
	pm_system_destroy(system);
	free(q.events[0]);
	free(q.events[1]);
	pd_session_close(session);
	pd_session_destroy(session);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t n_alone = 0, n_shared = 0;
	struct answer alone = { 0 }, shared = { 0 };
	struct fuzz_part parts[2];
	char path[FUZZ_PATH];
	int fd;

	fuzz_split(bytes, n, parts, 2);
	fd = fuzz_file(parts[1].bytes, parts[1].n, path);
	if (ask(path, &parts[0], 1, &alone, &n_alone) && alone.shared) {
		FUZZ_CHECK(ask(path, &parts[0], THREADS, &shared, &n_shared));
		FUZZ_CHECK(is_same(&alone, &shared) && alone.sum == shared.sum);
		FUZZ_CHECK(n_alone == n_shared);
	}
	close(fd);
	return 0;
}
