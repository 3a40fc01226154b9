#include "rackmesh/judge/mesh.h"

size_t
rm_mesh_target(size_t n, size_t peers, uint64_t rotation, size_t i, size_t slot)
{
	size_t distances, first;

	if (n < 2)
		return i;
	distances = n - 1;
	if (peers > distances)
		peers = distances;
	/* The modulo before the product keeps the product from overflowing. */
	first = (size_t)(rotation % distances) * peers % distances;
	return (i + 1 + (first + slot) % distances) % n;
}

uint64_t
rm_mesh_rotation(int64_t wall_s, uint32_t rotation_s)
{
	if (wall_s < 0 || rotation_s == 0)
		return 0;
	return (uint64_t)wall_s / rotation_s;
}
