/* Shared by the files that write Chrome's trace events. */
#ifndef PERFLUA_EXPORT_CHROME_H
#define PERFLUA_EXPORT_CHROME_H

#include "perfdata/format/print.h"

/* Prints microseconds with three digits after the point. */
void pe_chrome_time(struct pd_print *out, uint64_t ns);

#endif
