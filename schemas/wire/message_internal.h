/*
 * message_internal - functions for writing and opening messages of all kinds.
 *
 * Private to schemas/. A message is a FlatBuffer with a size prefix, whose length is a
 * multiple of 8. With the prefix a missing and an extra byte are noticed, which the
 * verifier alone does not notice. After an error the functions continue with empty
 * values; wire::finish, or the checker, returns the first error.
 */
#ifndef SCHEMAS_WIRE_MESSAGE_INTERNAL_H
#define SCHEMAS_WIRE_MESSAGE_INTERNAL_H

#include <cerrno>
#include <cstring>
#include <flatbuffers/flatbuffers.h>
#include <vector>

#include "schemas/wire/message.h"

struct wire_writer {
	flatbuffers::FlatBufferBuilder fbb;
	std::vector<flatbuffers::Offset<void>> offsets; /* the tables of one vector */
	int error = 0;
};

namespace wire
{

template <typename T> using offset = flatbuffers::Offset<T>;
template <typename T> using vector = flatbuffers::Vector<T>;

/* ---- writing ------------------------------------------------------------ */

void begin(wire_writer *writer);
void refuse(wire_writer *writer, int error);
/* For the catch clause of a writer: resets the writer, and returns -ENOMEM. */
int out_of_memory(wire_writer *writer);
/* Completes the message after its last table, and sets *out to its bytes. */
int finish(wire_writer *writer, offset<void> root, enum wire_kind kind,
    struct wire_bytes *out);

/* NULL and "" mean the same: the string is absent. */
offset<flatbuffers::String> text(wire_writer *writer, const char *string);
/* True: there are items to write. More than max are an error. */
bool counted(wire_writer *writer, const void *items, size_t count, size_t max);

/* The caller's enum may have any value; loading a value that the enum does not define
 * is undefined behaviour in C++. */
template <typename E>
uint8_t
choice(wire_writer *writer, const E &value, unsigned min, unsigned max)
{
	static_assert(sizeof(E) == sizeof(unsigned), "a C enum is an unsigned here");
	unsigned number;

	memcpy(&number, &value, sizeof(number));
	if (number < min || number > max) {
		refuse(writer, -EINVAL);
		number = min;
	}
	return static_cast<uint8_t>(number);
}

/* Returns the value; a value above max is an error. */
uint32_t bounded(wire_writer *writer, uint32_t number, uint32_t max);

template <typename T>
offset<vector<T>>
numbers(wire_writer *writer, const T *items, size_t count, size_t max)
{
	if (!counted(writer, items, count, max))
		return 0;
	return writer->fbb.CreateVector(items, count);
}

/* The struct in C and the struct of the schema have the same layout: see layout.cc. */
template <typename T, typename C>
offset<vector<const T *>>
structs(wire_writer *writer, const C *items, size_t count, size_t max)
{
	static_assert(sizeof(T) == sizeof(C), "same layout");
	if (!counted(writer, items, count, max))
		return 0;
	return writer->fbb.CreateVectorOfStructs(
	    reinterpret_cast<const T *>(items), count);
}

/* put(writer, item) writes one table; it must not use writer->offsets. */
template <typename T, typename C>
offset<vector<offset<T>>>
tables(wire_writer *writer, const C *items, size_t count, size_t max,
    offset<T> (*put)(wire_writer *, const C &))
{
	if (!counted(writer, items, count, max))
		return 0;
	writer->offsets.clear();
	writer->offsets.reserve(count);
	for (size_t i = 0; i < count; i++) {
		writer->offsets.push_back(put(writer, items[i]).Union());
		if (writer->fbb.GetSize() > WIRE_MAX_BYTES)
			refuse(writer, -EMSGSIZE);
		if (writer->error < 0)
			return 0;
	}
	return writer->fbb.CreateVector(writer->offsets.data(), count).o;
}

/* ---- opening ------------------------------------------------------------ */

/* Checks values while a message is opened, after the verifier has checked the
 * structure. */
struct checker {
	int error = 0;
	/* A message may refer to one string many times, so reading each reference could
	 * take far longer than the message's length suggests. */
	size_t text_budget = WIRE_MAX_BYTES;

	void refuse(int e);
	void text(const flatbuffers::String *string);
	void choice(unsigned number, unsigned min, unsigned max);

	/* The verifier checks the alignment of a vector's count, not of its elements;
	 * an empty vector has no elements to check. */
	template <typename T> void elements(const vector<T> *items, size_t max)
	{
		using element = std::remove_const_t<std::remove_pointer_t<T>>;

		if (items == nullptr || items->size() == 0)
			return;
		if (items->size() > max)
			refuse(-EMSGSIZE);
		if (reinterpret_cast<uintptr_t>(items->Data()) % alignof(element) != 0)
			refuse(-EBADMSG);
	}

	template <typename T>
	void each(const vector<offset<T>> *items, size_t max,
	    void (*check)(checker *, const T *))
	{
		elements(items, max);
		for (size_t i = 0; i < count(items) && error == 0; i++)
			check(this, items->Get(static_cast<uint32_t>(i)));
	}

	template <typename T> static size_t count(const vector<T> *items)
	{
		return items == nullptr ? 0 : items->size();
	}
};

template <typename T>
size_t
count(const vector<T> *items)
{
	return checker::count(items);
}

/* Returns a pointer into the message; NULL if there are no items. */
template <typename C, typename T>
const C *
borrow(const vector<T> *items)
{
	if (count(items) == 0)
		return nullptr;
	return reinterpret_cast<const C *>(items->Data());
}

const char *string(const flatbuffers::String *text);

/* Checks of the bytes that need no schema. */
int check_bytes(const uint8_t *data, size_t len, enum wire_kind kind);

/*
 * max_tables limits the work of the verifier, which runs before the limits are checked.
 * It is twice the number that the limits allow, so that a message that is somewhat too
 * large gives -EMSGSIZE, and not -EBADMSG.
 */
template <typename T>
int
open(const uint8_t *data, size_t len, enum wire_kind kind, size_t tables, const T **ret)
{
	flatbuffers::Verifier::Options options;
	int r;

	r = check_bytes(data, len, kind);
	if (r < 0)
		return r;
	options.max_depth = 8;
	options.max_tables = static_cast<flatbuffers::uoffset_t>(2 * tables);
	flatbuffers::Verifier verifier(data, len, options);
	if (!verifier.VerifySizePrefixedBuffer<T>(nullptr))
		return -EBADMSG;
	*ret = flatbuffers::GetSizePrefixedRoot<T>(data);
	return 0;
}

} /* namespace wire */

#endif
