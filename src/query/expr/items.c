#include "items.h"

#include <stdlib.h>
#include <string.h>

#include "fields_internal.h"
#include "once.h"
#include "perfdata/format/views.h"
#include "stacks.h"

/* Members that are not the view's own; its own ones begin at OWN. */
enum member {
	NONE,
	INDEX,
	/* These are members of frames. */
	IP,
	ADDRESS,
	SYMBOL,
	SYMOFF,
	DSO,
	SRCLINE,
	KIND,
	INLINED,
	/* These are members of branches. */
	FROM,
	TO,
	SYMBOL_FROM,
	SYMBOL_TO,
	DSO_FROM,
	DSO_TO,
	SRCLINE_FROM,
	SRCLINE_TO,
	ADDRESS_FROM,
	ADDRESS_TO,
	KIND_FROM,
	KIND_TO,
	/* These are members of registers. */
	NAME,
	VALUE,
	OWN,
};

struct member_name {
	const char *name; /* NULL: the end */
	uint16_t member;
};

static const struct member_name of_frames[] = {
	{ "index", INDEX },	{ "ip", IP },	{ "address", ADDRESS }, { "symbol", SYMBOL },
	{ "symoff", SYMOFF },	{ "dso", DSO }, { "srcline", SRCLINE }, { "kind", KIND },
	{ "inlined", INLINED }, { NULL, NONE },
};

static const struct member_name of_branches[] = {
	{ "index", INDEX },
	{ "from", FROM },
	{ "to", TO },
	{ "symbol_from", SYMBOL_FROM },
	{ "symbol_to", SYMBOL_TO },
	{ "dso_from", DSO_FROM },
	{ "dso_to", DSO_TO },
	{ "srcline_from", SRCLINE_FROM },
	{ "srcline_to", SRCLINE_TO },
	{ "address_from", ADDRESS_FROM },
	{ "address_to", ADDRESS_TO },
	{ "kind_from", KIND_FROM },
	{ "kind_to", KIND_TO },
	{ NULL, NONE },
};

static const struct member_name of_counters[] = { { "index", INDEX }, { NULL, NONE } };

static const struct member_name of_registers[] = {
	{ "index", INDEX },
	{ "name", NAME },
	{ "value", VALUE },
	{ NULL, NONE },
};

static const struct {
	const struct pd_view_desc *view;
	const struct member_name *names;
	bool has_own; /* members of the view's items, too */
} views[] = {
	{ &pd_view_callchain, of_frames, false },
	{ &pd_view_branch_stack, of_branches, true },
	{ &pd_view_read, of_counters, true },
	{ &pd_view_regs_user, of_registers, false },
	{ &pd_view_regs_intr, of_registers, false },
};

#define N_VIEWS (sizeof(views) / sizeof(views[0]))

#define BRANCH_SIZE 24 /* bytes: source, target and flags */

struct pq_items {
	const struct pq_unnest *unnest;
	struct pq_fields *fields;
	struct pq_expr *filter; /* NULL: there is none */
	struct pq_once once;
	struct pd_view view;  /* the record's view; unused for call chains */
	unsigned view_number; /* number of the view, as in those of its members */
	uint32_t n, next;     /* number of items; the one that comes next */
	const uint8_t *words; /* bytes of the next item; NULL: its view has no words */
	size_t size;	      /* bytes of an item; 0: its view has no words */
	bool is_row;	      /* an item is the row; else there is none to be read */
	uint32_t index;	      /* index of the item that is the row */
	/* The frames of a call chain. */
	struct pd_frame frames[PM_MAX_FRAMES];
	const struct ps_line *lines; /* [n_lines]: lines of the row's frame, if asked for */
	size_t n_lines, line;	     /* the line that is the row */
	/* Resolves addresses; NULL until the first one is looked up. */
	struct pq_chains *chains;
	bool entered;	/* the record was entered in `chains` */
	uint32_t at[2]; /* frames at the row's addresses; UINT32_MAX: not asked yet */
};

const struct pd_view_desc *pq_unnest_view(const char *name)
{
	for (size_t i = 0; i < N_VIEWS; i++)
		if (strcmp(views[i].view->name, name) == 0)
			return views[i].view;
	return NULL;
}

/* The number of a member in a query: its own number, with that of its view above it. */
#define VIEW_SHIFT 8

static uint16_t encode_member(size_t view, unsigned member)
{
	return member ? (uint16_t)((view + 1) << VIEW_SHIFT | member) : 0;
}

