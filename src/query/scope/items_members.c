/* The members of items by name, and their values. */
#include "items.h"

#include <string.h>

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
	SYMOFF_FROM,
	SYMOFF_TO,
	SYMOFF_BLOCK,
	SRCLINE_BLOCK,
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
	{ "symoff_from", SYMOFF_FROM },
	{ "symoff_to", SYMOFF_TO },
	{ "symoff_block", SYMOFF_BLOCK },
	{ "srcline_block", SRCLINE_BLOCK },
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

unsigned pq_items_view_number(const struct pd_view_desc *view)
{
	unsigned i = 0;

	while (i < N_VIEWS && views[i].view != view)
		i++;
	return i + 1;
}

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
		const struct member_name *row = views[i].names;
		unsigned own;

		if (views[i].view != view)
			continue;
		while (row->name && strcmp(row->name, name) != 0)
			row++;
		if (row->name || !views[i].has_own)
			return encode_member(i, row->member);
		own = pd_member_find(view->items, name);
		return encode_member(i, view->items[own].name ? OWN + own : NONE);
	}
	return 0;
}

bool pq_item_asks(uint16_t item)
{
	unsigned member = item & ((1u << VIEW_SHIFT) - 1);

	return (member >= ADDRESS && member <= INLINED) ||
	       (member >= SYMBOL_FROM && member <= SRCLINE_BLOCK);
}

/*
 * Returns an address of the row: that of its frame; or the source (0) or target (1) of a
 * branch, or the target of the branch before it (2), which must be there.
 */
static uint64_t address_of(const struct pq_items *items, unsigned which)
{
	uint32_t index = items->index + (which == 2 ? 1u : 0u);

	if (items->unnest->view == &pd_view_callchain)
		return items->frames[items->index].ip;
	return pd_rec64(items->view.rec,
			items->view.at + PQ_BRANCH_SIZE * index + 8 * (which ? 1u : 0u));
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

const struct pq_frame *pq_items_frame(struct pq_items *items, unsigned which)
{
	struct pd_frame at = { .ip = address_of(items, which) };

	if (items->at[which] == UINT32_MAX && find_mode(items, &at))
		items->at[which] = pq_chains_at(items->chains, &at);
	if (items->at[which] == UINT32_MAX)
		return NULL;
	items->frame = pq_chains_frame(items->chains, items->at[which]);
	return &items->frame;
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

/*
 * Sets *symbol to the function that a branch leaves, which is NULL if it is not known, and *dso
 * to its binary. Returns true and sets *start to the address in it where the block of
 * instructions begins that ends with the branch: the target of the branch before, if that is in
 * the function.
 */
static bool find_block(struct pq_items *items, const struct ps_symbol **symbol,
		       struct ps_dso **dso, uint64_t *start)
{
	const struct pq_frame *frame = pq_items_frame(items, 0);
	uint64_t end = frame ? frame->address : 0;

	*dso = frame ? frame->dso : NULL;
	*symbol = frame ? pq_chains_function(items->chains, items->at[0]) : NULL;
	if (!*symbol || items->index + 1 >= items->n)
		return false;
	frame = pq_items_frame(items, 2);
	if (!frame || frame->dso != *dso || frame->address >= end ||
	    pq_chains_function(items->chains, items->at[2]) != *symbol)
		return false;
	*start = frame->address;
	return true;
}

/* Reads where the block of a branch begins; of an unknown block the line of its function. */
static void read_block(struct pq_items *items, unsigned member, struct pq_value *out)
{
	const struct ps_symbol *symbol;
	const struct ps_line *lines;
	struct ps_dso *dso;
	uint64_t start;
	bool is_known;
	size_t n;

	if (!items->fields->resolver)
		return;
	is_known = find_block(items, &symbol, &dso, &start);
	if (items->at[0] == UINT32_MAX) {
		items->fields->failed = true;
	} else if (member == SYMOFF_BLOCK) {
		if (is_known)
			set_integer(out, start - symbol->start);
	} else if (symbol) {
		n = ps_dso_lines(dso, is_known ? start : symbol->start, &lines);
		if (n && lines[n - 1].srcline)
			set_item_text(out, lines[n - 1].srcline, strlen(lines[n - 1].srcline));
	}
}

/* Reads the function at an address that is a word of the item. It is a pq_read_fn. */
static void read_symbol(struct pq_fields *fields, uint32_t field, struct pq_value *out)
{
	const struct pq_load *load = &fields->bound->loads[field];
	struct pq_items *items = fields->items;
	struct pd_frame at = { 0 };
	struct pd_text name = { 0 };

	out->type = PQ_NIL;
	if (!fields->item || !fields->resolver)
		return;
	if (pq_items_is_inlined(items)) {
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
	frame = pq_items_frame(items, which);
	if (!frame) {
		items->fields->failed = true;
		return;
	}
	switch (member) {
	case ADDRESS:
		set_integer(out, frame->address);
		break;
	case SYMOFF:
		symbol = pq_items_is_inlined(items) ?
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
		out->u = pq_items_is_inlined(items);
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
		[SYMOFF_FROM] = { 0, SYMOFF },	 [SYMOFF_TO] = { 1, SYMOFF },
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
	case SYMOFF_FROM:
	case SYMOFF_TO:
		read_place(items, of_branch[member].member, of_branch[member].which, out);
		break;
	case SYMOFF_BLOCK:
	case SRCLINE_BLOCK:
		read_block(items, member, out);
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

void pq_items_load(const struct pq_items *items, uint16_t item, struct pq_load *load)
{
	unsigned member = item & ((1u << VIEW_SHIFT) - 1);
	bool is_symbol = member == SYMBOL || member == SYMBOL_FROM || member == SYMBOL_TO;
	bool is_frame = member == IP || member == SYMBOL;

	if (item >> VIEW_SHIFT != items->view_number)
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
