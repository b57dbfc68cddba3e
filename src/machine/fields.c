#include "fields.h"

#include <string.h>

#include "internal.h"
#include "resolver.h"
#include "perfdata/format/perf_text.h"
#include "perfdata/format/views.h"

static void set_text_value(struct pd_value *out, const char *text)
{
	if (!text)
		return;
	out->type = PD_STR;
	out->s.p = text;
	out->s.n = strlen(text);
}

static void set_field_integer(struct pd_value *out, enum pd_type type, uint64_t v)
{
	out->type = type;
	out->u = v;
}

typedef void field_getter(struct pm_resolver *r, const struct pd_record *rec,
			  const struct pd_asked *asked, struct pd_value *out);

static void get_comm(struct pm_resolver *r, const struct pd_record *rec,
		     const struct pd_asked *asked, struct pd_value *out)
{
	(void)asked;
	pm_comm(r, rec, out);
}

static void get_cgroup_path(struct pm_resolver *r, const struct pd_record *rec,
			    const struct pd_asked *asked, struct pd_value *out)
{
	(void)asked;
	pm_cgroup_path_of(r->system, rec, out);
}

/*
 * Sets *name to the name of the binary at an address, or of the function. Returns false if it
 * is not known.
 */
static bool find_name(struct pm_resolver *r, const struct pm_dso_address *at, bool function,
		      struct pd_text *name)
{
	const struct ps_symbol *symbol;

	if (!function) {
		*name = at->dso ? (struct pd_text){ at->dso->name, at->dso->name_length } :
				  (struct pd_text){ PM_UNKNOWN, sizeof(PM_UNKNOWN) - 1 };
		return true;
	}
	symbol = at->dso ? pm_symbol_at(r, at->dso, at->address, at->time) : NULL;
	if (symbol)
		*name = (struct pd_text){ symbol->name, symbol->length };
	return symbol != NULL;
}

bool pm_own_name(struct pm_resolver *r, const struct pd_record *rec, bool function,
		 struct pd_text *name)
{
	const struct pm_dso_address *at = pm_own_dso(r, rec);

	return at && find_name(r, at, function, name);
}

static void get_name(struct pm_resolver *r, const struct pd_record *rec,
		     const struct pd_asked *asked, struct pd_value *out)
{
	bool function = asked->field == PD_SYS_SYMBOL || asked->field == PD_SYS_SYMBOL_DADDR;
	struct pm_dso_address at;
	struct pd_text name;

	if (!pm_asked_dso(r, rec, asked, &at) || !find_name(r, &at, function, &name))
		return;
	out->type = PD_STR;
	out->s.p = name.p;
	out->s.n = name.n;
}

static void get_symoff(struct pm_resolver *r, const struct pd_record *rec,
		       const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_dso_address at;
	const struct ps_symbol *symbol = pm_asked_symbol(r, rec, asked, &at);

	if (symbol)
		set_field_integer(out, PD_UINT, at.address - symbol->start);
}

static void get_srcline(struct pm_resolver *r, const struct pd_record *rec,
			const struct pd_asked *asked, struct pd_value *out)
{
	const struct ps_line *line = pm_asked_line(r, rec, asked);

	set_text_value(out, line ? line->srcline : NULL);
}

static void get_srcfile(struct pm_resolver *r, const struct pd_record *rec,
			const struct pd_asked *asked, struct pd_value *out)
{
	const struct ps_line *line = pm_asked_line(r, rec, asked);

	set_text_value(out, line ? line->srcfile : NULL);
}

static void get_symbol_size(struct pm_resolver *r, const struct pd_record *rec,
			    const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_dso_address at;
	const struct ps_symbol *symbol = pm_asked_symbol(r, rec, asked, &at);

	if (symbol)
		set_field_integer(out, PD_UINT, symbol->end - symbol->start);
}

static void get_parent(struct pm_resolver *r, const struct pd_record *rec,
		       const struct pd_asked *asked, struct pd_value *out)
{
	const struct ps_chain_options *patterns = r->system->binaries.options.chains;
	struct pm_addr_context context;
	size_t n;
	const struct pd_frame *frames = pm_frames_of(r, rec, &n);

	(void)asked;
	set_text_value(out, "[other]");
	pm_addr_context_of(r->system, rec, &context);
	for (size_t i = 0; i < n; i++) {
		const struct pd_frame *frame =
			&frames[patterns && patterns->from_caller ? n - 1 - i : i];
		struct pm_location location;

		context.mode = (enum pd_cpumode)frame->mode;
		pm_location_at(r, &context, frame->ip, &location);
		if (pm_is_parent(r, location.symbol)) {
			set_text_value(out, location.symbol->name);
			return;
		}
	}
}

