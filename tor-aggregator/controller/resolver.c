#include "tor-aggregator/controller/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A token is a growing number, followed by the index in the table. */
#define PLACE_MASK (RESOLVER_MAX_PENDING - 1)

struct question {
	bool waiting;
	uint64_t token; /* the token sent to the controller */
	rm_mono_t deadline;
	struct resolver_asker asker;
};

struct resolver {
	uint64_t next; /* next number for a token */
	struct question questions[RESOLVER_MAX_PENDING];
	struct resolver_counts counts;
};

int
resolver_new(uint64_t seed, struct resolver **ret)
{
	struct resolver *resolver = calloc(1, sizeof(*resolver));

	if (resolver == NULL)
		return -ENOMEM;
	resolver->next = seed;
	*ret = resolver;
	return 0;
}

void
resolver_free(struct resolver *resolver)
{
	free(resolver);
}

int
resolver_ask(struct resolver *resolver, rm_mono_t now,
    const struct resolver_asker *asker, uint64_t *token)
{
	struct question *place = NULL;
	size_t of_agent = 0;

	for (size_t i = 0; i < RESOLVER_MAX_PENDING; i++) {
		struct question *question = &resolver->questions[i];

		if (!question->waiting)
			place = question;
		else if (strcmp(question->asker.host, asker->host) == 0)
			of_agent++;
	}
	if (place == NULL || of_agent >= RESOLVER_MAX_PER_AGENT) {
		resolver->counts.refused++;
		return -ENOSPC;
	}
	*place = (struct question){
		.waiting = true,
		.token = resolver->next++ * RESOLVER_MAX_PENDING +
			 (uint64_t)(place - resolver->questions),
		.deadline = rm_mono_add(now, RESOLVER_TIMEOUT_NS),
		.asker = *asker,
	};
	resolver->counts.asked++;
	*token = place->token;
	return 0;
}

bool
resolver_answered(struct resolver *resolver, uint64_t token, struct resolver_asker *ret)
{
	struct question *question = &resolver->questions[token & PLACE_MASK];

	if (!question->waiting || question->token != token) {
		resolver->counts.unknown++;
		return false;
	}
	question->waiting = false;
	resolver->counts.answered++;
	*ret = question->asker;
	return true;
}

bool
resolver_expired(struct resolver *resolver, rm_mono_t now, struct resolver_asker *ret)
{
	for (size_t i = 0; i < RESOLVER_MAX_PENDING; i++) {
		struct question *question = &resolver->questions[i];

		if (!question->waiting || rm_mono_since(now, question->deadline) < 0)
			continue;
		question->waiting = false;
		resolver->counts.expired++;
		*ret = question->asker;
		return true;
	}
	return false;
}

const struct resolver_counts *
resolver_counts(const struct resolver *resolver)
{
	return &resolver->counts;
}
