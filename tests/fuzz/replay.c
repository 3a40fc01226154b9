/*
 * replay - runs a fuzz target over the files of its corpus, without libFuzzer, so that
 * every build, also gcc's, checks that old findings stay fixed.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define REPLAY_MAX_BYTES (1 << 20)

static int
replay_file(const char *path)
{
	uint8_t *data = malloc(REPLAY_MAX_BYTES);
	FILE *f = fopen(path, "rb");
	size_t len = 0;

	if (data == NULL || f == NULL) {
		fprintf(stderr, "cannot read %s\n", path);
		free(data);
		if (f != NULL)
			fclose(f);
		return -1;
	}
	len = fread(data, 1, REPLAY_MAX_BYTES, f);
	fclose(f);
	/* A copy of exact size, so that a sanitizer finds reads beyond it. */
	uint8_t *exact = malloc(len ? len : 1);

	if (exact == NULL) {
		free(data);
		return -1;
	}
	for (size_t i = 0; i < len; i++)
		exact[i] = data[i];
	free(data);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	return 0;
}

int
main(int argc, char **argv)
{
	struct dirent *entry;
	unsigned replayed = 0;
	DIR *dir;

	if (argc != 2 || (dir = opendir(argv[1])) == NULL) {
		fprintf(stderr, "usage: %s <corpus folder>\n", argv[0]);
		return EXIT_FAILURE;
	}
	while ((entry = readdir(dir)) != NULL) {
		char path[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		if (replay_file(path) < 0) {
			closedir(dir);
			return EXIT_FAILURE;
		}
		replayed++;
	}
	closedir(dir);
	printf("%u inputs replayed\n", replayed);
	return replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