/* Numbers become <N>; what does not fit is cut off. */
static void get_comm_nodigit(struct pm_resolver *r, const struct pd_record *rec,
			     const struct pd_asked *asked, struct pd_value *out)
{
	struct pd_value comm;
	size_t n = 0;

	(void)asked;
	comm.type = PD_NIL;
	pm_comm(r, rec, &comm);
	if (comm.type != PD_STR)
		return;
	for (size_t i = 0; i < comm.s.n && n + 3 <= sizeof(out->text); i++) {
		bool digit = comm.s.p[i] >= '0' && comm.s.p[i] <= '9';

		if (digit && i && comm.s.p[i - 1] >= '0' && comm.s.p[i - 1] <= '9')
			continue;
		memcpy(out->text + n, digit ? "<N>" : &comm.s.p[i], digit ? 3 : 1);
		n += digit ? 3 : 1;
	}
	out->type = PD_STR;
	out->s.p = out->text;
	out->s.n = n;
}

static void get_map_view(struct pm_resolver *r, const struct pd_record *rec,
			 const struct pd_asked *asked, struct pd_value *out)
{
	if (!pm_asked_map(r, rec, asked))
		return;
	out->type = PD_VIEW;
	out->view = (struct pd_view){ .desc = &pd_view_map, .rec = rec };
}

static void get_map_part(struct pm_resolver *r, const struct pd_record *rec,
			 const struct pd_asked *asked, struct pd_value *out)
{
	const struct pm_map *map = pm_asked_map(r, rec, asked);

	if (map)
		pm_map_member(map, asked->field, out);
}

static void set_build_id(struct pd_value *out, const struct ps_dso *dso)
{
	const struct ps_build_id *id = &dso->id.build_id;

	if (!id->size)
		return;
	out->type = PD_HEX;
	out->s.p = (const char *)id->bytes;
	out->s.n = id->size;
}

/* The binary knows it, so that no map has to be looked up. */
static void get_map_build_id(struct pm_resolver *r, const struct pd_record *rec,
			     const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_dso_address at;

	if (pm_asked_dso(r, rec, asked, &at) && at.dso)
		set_build_id(out, at.dso);
}

void pm_map_member(const struct pm_map *map, uint32_t field, struct pd_value *out)
{
	switch (field) {
	case PD_SYS_MAP_START:
		set_field_integer(out, PD_ADDR, map->start);
		break;
	case PD_SYS_MAP_LEN:
		set_field_integer(out, PD_UINT, map->end - map->start);
		break;
	case PD_SYS_MAP_PGOFF:
		set_field_integer(out, PD_ADDR, map->pgoff);
		break;
	case PD_SYS_MAP_FILENAME:
		set_text_value(out, map->filename);
		break;
	case PD_SYS_MAP_BUILD_ID:
		set_build_id(out, map->dso);
		break;
	case PD_SYS_MAP_PROT:
		if (map->prot)
			set_field_integer(out, PD_UINT, map->prot);
		break;
	}
}

/* See map_fixup_cb, tools/perf/util/symbol.c. */
static void get_dso_size(struct pm_resolver *r, const struct pd_record *rec,
			 const struct pd_asked *asked, struct pd_value *out)
{
	const struct pm_map *map = pm_asked_map(r, rec, asked);

	if (!map)
		return;
	if (map->dso->id.kind == PS_KERNEL && ps_dso_load(map->dso) && map->dso->listed)
		set_field_integer(out, PD_UINT, map->dso->listed);
	else
		pm_map_member(map, PD_SYS_MAP_LEN, out);
}

static void get_chain_text(struct pm_resolver *r, const struct pd_record *rec,
			   const struct pd_asked *asked, struct pd_value *out)
{
	struct pd_text text;

	if (!pm_chain_text(r, rec, (enum pd_system_field)asked->field, &text))
		return;
	out->type = PD_STR;
	out->s.p = text.p;
	out->s.n = text.n;
}

static void get_unresolved(struct pm_resolver *r, const struct pd_record *rec,
			   const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_dso_address at;

	if (pm_asked_dso(r, rec, asked, &at) &&
	    !(at.dso && pm_symbol_at(r, at.dso, at.address, at.time)))
		set_field_integer(out, PD_ADDR, at.address);
}

/* Sets *out to the text that the resolver holds. */
static void set_resolver_text(struct pm_resolver *r, struct pd_value *out)
{
	if (!pb_string_end(&r->text))
		return;
	out->type = PD_STR;
	out->s.p = r->text.p;
	out->s.n = r->text.n;
}

static void get_insn(struct pm_resolver *r, const struct pd_record *rec,
		     const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_instruction insn;

	(void)asked;
	if (!pm_instruction_of(r, rec, &insn))
		return;
	pb_string_clear(&r->text);
	for (size_t i = 0; i < insn.size; i++)
		pb_string_format(&r->text, i ? " %02x" : "%02x", insn.bytes[i]);
	set_resolver_text(r, out);
}

