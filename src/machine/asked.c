#include "resolver.h"

#include "fields.h"
#include "internal.h"

static bool asks_data_address(const struct pd_asked *asked)
{
	return asked->field == PD_SYS_SYMBOL_DADDR || asked->field == PD_SYS_SYMOFF_DADDR ||
	       asked->field == PD_SYS_DSO_DADDR;
}

/*
 * Finds the address that is asked about, the record's ip or addr unless `asked` names one, and
 * its context. Returns false if the record has none.
 */
static bool find_asked_address(const struct pm_resolver *r, const struct pd_record *rec,
			       const struct pd_asked *asked, struct pm_addr_context *context,
			       uint64_t *address)
{
	const struct pm_field_ids *ids = &r->system->ids;
	bool data = asks_data_address(asked);
	int64_t v;

	pm_addr_context_of(r->system, rec, context);
	if (asked->of_address) {
		context->mode = (enum pd_cpumode)asked->mode;
		*address = asked->address;
		if (asked->is_implied)
			context->mode = pm_implied_mode(r->system, context, *address);
		return true;
	}
	context->any_mode = data;
	if (!pm_integer(rec, data ? ids->addr : ids->ip, &v))
		return false;
	*address = (uint64_t)v;
	return true;
}

static bool find_dso_address(struct pm_resolver *r, const struct pd_record *rec,
			     const struct pd_asked *asked, struct pm_dso_address *at)
{
	struct pm_addr_context context;
	uint64_t address;

	if (!find_asked_address(r, rec, asked, &context, &address))
		return false;
	pm_dso_at(r, &context, address, at);
	return true;
}

const struct pm_dso_address *pm_own_dso(struct pm_resolver *r, const struct pd_record *rec)
{
	static const struct pd_asked own_ip = { .field = PD_SYS_DSO };
	uint64_t revision = r->system->revision;

	if (!pm_is_at_position(&r->own.position, rec) || r->own.revision != revision) {
		r->own.position.is_set = false;
		if (!find_dso_address(r, rec, &own_ip, &r->own.at))
			return NULL;
		pm_set_position(&r->own.position, rec);
		r->own.revision = revision;
	}
	return &r->own.at;
}

bool pm_asked_dso(struct pm_resolver *r, const struct pd_record *rec,
		  const struct pd_asked *asked, struct pm_dso_address *at)
{
	const struct pm_dso_address *own;

	if (asked->of_address || asks_data_address(asked))
		return find_dso_address(r, rec, asked, at);
	own = pm_own_dso(r, rec);
	if (own)
		*at = *own;
	return own != NULL;
}

const struct ps_symbol *pm_asked_symbol(struct pm_resolver *r, const struct pd_record *rec,
					const struct pd_asked *asked, struct pm_dso_address *at)
{
	return pm_asked_dso(r, rec, asked, at) && at->dso ?
		       pm_symbol_at(r, at->dso, at->address, at->time) :
		       NULL;
}

const struct pm_map *pm_asked_map(struct pm_resolver *r, const struct pd_record *rec,
				  const struct pd_asked *asked)
{
	struct pm_addr_context context;
	uint64_t address;

	if (!find_asked_address(r, rec, asked, &context, &address))
		return NULL;
	return pm_map_at(r->system, &context, address);
}

const struct ps_line *pm_asked_line(struct pm_resolver *r, const struct pd_record *rec,
				    const struct pd_asked *asked)
{
	const struct ps_line *lines;
	struct pm_dso_address at;
	size_t n = 0;

	if (pm_asked_dso(r, rec, asked, &at) && at.dso)
		n = ps_dso_lines(at.dso, at.address, &lines);
	return n ? &lines[asked->of_address ? n - 1 : 0] : NULL;
}

size_t pm_inlined(struct pm_resolver *r, const struct pd_record *rec,
		  const struct pd_asked *asked, const struct ps_line **lines)
{
	struct pm_dso_address at;
	size_t n = 0;

	if (pm_asked_dso(r, rec, asked, &at) && at.dso)
		n = ps_dso_lines(at.dso, at.address, lines);
	return n ? n - 1 : 0; /* the last one is not inlined */
}
