/*
 * random - unpredictable bits for epochs, SSIDs and jitter.
 */
#ifndef RACKMESH_CORE_RANDOM_H
#define RACKMESH_CORE_RANDOM_H

#include <stdint.h>

uint64_t rm_random_u64(void); /* getrandom(2) */

#endif
