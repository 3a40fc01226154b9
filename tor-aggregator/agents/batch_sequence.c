#include "tor-aggregator/agents/batch_sequence.h"

#include <stdbool.h>
#include <stdlib.h>

struct batch_sequence {
	bool known;
	uint64_t incarnation;
	uint64_t seq;
};

struct batch_sequence *
batch_sequence_new(void)
{
	return calloc(1, sizeof(struct batch_sequence));
}

void
batch_sequence_free(struct batch_sequence *sequence)
{
	free(sequence);
}

enum batch_sequence_status
batch_sequence_batch(
    struct batch_sequence *sequence, uint64_t incarnation, uint64_t seq, uint64_t *gap)
{
	bool restarted = !sequence->known || sequence->incarnation != incarnation;

	if (seq == 0)
		return BATCH_SEQUENCE_DUPLICATE;
	if (restarted) {
		if (sequence->known)
			*gap += seq - 1;
		sequence->known = true;
		sequence->incarnation = incarnation;
		sequence->seq = seq;
		return BATCH_SEQUENCE_RESTARTED;
	}
	if (seq <= sequence->seq)
		return BATCH_SEQUENCE_DUPLICATE;
	*gap += seq - sequence->seq - 1;
	sequence->seq = seq;
	return BATCH_SEQUENCE_COUNT;
}

uint64_t
batch_sequence_counted(const struct batch_sequence *sequence, uint64_t incarnation)
{
	if (!sequence->known || sequence->incarnation != incarnation)
		return 0;
	return sequence->seq;
}
