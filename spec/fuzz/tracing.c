/* The formats of tracepoints, as the feature tracing_data holds them. */
#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pd_feature_context context = { 0 };

	for (int swap = 0; swap < 2; swap++) {
		context.swap = swap;
		fuzz_feature(pd_feature_by_name("tracing_data"), bytes, n, &context);
	}
	return 0;
}
