/*
 * A machine that is read while it is asked: records come as they lie in a recording, and are
 * added to it in the order of time, up to a time that nothing later goes back behind. What was
 * answered until then is what the machine says when all of it was read; if it cannot be sure of
 * that, it says so, and all answers are void.
 */
#ifndef PERFLUA_MACHINE_INCOMING_H
#define PERFLUA_MACHINE_INCOMING_H

#include "perfdata/container/session.h"

struct pm_machine;

struct pm_incoming;

/* Can the recordings of a session be read so, if samples ask and nothing else? */
bool pm_can_come(const struct pd_session *session);

/* For a machine to which nothing was added, of such a session. NULL: no memory. */
struct pm_incoming *pm_incoming_create(struct pm_machine *machine);
void pm_incoming_destroy(struct pm_incoming *incoming);

/*
 * A record came, bound to its event; `last` is the time of the one before it that has one, 0:
 * none has. False: void.
 */
bool pm_incoming_meet(struct pm_incoming *incoming, const struct pd_record *rec, uint64_t last);

/*
 * Samples that are not later than `time` are going to ask: adds what came until then, if it is
 * of such a time. Of UINT64_MAX it is all; then the machine is read. False: void.
 */
bool pm_incoming_until(struct pm_incoming *incoming, uint64_t time);

#endif
