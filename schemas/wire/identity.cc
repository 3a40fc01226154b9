#include "schemas/wire/identity.h"

#include "schemas/wire/identity_internal.h"

namespace
{

size_t
address_bytes(uint8_t family)
{
	return family == 4 ? 4 : 16;
}

} /* namespace */

rackmesh::RnicId
wire::put_id(const struct wire_rnic_id &id)
{
	return rackmesh::RnicId(id.guid, id.port);
}

void
wire::get_id(const rackmesh::RnicId *from, struct wire_rnic_id *out)
{
	*out = {};
	out->guid = from->guid();
	out->port = from->port();
}

rackmesh::Address
wire::put_address(wire_writer *writer, const struct wire_address &address)
{
	uint8_t bytes[16] = {};

	if (address.family != 4 && address.family != 6)
		refuse(writer, -EINVAL);
	memcpy(bytes, address.bytes, address_bytes(address.family));
	return rackmesh::Address(
	    flatbuffers::span<const uint8_t, 16>(bytes), address.port, address.family);
}

void
wire::check_address(checker *check, const rackmesh::Address *address)
{
	if (address->family() != 4 && address->family() != 6)
		check->refuse(-EBADMSG);
}

void
wire::get_address(const rackmesh::Address *from, struct wire_address *out)
{
	/* The bytes behind an IPv4 address are zero, so that callers may compare all
	 * bytes. */
	*out = {};
	out->family = from->family();
	memcpy(out->bytes, from->bytes()->Data(), address_bytes(out->family));
	out->port = from->port();
}

wire::offset<rackmesh::Rnic>
wire::put_rnic(wire_writer *writer, const struct wire_rnic &rnic)
{
	flatbuffers::FlatBufferBuilder &fbb = writer->fbb;
	offset<rackmesh::Attachment> attachments[WIRE_MAX_ATTACHMENTS];
	rackmesh::Address addresses[WIRE_MAX_ADDRESSES];
	size_t attachment_count = 0, address_count = 0;

	if (counted(writer, rnic.tors, rnic.tor_count, WIRE_MAX_ATTACHMENTS))
		attachment_count = rnic.tor_count;
	if (counted(writer, rnic.addresses, rnic.address_count, WIRE_MAX_ADDRESSES))
		address_count = rnic.address_count;
	for (size_t i = 0; i < attachment_count; i++)
		attachments[i] =
		    rackmesh::CreateAttachment(fbb, text(writer, rnic.tors[i]));
	for (size_t i = 0; i < address_count; i++)
		addresses[i] = put_address(writer, rnic.addresses[i]);

	auto host = text(writer, rnic.host);
	auto device = text(writer, rnic.device);
	auto driver = text(writer, rnic.driver);
	auto plane = text(writer, rnic.plane);
	auto tors = fbb.CreateVector(attachments, attachment_count);
	auto where = fbb.CreateVectorOfStructs(addresses, address_count);
	auto id = put_id(rnic.id);
	auto qpn = bounded(writer, rnic.qpn, WIRE_MAX_QPN);
	auto large_qpn = bounded(writer, rnic.large_qpn, WIRE_MAX_QPN);
	auto link =
	    static_cast<rackmesh::PortLink>(bounded(writer, rnic.link, WIRE_LINK_DOWN));
	return rackmesh::CreateRnic(fbb, &id, host, device, driver, tors, plane, where,
	    qpn, rnic.mtu_bytes, rnic.incarnation, large_qpn, rnic.lid, link,
	    rnic.authenticates);
}

namespace
{

void
check_attachment(wire::checker *check, const rackmesh::Attachment *attachment)
{
	check->text(attachment->tor());
}

} /* namespace */

void
wire::check_rnic(checker *check, const rackmesh::Rnic *rnic)
{
	check->text(rnic->host());
	check->text(rnic->device());
	check->text(rnic->driver());
	check->text(rnic->plane());
	check->each(rnic->attachments(), WIRE_MAX_ATTACHMENTS, check_attachment);
	check->elements(rnic->addresses(), WIRE_MAX_ADDRESSES);
	check->choice(rnic->qpn(), 0, WIRE_MAX_QPN);
	check->choice(rnic->large_qpn(), 0, WIRE_MAX_QPN);
	check->choice(
	    static_cast<unsigned>(rnic->link()), WIRE_LINK_UNKNOWN, WIRE_LINK_DOWN);
	if (check->error < 0)
		return;
	for (uint32_t i = 0; i < count(rnic->addresses()); i++)
		check_address(check, rnic->addresses()->Get(i));
}

void
wire::get_rnic(const rackmesh::Rnic *from, struct wire_rnic *out)
{
	*out = {};
	get_id(from->id(), &out->id);
	out->host = string(from->host());
	out->device = string(from->device());
	out->driver = string(from->driver());
	out->plane = string(from->plane());
	for (const char *&tor : out->tors)
		tor = "";
	out->tor_count = count(from->attachments());
	for (uint32_t i = 0; i < out->tor_count; i++)
		out->tors[i] = string(from->attachments()->Get(i)->tor());
	out->address_count = count(from->addresses());
	for (uint32_t i = 0; i < out->address_count; i++)
		get_address(from->addresses()->Get(i), &out->addresses[i]);
	out->qpn = from->qpn();
	out->mtu_bytes = from->mtu_bytes();
	out->incarnation = from->incarnation();
	out->large_qpn = from->large_qpn();
	out->lid = from->lid();
	out->link = static_cast<uint8_t>(from->link());
	out->authenticates = from->authenticates();
}

wire::offset<rackmesh::LaneHead>
wire::put_lane(wire_writer *writer, const struct wire_lane_head &head)
{
	auto aggregator = text(writer, head.aggregator);
	auto region = text(writer, head.region);

	return rackmesh::CreateLaneHead(
	    writer->fbb, aggregator, region, head.incarnation, head.seq);
}

void
wire::check_lane(checker *check, const rackmesh::LaneHead *head)
{
	check->text(head->aggregator());
	check->text(head->region());
}

void
wire::get_lane(const rackmesh::LaneHead *from, struct wire_lane_head *out)
{
	out->aggregator = string(from->aggregator());
	out->region = string(from->region());
	out->incarnation = from->incarnation();
	out->seq = from->seq();
}
