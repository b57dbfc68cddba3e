/* The tables, indexes and views of a database of samples, as SQL. */
#ifndef PERFLUA_SQLITE_SCHEMA_H
#define PERFLUA_SQLITE_SCHEMA_H

/* The tables but `samples`, whose further columns depend on what is written. */
extern const char pt_tables[];
extern const char pt_samples_table[];
/* Made once the rows are there, which takes less time. */
extern const char pt_indexes[];
extern const char pt_views[];

#endif
