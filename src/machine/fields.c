#include "fields.h"

#include <string.h>

#include "internal.h"
#include "resolver.h"
#include "perfdata/format/perf_text.h"
#include "perfdata/format/views.h"

static bool is_data(const struct pd_asked *asked)
{
	return asked->field == PD_M_SYMBOL_DADDR || asked->field == PD_M_DSO_DADDR;
}

/*
 * Where an address is that is asked for: of the record's ip, unless one is named. False: there
 * is none.
 */
static bool where_of(const struct pm_resolver *r, const struct pd_record *rec,
		     const struct pd_asked *asked, struct pm_where *where, uint64_t *address)
{
	const struct pm_ids *ids = &r->machine->ids;
	bool data = is_data(asked);
	int64_t v;

	pm_where_of(r->machine, rec, where);
	if (asked->of_address) {
		where->mode = (enum pd_cpumode)asked->mode;
		*address = asked->address;
		return true;
	}
	where->any_mode = data;
	if (!pm_integer(rec, data ? ids->addr : ids->ip, &v))
		return false;
	*address = (uint64_t)v;
	return true;
}

static bool find_spot(const struct pm_resolver *r, const struct pd_record *rec,
		      const struct pd_asked *asked, struct pm_spot *spot)
{
	const struct pm_map *map;
	struct pm_where where;
	uint64_t address;

	if (!where_of(r, rec, asked, &where, &address))
		return false;
	map = pm_map_at(r->machine, &where, address);
	spot->dso = map ? map->dso : NULL;
	spot->address = map ? pm_map_address(map, address) : address;
	spot->time = where.time;
	return true;
}

/* What is at the address that is asked for. No binary is opened for it. */
static bool spot_of(struct pm_resolver *r, const struct pd_record *rec,
		    const struct pd_asked *asked, struct pm_spot *spot)
{
	uint64_t taken = r->machine->taken;

	if (asked->of_address || is_data(asked))
		return find_spot(r, rec, asked, spot);
	if (!pm_is_seen(&r->own.seen, rec) || r->own.taken != taken) {
		r->own.seen.known = false;
		if (!find_spot(r, rec, asked, &r->own.spot))
			return false;
		pm_see(&r->own.seen, rec);
		r->own.taken = taken;
	}
	*spot = r->own.spot;
	return true;
}

static const struct ps_symbol *symbol_at(struct pm_resolver *r, const struct pm_spot *spot)
{
	return spot->dso ? pm_symbol_at(r, spot->dso, spot->address, spot->time) : NULL;
}

static void set_text(struct pd_value *out, const char *text)
{
	if (!text)
		return;
	out->type = PD_STR;
	out->s.p = text;
	out->s.n = strlen(text);
}

static void set_integer(struct pd_value *out, enum pd_type type, uint64_t v)
{
	out->type = type;
	out->u = v;
}

typedef void field_fn(struct pm_resolver *r, const struct pd_record *rec,
		      const struct pd_asked *asked, struct pd_value *out);

static void comm_of(struct pm_resolver *r, const struct pd_record *rec,
		    const struct pd_asked *asked, struct pd_value *out)
{
	(void)asked;
	pm_comm(r, rec, out);
}

static void cgroup_path_of(struct pm_resolver *r, const struct pd_record *rec,
			   const struct pd_asked *asked, struct pd_value *out)
{
	(void)asked;
	pm_cgroup_path_of(r->machine, rec, out);
}

static void symbol_of(struct pm_resolver *r, const struct pd_record *rec,
		      const struct pd_asked *asked, struct pd_value *out)
{
	const struct ps_symbol *symbol;
	struct pm_spot spot;

	symbol = spot_of(r, rec, asked, &spot) ? symbol_at(r, &spot) : NULL;
	if (!symbol)
		return;
	out->type = PD_STR;
	out->s.p = symbol->name;
	out->s.n = symbol->length;
}

static void symoff_of(struct pm_resolver *r, const struct pd_record *rec,
		      const struct pd_asked *asked, struct pd_value *out)
{
	const struct ps_symbol *symbol;
	struct pm_spot spot;

	symbol = spot_of(r, rec, asked, &spot) ? symbol_at(r, &spot) : NULL;
	if (symbol)
		set_integer(out, PD_UINT, spot.address - symbol->start);
}

static void dso_of(struct pm_resolver *r, const struct pd_record *rec,
		   const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_spot spot;

	if (spot_of(r, rec, asked, &spot))
		set_text(out, spot.dso ? spot.dso->name : PM_UNKNOWN);
}

static void srcline_of(struct pm_resolver *r, const struct pd_record *rec,
		       const struct pd_asked *asked, struct pd_value *out)
{
	const struct ps_line *lines;
	struct pm_spot spot;

	/*
	 * of a call chain the line is that of the function itself, not of what was inlined
	 * there
	 */
	if (spot_of(r, rec, asked, &spot) && spot.dso) {
		size_t n = ps_dso_lines(spot.dso, spot.address, &lines);

		if (n)
			set_text(out, lines[asked->of_address ? n - 1 : 0].srcline);
	}
}

size_t pm_inlined(struct pm_resolver *r, const struct pd_record *rec,
		  const struct pd_asked *asked, const struct ps_line **lines)
{
	struct pm_spot spot;
	size_t n = 0;

	if (spot_of(r, rec, asked, &spot) && spot.dso)
		n = ps_dso_lines(spot.dso, spot.address, lines);
	return n ? n - 1 : 0; /* the last one is no inlined one */
}

