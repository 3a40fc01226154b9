/*
 * mesh - which RNICs of a rack probe each other: a rotation that covers all pairs.
 * Pure.
 *
 * Circulant rounds: in rotation t, RNIC i probes (i + d) mod n for the next `peers`
 * distances d of 1 .. n-1, so every RNIC probes and is probed by exactly
 * min(peers, n-1) others at a time, and all n(n-1) ordered pairs are covered in
 * ceil((n-1) / peers) rotations. Pairs that the caller refuses (same host, no common
 * address family) are left out, never replaced by another.
 */
#ifndef RACKMESH_JUDGE_MESH_H
#define RACKMESH_JUDGE_MESH_H

#include <stddef.h>
#include <stdint.h>

/* The `slot`-th target of member i (slot below min(peers, n-1)), as an index below n.
 */
size_t rm_mesh_target(size_t n, size_t peers, uint64_t rotation, size_t i, size_t slot);

/* The rotation at a wall-clock second, so that both aggregators of a rack have the
 * same. */
uint64_t rm_mesh_rotation(int64_t wall_s, uint32_t rotation_s);

#endif
