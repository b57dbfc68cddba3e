#include "rows_plain.h"

#include <stdlib.h>

bool pq_plain_rows_init(struct pq_plain_rows *plain, size_t n)
{
	for (size_t i = 0; i < PQ_PLAIN_ROWS; i++) {
		plain->rows[i].loads = calloc(n ? n : 1, sizeof(*plain->rows[i].loads));
		if (!plain->rows[i].loads)
			return false;
	}
	return true;
}

void pq_plain_rows_deinit(struct pq_plain_rows *plain)
{
	for (size_t i = 0; i < PQ_PLAIN_ROWS; i++)
		free(plain->rows[i].loads);
}

void pq_plain_row_bind(struct pq_plain_row *row, const struct pq_bound *bound,
		       const uint32_t *numbers, size_t n)
{
	row->bound = bound;
	row->end = row->raw_least = row->raw_at = 0;
	for (size_t i = 0; i < n; i++) {
		const struct pq_load *load;

		if (numbers[i] == UINT32_MAX) {
			row->end = UINT32_MAX;
			return;
		}
		load = &bound->loads[numbers[i]];
		if (load->read == pq_read_nothing) { /* of another event, most likely */
			row->loads[i] = (struct pq_plain_load){ .is_constant = true };
			continue;
		}
		/* recordings of the other byte order are rare, so they take the slow way */
		if (load->end == UINT32_MAX || load->swap) {
			row->end = UINT32_MAX;
			return;
		}
		row->loads[i] = (struct pq_plain_load){
			.constant = load->constant.i,
			.type = PQ_INT,
			.at = load->at,
			.narrow = load->narrow,
			.wide = load->wide,
			.is_constant = load->is_constant,
			.is_signed = load->is_signed,
		};
		if (load->raw_at) /* a sample has one piece of raw data */
			row->raw_at = load->raw_at;
		if (load->raw_least > row->raw_least)
			row->raw_least = load->raw_least;
		if (load->end > row->end)
			row->end = load->end;
	}
}
