#include "adopt.h"

#include "perfdata/stream/bind.h"

static bool has_equal_layout(const struct pd_record *a, const struct pd_record *b)
{
	const struct pd_shape *x = a->layout->shape, *y = b->layout->shape;

	return a->layout->trailer_size == b->layout->trailer_size &&
	       x->sample_type == y->sample_type && x->read_format == y->read_format &&
	       x->branch_sample_type == y->branch_sample_type && x->regs_user == y->regs_user &&
	       x->regs_intr == y->regs_intr && x->counters == y->counters &&
	       x->defer == y->defer;
}

bool pw_adopt(const struct pd_file *like, struct pd_record *rec, struct pd_error *err)
{
	struct pd_record own = *rec;
	struct pd_binder binder;
	bool fits = rec->layout->swap == like->swap && !pd_payload_size(rec);

	if (fits) {
		pd_binder_init(&binder, like);
		pd_bind(&binder, &own);
	}
	if (!fits || !own.event || !has_equal_layout(rec, &own))
		return pd_error_set(err, "EINVAL", like->path, PD_NO_OFFSET,
				    "found a record of another recording, whose event this one "
				    "does not have");
	own.stream = 0;
	*rec = own;
	return true;
}