/* A map is asked for part by part, each of which is looked up anew: nobody keeps one. */
static const struct pm_map *map_of(struct pm_resolver *r, const struct pd_record *rec,
				   const struct pd_asked *asked)
{
	struct pm_where where;
	uint64_t address;

	if (!where_of(r, rec, asked, &where, &address))
		return NULL;
	return pm_map_at(r->machine, &where, address);
}

static void view_of_map(struct pm_resolver *r, const struct pd_record *rec,
			const struct pd_asked *asked, struct pd_value *out)
{
	if (!map_of(r, rec, asked))
		return;
	out->type = PD_VIEW;
	out->view = (struct pd_view){ .desc = &pd_view_map, .rec = rec };
}

static void part_of_map(struct pm_resolver *r, const struct pd_record *rec,
			const struct pd_asked *asked, struct pd_value *out)
{
	const struct pm_map *map = map_of(r, rec, asked);

	if (map)
		pm_map_member(map, asked->field, out);
}

void pm_map_member(const struct pm_map *map, uint32_t field, struct pd_value *out)
{
	const struct ps_build_id *id = &map->dso->id.build_id;

	switch (field) {
	case PD_M_MAP_START:
		set_integer(out, PD_ADDR, map->start);
		break;
	case PD_M_MAP_LEN:
		set_integer(out, PD_UINT, map->end - map->start);
		break;
	case PD_M_MAP_PGOFF:
		set_integer(out, PD_ADDR, map->pgoff);
		break;
	case PD_M_MAP_FILENAME:
		set_text(out, map->filename);
		break;
	case PD_M_MAP_BUILD_ID:
		if (!id->size)
			break;
		out->type = PD_HEX;
		out->s.p = (const char *)id->bytes;
		out->s.n = id->size;
		break;
	case PD_M_MAP_PROT:
		if (map->prot)
			set_integer(out, PD_UINT, map->prot);
		break;
	}
}

static void chain_of(struct pm_resolver *r, const struct pd_record *rec,
		     const struct pd_asked *asked, struct pd_value *out)
{
	struct pd_text text;

	if (!pm_chain_text(r, rec, (enum pd_machine_field)asked->field, &text))
		return;
	out->type = PD_STR;
	out->s.p = text.p;
	out->s.n = text.n;
}

static void unresolved_of(struct pm_resolver *r, const struct pd_record *rec,
			  const struct pd_asked *asked, struct pd_value *out)
{
	struct pm_spot spot;

	if (spot_of(r, rec, asked, &spot) && !symbol_at(r, &spot))
		set_integer(out, PD_ADDR, spot.address);
}

static void guest_of(struct pm_resolver *r, const struct pd_record *rec,
		     const struct pd_asked *asked, struct pd_value *out)
{
	int32_t pid, vcpu;

	if (pm_guest_of(r->machine, rec, &pid, &vcpu))
		set_integer(out, PD_UINT, (uint64_t)(asked->field == PD_M_VCPU ? vcpu : pid));
}

static void message_of(struct pm_resolver *r, const struct pd_record *rec,
		       const struct pd_asked *asked, struct pd_value *out)
{
	/* as the newest perf has it */
	unsigned as = PD_TEXT_ARRAY_AS_KERNEL | PD_TEXT_CONVERSIONS;
	struct pd_text text;

	(void)asked;
	if (!pm_message(r, rec, as, &text))
		return;
	out->type = PD_STR;
	out->s.p = text.p;
	out->s.n = text.n;
}

void pm_field(struct pm_resolver *r, const struct pd_record *rec, const struct pd_asked *asked,
	      struct pd_value *out)
{
	static field_fn *const fields[] = {
		[PD_M_COMM] = comm_of,
		[PD_M_CGROUP_PATH] = cgroup_path_of,
		[PD_M_SYMBOL] = symbol_of,
		[PD_M_SYMOFF] = symoff_of,
		[PD_M_DSO] = dso_of,
		[PD_M_SRCLINE] = srcline_of,
		[PD_M_MAP] = view_of_map,
		[PD_M_MAP_START] = part_of_map,
		[PD_M_MAP_LEN] = part_of_map,
		[PD_M_MAP_PGOFF] = part_of_map,
		[PD_M_MAP_FILENAME] = part_of_map,
		[PD_M_MAP_BUILD_ID] = part_of_map,
		[PD_M_MAP_PROT] = part_of_map,
		[PD_M_SYMBOL_DADDR] = symbol_of,
		[PD_M_DSO_DADDR] = dso_of,
		[PD_M_STACK] = chain_of,
		[PD_M_ANNOTATED_STACK] = chain_of,
		[PD_M_FRAMES] = chain_of,
		[PD_M_UNRESOLVED] = unresolved_of,
		[PD_M_MACHINE_PID] = guest_of,
		[PD_M_VCPU] = guest_of,
		[PD_M_MESSAGE] = message_of,
	};
	uint32_t field = asked->field; /* what is asked may lie in *out */
	struct pd_asked copy = *asked;

	out->type = PD_NIL;
	if (field < sizeof(fields) / sizeof(fields[0]) && fields[field])
		fields[field](r, rec, &copy, out);
}
