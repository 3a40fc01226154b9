/*
 * localise_known - what of the losses is explained by what has been named. Pure.
 */
#ifndef ANALYZER_LOCALISE_LOCALISE_KNOWN_H
#define ANALYZER_LOCALISE_LOCALISE_KNOWN_H

#include "analyzer/localise/localise_state.h"

/* Of slow losses. arg: the struct localise. */
enum localise_known localise_known_slow(
    const struct localise_way *way, const struct localise_sum *sum, void *arg);

/* A way that something else that is blamed, or named, is on needs no name. */
bool localise_is_needless(const struct localise *localise,
    const struct localise_case *c, const struct rm_explanation *explanation,
    const struct localise_suspect *path);

#endif
