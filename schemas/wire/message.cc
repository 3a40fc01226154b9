#include "schemas/wire/message.h"

#include "schemas/wire/message_internal.h"

#include <new>

namespace
{

const size_t size_bytes = sizeof(flatbuffers::uoffset_t);
/* The size, the offset of the root, and the identifier. */
const size_t identifier_at = 2 * size_bytes;
const size_t head_bytes = identifier_at + flatbuffers::kFileIdentifierLength;

const struct {
	enum wire_kind kind;
	const char *identifier;
} identifiers[] = {
	{ WIRE_HELLO, "RMH1" },
	{ WIRE_WELCOME, "RMW1" },
	{ WIRE_REGISTER, "RMG1" },
	{ WIRE_BATCH, "RMB1" },
	{ WIRE_ACK, "RMK1" },
	{ WIRE_HEARTBEAT, "RMT1" },
	{ WIRE_COUNTS, "RMC1" },
	{ WIRE_PINGLIST, "RML1" },
	{ WIRE_FOCUS, "RMF1" },
	{ WIRE_PING, "RMQ1" },
	{ WIRE_PLAN, "RMP1" },
	{ WIRE_SUMMARY, "RMS1" },
	{ WIRE_INCIDENT, "RMI1" },
	{ WIRE_PATHS, "RMX1" },
	{ WIRE_BRAKE, "RMJ1" },
	{ WIRE_RESOLVE, "RMV1" },
	{ WIRE_RESOLVE_ANSWER, "RMA1" },
	{ WIRE_DRILL, "RMD1" },
	{ WIRE_DRILL_ANSWER, "RMN1" },
	{ WIRE_SERVICES, "RMU1" },
	{ WIRE_JOIN, "RMO1" },
	{ WIRE_TRACED, "RMY1" },
	{ WIRE_KEYS, "RMZ1" },
	{ WIRE_STANDING, "RME1" },
	{ WIRE_VERSIONS, "RMR1" },
	{ WIRE_PLACE, "RMM1" },
	{ WIRE_PLACE_ANSWER, "RMm1" },
	{ WIRE_COUNTER_REPORT, "RMC2" },
};

} /* namespace */

enum wire_kind
wire_kind_of(const uint8_t *data, size_t len)
{
	if (data == nullptr || len < head_bytes)
		return WIRE_UNKNOWN;
	for (const auto &known : identifiers)
		if (memcmp(data + identifier_at, known.identifier,
			flatbuffers::kFileIdentifierLength) == 0)
			return known.kind;
	return WIRE_UNKNOWN;
}

/* "RM", a letter, a digit. */
bool
wire_is_newer(const uint8_t *data, size_t len)
{
	if (data == nullptr || len < head_bytes ||
	    wire_kind_of(data, len) != WIRE_UNKNOWN)
		return false;
	data += identifier_at;
	return data[0] == 'R' && data[1] == 'M' && data[2] >= 'A' && data[2] <= 'Z' &&
	       data[3] >= '0' && data[3] <= '9';
}

struct wire_writer *
wire_writer_new(void)
try {
	return new wire_writer;
} catch (...) {
	return nullptr;
}

void
wire_writer_free(struct wire_writer *writer)
{
	delete writer;
}

void
wire::begin(wire_writer *writer)
{
	writer->fbb.Clear();
	/* Otherwise a message without a 64-bit field would only be aligned to 4. */
	writer->fbb.TrackMinAlign(8);
	writer->error = 0;
}

void
wire::refuse(wire_writer *writer, int error)
{
	if (writer->error == 0)
		writer->error = error;
}

int
wire::out_of_memory(wire_writer *writer)
{
	/* A builder whose buffer could not grow does not notice that the buffer is
	 * freed. */
	writer->fbb.Reset();
	return -ENOMEM;
}

int
wire::finish(
    wire_writer *writer, offset<void> root, enum wire_kind kind, struct wire_bytes *out)
{
	const char *identifier = nullptr;

	if (writer->error < 0)
		return writer->error;
	for (const auto &known : identifiers)
		if (known.kind == kind)
			identifier = known.identifier;
	writer->fbb.FinishSizePrefixed(root, identifier);
	if (writer->fbb.GetSize() > WIRE_MAX_BYTES)
		return -EMSGSIZE;
	out->data = writer->fbb.GetBufferPointer();
	out->len = writer->fbb.GetSize();
	return 0;
}

wire::offset<flatbuffers::String>
wire::text(wire_writer *writer, const char *string)
{
	size_t len;

	if (string == nullptr)
		return 0;
	len = strnlen(string, WIRE_MAX_STRING);
	if (len == WIRE_MAX_STRING) {
		refuse(writer, -EMSGSIZE);
		return 0;
	}
	if (len == 0)
		return 0;
	return writer->fbb.CreateString(string, len);
}

bool
wire::counted(wire_writer *writer, const void *items, size_t count, size_t max)
{
	if (count > max)
		refuse(writer, -EMSGSIZE);
	else if (count > 0 && items == nullptr)
		refuse(writer, -EINVAL);
	return count > 0 && writer->error == 0;
}

uint32_t
wire::bounded(wire_writer *writer, uint32_t number, uint32_t max)
{
	if (number > max)
		refuse(writer, -EINVAL);
	return number;
}

void
wire::checker::refuse(int e)
{
	if (error == 0)
		error = e;
}

void
wire::checker::text(const flatbuffers::String *string)
{
	if (string == nullptr)
		return;
	if (string->size() >= WIRE_MAX_STRING || string->size() > text_budget) {
		refuse(-EMSGSIZE);
		return;
	}
	text_budget -= string->size();
	/* C would read a shorter string than the sender has written. */
	if (memchr(string->data(), 0, string->size()) != nullptr)
		refuse(-EBADMSG);
}

void
wire::checker::choice(unsigned number, unsigned min, unsigned max)
{
	if (number < min || number > max)
		refuse(-EBADMSG);
}

const char *
wire::string(const flatbuffers::String *text)
{
	return text == nullptr ? "" : text->c_str();
}

int
wire::check_bytes(const uint8_t *data, size_t len, enum wire_kind kind)
{
	/* The verifier only checks alignment relative to the start of the bytes. */
	if (reinterpret_cast<uintptr_t>(data) % 8 != 0)
		return -EINVAL;
	if (len > WIRE_MAX_BYTES)
		return -EMSGSIZE;
	if (wire_kind_of(data, len) != kind)
		return -EBADMSG;
	return 0;
}
