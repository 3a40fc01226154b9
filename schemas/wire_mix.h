/*
 * wire_mix - the flows, classes and sizes that a target's probes take in turn.
 *
 * Private to schemas/. S is any of wire.h's structs with these three lists.
 */
#ifndef SCHEMAS_WIRE_MIX_H
#define SCHEMAS_WIRE_MIX_H

#include "schemas/wire_message.h"

#include "pinglist_generated.h"

namespace wire
{

template <typename S>
offset<rackmesh::Mix>
put_mix(wire_writer *writer, const S &from)
{
	auto flows = numbers(writer, from.flows, from.flow_count, WIRE_MAX_FLOWS);
	auto dscps = numbers(writer, from.dscps, from.dscp_count, WIRE_MAX_CLASSES);
	auto sizes = numbers(writer, from.sizes, from.size_count, WIRE_MAX_SIZES);

	return rackmesh::CreateMix(writer->fbb, flows, dscps, sizes);
}

inline void
check_mix(checker *check, const rackmesh::Mix *mix)
{
	check->elements(mix->flows(), WIRE_MAX_FLOWS);
	check->elements(mix->dscps(), WIRE_MAX_CLASSES);
	check->elements(mix->sizes(), WIRE_MAX_SIZES);
}

template <typename S>
void
get_mix(const rackmesh::Mix *mix, S *out)
{
	out->flows = borrow<uint16_t>(mix->flows());
	out->flow_count = count(mix->flows());
	out->dscps = borrow<uint8_t>(mix->dscps());
	out->dscp_count = count(mix->dscps());
	out->sizes = borrow<uint16_t>(mix->sizes());
	out->size_count = count(mix->sizes());
}

} /* namespace wire */

#endif