static void get_insnlen(struct pm_resolver *r, const struct pd_record *rec,
			const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_instruction insn;

	(void)asked;
	if (pm_instruction_of(r, rec, &insn))
		set_field_integer(out, PD_UINT, insn.size);
}

static void get_disasm(struct pm_resolver *r, const struct pd_record *rec,
		       const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_instruction insn;

	(void)asked;
	if (!pm_instruction_of(r, rec, &insn))
		return;
	pb_string_clear(&r->text);
	pb_string_format(&r->text, *insn.operands ? "%s %s" : "%s", insn.name, insn.operands);
	set_resolver_text(r, out);
}

static void get_srccode(struct pm_resolver *r, const struct pd_record *rec,
			const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_source_line source;
	size_t blanks = 0;

	(void)asked;
	if (!pm_source_line_of(r, rec, &source))
		return;
	while (blanks < source.text.n && strchr(" \t", source.text.p[blanks]))
		blanks++;
	pb_string_clear(&r->text);
	pb_string_add(&r->text, source.text.p + blanks, source.text.n - blanks);
	set_resolver_text(r, out);
}

static void get_guest(struct pm_resolver *r, const struct pd_record *rec,
		      const struct pd_asked *asked, struct pd_value *out)
{
	int32_t pid, vcpu;

	if (pm_guest_of(r->system, rec, &pid, &vcpu))
		set_field_integer(out, PD_UINT,
				  (uint64_t)(asked->field == PD_SYS_VCPU ? vcpu : pid));
}

static void get_message(struct pm_resolver *r, const struct pd_record *rec,
			const struct pd_asked *asked, struct pd_value *out)
{
	/* follow the newest perf */
	unsigned as = asked->field == PD_SYS_RAW_MESSAGE ?
			      PD_TEXT_AS_FIELDS :
			      PD_TEXT_ARRAY_AS_KERNEL | PD_TEXT_CONVERSIONS;
	struct pd_text text;

	if (!pm_message(r, rec, as, &text))
		return;
	out->type = PD_STR;
	out->s.p = text.p;
	out->s.n = text.n;
}

void pm_field(struct pm_resolver *r, const struct pd_record *rec, const struct pd_asked *asked,
	      struct pd_value *out)
{
	static field_getter *const fields[] = {
		[PD_SYS_COMM] = get_comm,
		[PD_SYS_CGROUP_PATH] = get_cgroup_path,
		[PD_SYS_SYMBOL] = get_name,
		[PD_SYS_SYMOFF] = get_symoff,
		[PD_SYS_DSO] = get_name,
		[PD_SYS_SRCLINE] = get_srcline,
		[PD_SYS_SRCFILE] = get_srcfile,
		[PD_SYS_SYMBOL_SIZE] = get_symbol_size,
		[PD_SYS_DSO_SIZE] = get_dso_size,
		[PD_SYS_PARENT] = get_parent,
		[PD_SYS_COMM_NODIGIT] = get_comm_nodigit,
		[PD_SYS_MAP] = get_map_view,
		[PD_SYS_MAP_START] = get_map_part,
		[PD_SYS_MAP_LEN] = get_map_part,
		[PD_SYS_MAP_PGOFF] = get_map_part,
		[PD_SYS_MAP_FILENAME] = get_map_part,
		[PD_SYS_MAP_BUILD_ID] = get_map_build_id,
		[PD_SYS_MAP_PROT] = get_map_part,
		[PD_SYS_SYMBOL_DADDR] = get_name,
		[PD_SYS_SYMOFF_DADDR] = get_symoff,
		[PD_SYS_DSO_DADDR] = get_name,
		[PD_SYS_STACK] = get_chain_text,
		[PD_SYS_ANNOTATED_STACK] = get_chain_text,
		[PD_SYS_FRAMES] = get_chain_text,
		[PD_SYS_UNRESOLVED] = get_unresolved,
		[PD_SYS_INSN] = get_insn,
		[PD_SYS_INSNLEN] = get_insnlen,
		[PD_SYS_DISASM] = get_disasm,
		[PD_SYS_SRCCODE] = get_srccode,
		[PD_SYS_MACHINE_PID] = get_guest,
		[PD_SYS_VCPU] = get_guest,
		[PD_SYS_MESSAGE] = get_message,
		[PD_SYS_RAW_MESSAGE] = get_message,
	};
	uint32_t field = asked->field; /* *out may hold *asked */
	struct pd_asked copy = *asked;

	out->type = PD_NIL;
	if (field < sizeof(fields) / sizeof(fields[0]) && fields[field])
		fields[field](r, rec, &copy, out);
}
