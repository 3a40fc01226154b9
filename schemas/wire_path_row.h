/*
 * wire_path_row - the paths and the state of a rack inside its summary.
 *
 * Private to schemas/. put_ writes, check_ is for opening, get_ reads what was
 * checked. Neither was there in the first version: absent is none.
 */
#ifndef SCHEMAS_WIRE_PATH_ROW_H
#define SCHEMAS_WIRE_PATH_ROW_H

#include "schemas/wire_message.h"

#include "summary_generated.h"

namespace wire
{

offset<rackmesh::PathRow> put_path_row(
    wire_writer *writer, const struct wire_path_row &row);
void check_path_row(checker *check, const rackmesh::PathRow *row);

/* What summary->has_state says it is: 0 for none. */
offset<rackmesh::RackState> put_rack_state(
    wire_writer *writer, const struct wire_summary &summary);
/* Sets has_state and state. */
void get_rack_state(const rackmesh::RackState *from, struct wire_summary *out);

} /* namespace wire */

#endif
