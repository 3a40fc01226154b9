/*
 * identity_internal - writes and reads RNICs, addresses and lane heads, in any message.
 *
 * Private to schemas/. put_ functions write; check_ functions check while a message is
 * opened; get_ functions read parts that were checked.
 */
#ifndef SCHEMAS_WIRE_IDENTITY_INTERNAL_H
#define SCHEMAS_WIRE_IDENTITY_INTERNAL_H

#include "identity_generated.h"
#include "schemas/wire/identity.h"
#include "schemas/wire/message_internal.h"

namespace wire
{

/* An RNIC and its attachments. */
const size_t tables_per_rnic = 1 + WIRE_MAX_ATTACHMENTS;

rackmesh::RnicId put_id(const struct wire_rnic_id &id);
void get_id(const rackmesh::RnicId *from, struct wire_rnic_id *out);

rackmesh::Address put_address(wire_writer *writer, const struct wire_address &address);
void check_address(checker *check, const rackmesh::Address *address);
void get_address(const rackmesh::Address *from, struct wire_address *out);

offset<rackmesh::Rnic> put_rnic(wire_writer *writer, const struct wire_rnic &rnic);
void check_rnic(checker *check, const rackmesh::Rnic *rnic);
void get_rnic(const rackmesh::Rnic *from, struct wire_rnic *out);

offset<rackmesh::LaneHead> put_lane(
    wire_writer *writer, const struct wire_lane_head &head);
void check_lane(checker *check, const rackmesh::LaneHead *head);
void get_lane(const rackmesh::LaneHead *from, struct wire_lane_head *out);

} /* namespace wire */

#endif