uint16_t pq_item_member(const struct pd_view_desc *view, const char *name)
{
	for (size_t i = 0; i < N_VIEWS; i++) {
		const struct member_name *one = views[i].names;
		unsigned own;

		if (views[i].view != view)
			continue;
		while (one->name && strcmp(one->name, name) != 0)
			one++;
		if (one->name || !views[i].has_own)
			return encode_member(i, one->member);
		own = pd_member_find(view->items, name);
		return encode_member(i, view->items[own].name ? OWN + own : NONE);
	}
	return 0;
}

bool pq_item_asks(uint16_t item)
{
	unsigned member = item & ((1u << VIEW_SHIFT) - 1);

	return (member >= ADDRESS && member <= INLINED) ||
	       (member >= SYMBOL_FROM && member <= KIND_TO);
}

bool pq_items_ask(const struct pq_unnest *unnest, const struct pd_session *session)
{
	/* the frames may depend on other parts of a sample, so the recorded system is asked */
	return unnest &&
	       (unnest->view == &pd_view_callchain || pq_asks_system(unnest->filter, session) ||
		pq_asks_system(unnest->once, session));
}

struct pq_items *pq_items_create(const struct pq_unnest *unnest, struct pq_fields *fields)
{
	struct pq_items *items = calloc(1, sizeof(*items));

	if (!items)
		return NULL;
	items->unnest = unnest;
	while (items->view_number < N_VIEWS && views[items->view_number].view != unnest->view)
		items->view_number++;
	items->view_number++;
	items->fields = fields;
	fields->items = items;
	if ((unnest->filter && !(items->filter = pq_expr_create(unnest->filter, fields))) ||
	    !pq_once_init(&items->once, unnest->once, fields)) {
		pq_items_destroy(items);
		return NULL;
	}
	return items;
}

void pq_items_destroy(struct pq_items *items)
{
	if (!items)
		return;
	pq_expr_destroy(items->filter);
	pq_once_deinit(&items->once);
	pq_chains_destroy(items->chains);
	items->fields->items = NULL;
	free(items);
}

/* Opens the record's view; it stays without items if there is none. */
static void open_view(struct pq_items *items, const struct pd_record *rec)
{
	unsigned slot = rec->layout ? rec->layout->slot[items->unnest->name] : 0;
	struct pd_value value = { .type = PD_NIL };

	if (slot)
		pd_record_get(rec, slot, &value);
	if (value.type != PD_VIEW || value.view.desc != items->unnest->view)
		return;
	items->view = value.view;
	items->n = value.view.count;
	if (items->unnest->view == &pd_view_branch_stack) {
		items->words = rec->bytes + value.view.at;
		items->size = BRANCH_SIZE;
	}
	/* a counter that is in no group is one item, whose members are the view's */
	if (value.view.desc == &pd_view_read && !items->n &&
	    !(rec->layout->shape->read_format & PD_READ_GROUP))
		items->n = 1;
}

static void read_frames(struct pq_items *items, const struct pd_record *rec)
{
	size_t n = pq_chains_walk(items->fields->resolver, rec, items->frames);

	items->n = (uint32_t)n;
	items->words = (const uint8_t *)items->frames;
	items->size = sizeof(items->frames[0]);
}

void pq_items_begin(struct pq_items *items)
{
	const struct pd_record *rec = items->fields->rec;

	items->n = items->next = 0;
	items->n_lines = items->line = 0;
	items->entered = false;
	items->fields->item = items->words = NULL;
	items->size = 0;
	pq_once_begin(&items->once);
	if (items->unnest->view == &pd_view_callchain)
		read_frames(items, rec);
	else
		open_view(items, rec);
}

/*
 * Returns an address of the row: that of its frame, or the source (0) or target (1) of a
 * branch.
 */
static uint64_t address_of(const struct pq_items *items, unsigned which)
{
	if (items->unnest->view == &pd_view_callchain)
		return items->frames[items->index].ip;
	return pd_rec64(items->view.rec,
			items->view.at + BRANCH_SIZE * items->index + 8 * which);
}

/* Has `chains` look up addresses of the record. Returns false without memory. */
static inline bool enter_record(struct pq_items *items)
{
	if (items->entered)
		return true;
	if (!items->chains && !(items->chains = pq_chains_create()))
		return false;
	pq_chains_enter(items->chains, items->fields->resolver, items->fields->rec);
	return items->entered = true;
}

/*
 * Sets the mode of at->ip, an address of the row. A branch may lead from one cpumode to
 * another, so those of its addresses follow from where they are. Returns false without memory.
 */
