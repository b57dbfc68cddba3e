/*
 * The outcome of work that its caller may stop, or that has a fast and a safe implementation.
 */
#ifndef PERFLUA_BASE_OUTCOME_H
#define PERFLUA_BASE_OUTCOME_H

enum pb_outcome {
	PB_OK,
	PB_STOPPED, /* progress said no: what was done until then counts */
	/* it cannot be done in this way: nothing counts, one thread is to do it */
	PB_RETRY_SERIAL,
	PB_FAILED, /* see err */
};

#endif