static inline bool find_mode(struct pq_items *items, struct pd_frame *at)
{
	if (!enter_record(items))
		return false;
	at->mode = items->unnest->view == &pd_view_callchain ?
			   items->frames[items->index].mode :
			   pq_chains_mode(items->chains, at->ip);
	return true;
}

/*
 * Returns the frame at an address of the row, valid until the next one is looked up; NULL
 * without memory.
 */
static const struct pq_frame *frame_at(struct pq_items *items, unsigned which)
{
	struct pd_frame at = { .ip = address_of(items, which) };

	if (items->at[which] == UINT32_MAX && find_mode(items, &at))
		items->at[which] = pq_chains_at(items->chains, &at);
	return items->at[which] == UINT32_MAX ?
		       NULL :
		       pq_chains_frame(items->chains, items->at[which]);
}

/* Reads the lines of a frame, and sets which of them are rows. */
static void find_lines(struct pq_items *items)
{
	const struct pq_frame *frame = frame_at(items, 0);

	items->n_lines = 0;
	if (frame && frame->dso)
		items->n_lines = ps_dso_lines(frame->dso, frame->address, &items->lines);
	items->line = 0;
}

/* Returns true if the row is a function that was inlined, not the frame's own. */
static inline bool is_inlined(const struct pq_items *items)
{
	return items->unnest->inlined && items->line + 1 < items->n_lines;
}

/* Goes to the next item. Returns false if there is none. */
static inline bool step_item(struct pq_items *items)
{
	if (items->unnest->inlined && items->next && is_inlined(items)) {
		items->line++;
		return true;
	}
	if (items->next >= items->n)
		return false;
	items->index = items->next++;
	items->fields->item = items->words;
	items->words += items->size;
	items->at[0] = items->at[1] = UINT32_MAX;
	if (items->unnest->inlined)
		find_lines(items);
	return true;
}

bool pq_items_next(struct pq_items *items)
{
	while (step_item(items)) {
		items->is_row = !items->fields->failed;
		if (!items->is_row)
			return false;
		if (items->filter && !pq_expr_test(items->filter, items->fields))
			continue;
		if (!items->once.expr || pq_once_is_first(&items->once, items->fields))
			return true;
	}
	items->is_row = false;
	items->fields->item = NULL;
	return false;
}

static void set_item_text(struct pq_value *out, const char *text, size_t n)
{
	if (!text || n > UINT32_MAX)
		return;
	out->type = PQ_TEXT;
	out->p = text;
	out->size = (uint32_t)n;
}

static void set_integer(struct pq_value *out, uint64_t value)
{
	out->type = PQ_INT;
	out->u = value;
}

/*
 * Reads the source line of a row's address: that of the function itself, or of the one inlined
 * there.
 */
static void read_srcline(struct pq_items *items, const struct pq_frame *frame,
			 struct pq_value *out)
{
	const struct ps_line *lines = items->lines;
	size_t n = items->n_lines, line = items->line;

	if (!items->unnest->inlined) {
		n = frame->dso ? ps_dso_lines(frame->dso, frame->address, &lines) : 0;
		line = n - 1;
	}
	if (n && lines[line].srcline)
		set_item_text(out, lines[line].srcline, strlen(lines[line].srcline));
}

/* Reads the function at an address that is a word of the item. It is a pq_read_fn. */
static void read_symbol(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pq_items *items = fields->items;
	struct pd_text name = { 0 };
	struct pd_frame at;

	out->type = PQ_NIL;
	if (!fields->item || !fields->resolver)
		return;
	if (is_inlined(items)) {
		const char *inlined = items->lines[items->line].function;

		set_item_text(out, inlined, inlined ? strlen(inlined) : 0);
		return;
	}
	at.ip = pb_load64(fields->item + load->at, load->swap);
	if (find_mode(items, &at) && pq_chains_name(items->chains, &at, &name))
		set_item_text(out, name.p, name.n);
	else
		fields->failed = true;
}

/* Reads what the recorded system knows about an address of the row. */
static void read_place(struct pq_items *items, unsigned member, unsigned which,
		       struct pq_value *out)
{
	const struct pq_frame *frame;
	const struct ps_symbol *symbol;
	const char *name;

	if (!items->fields->resolver)
		return;
	frame = frame_at(items, which);
	if (!frame) {
		items->fields->failed = true;
		return;
	}
	switch (member) {
	case ADDRESS:
		set_integer(out, frame->address);
		break;
	case SYMOFF:
		symbol = is_inlined(items) ?
				 NULL :
				 pq_chains_function(items->chains, items->at[which]);
		if (symbol)
			set_integer(out, frame->address - symbol->start);
		break;
	case DSO:
		name = frame->dso ? frame->dso->name : PM_UNKNOWN;
		set_item_text(out, name, strlen(name));
		break;
	case SRCLINE:
		read_srcline(items, frame, out);
		break;
	case KIND:
		/* where nothing is mapped, only frames are known to be of a kind */
		if (!frame->dso && items->unnest->view == &pd_view_branch_stack)
			break;
		name = pq_frame_kind_name(pq_frame_kind(frame));
		set_item_text(out, name, strlen(name));
		break;
	default:
		out->type = PQ_BOOL;
		out->u = is_inlined(items);
	}
}

/* Reads a member of an item as the view has it. */
static void read_own(struct pq_fields *fields, uint32_t field, unsigned member,
		     struct pq_value *out)
{
	static const char *const of_one[] = { "value", "id", "lost" };
	const struct pq_items *items = fields->items;
	const struct pd_view *view = &items->view;
	struct pd_value value = { .type = PD_NIL };
	const char *name = view->desc->items[member].name;

	if (view->count) {
		view->desc->item(view, items->index, member, &value);
	} else if (strcmp(name, "event") == 0) {
		value.type = fields->rec->event ? PD_EVENT : PD_NIL;
		value.event = fields->rec->event;
	} else {
		for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++)
			if (strcmp(of_one[i], name) == 0)
				view->desc->member(view,
						   pd_member_find(view->desc->members, name),
						   &value);
	}
	pq_from_decoded(fields, field, &value, out);
}

/* Reads a member that is not a word of the item. It is a pq_read_fn. */
static void read_item(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	/* by member: which address of the branch it belongs to, and which member it is there */
	static const struct {
		uint8_t which, member;
	} of_branch[] = {
		[DSO_FROM] = { 0, DSO },	 [DSO_TO] = { 1, DSO },
		[SRCLINE_FROM] = { 0, SRCLINE }, [SRCLINE_TO] = { 1, SRCLINE },
		[ADDRESS_FROM] = { 0, ADDRESS }, [ADDRESS_TO] = { 1, ADDRESS },
		[KIND_FROM] = { 0, KIND },	 [KIND_TO] = { 1, KIND },
	};
	unsigned member = fields->bound->loads[field].index & ((1u << VIEW_SHIFT) - 1);
	struct pq_items *items = fields->items;
	const char *name;

	out->type = PQ_NIL;
	if (!items->is_row)
		return;
	switch (member) {
	case INDEX:
		set_integer(out, items->index + UINT64_C(1));
		break;
	case NAME:
		name = items->view.desc->key(&items->view, items->index);
		set_item_text(out, name, strlen(name));
		break;
	case VALUE:
		set_integer(out,
			    pd_rec64(items->view.rec, items->view.at + 8 + 8 * items->index));
		break;
	case DSO_FROM:
	case DSO_TO:
	case SRCLINE_FROM:
	case SRCLINE_TO:
	case ADDRESS_FROM:
	case ADDRESS_TO:
	case KIND_FROM:
	case KIND_TO:
		read_place(items, of_branch[member].member, of_branch[member].which, out);
		break;
	default:
		if (member >= OWN)
			read_own(fields, field, member - OWN, out);
		else
			read_place(items, member, 0, out);
	}
}

/* Reads a word of the item. It is a pq_read_fn. */
static void read_word(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	bool is_there = pq_item_word(fields, &fields->bound->loads[field], &out->i);

	out->type = is_there ? PQ_INT : PQ_NIL;
}

void pq_item_load(const struct pq_fields *fields, uint16_t item, struct pq_load *load)
{
	unsigned member = item & ((1u << VIEW_SHIFT) - 1);
	bool is_symbol = member == SYMBOL || member == SYMBOL_FROM || member == SYMBOL_TO;
	bool is_frame = member == IP || member == SYMBOL;

	if (!fields->items || item >> VIEW_SHIFT != fields->items->view_number)
		return;
	load->index = item;
	load->is_item_word = member == IP || member == FROM || member == TO;
	load->read = load->is_item_word ? read_word : is_symbol ? read_symbol : read_item;
	if (is_frame) {
		load->swap = false; /* frames are this host's */
		load->at = offsetof(struct pd_frame, ip);
	} else if (member == TO || member == SYMBOL_TO) {
		load->at = 8;
	}
}
