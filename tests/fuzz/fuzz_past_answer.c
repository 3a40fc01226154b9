/*
 * The server at influx.url may answer anything to a query, and a file of the history
 * may contain anything: the result is JSON with whole rows, or an error.
 *
 * Input: the measurement, the source of the answer, then the body, or the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analyzer/history/history_schema.h"
#include "analyzer/past/past_answer.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check(const struct past_question *question, const char *text)
{
	json_t *json = json_loads(text, 0, NULL), *row;
	const size_t columns = json_array_size(json_object_get(json, "columns"));
	const json_t *rows = json_object_get(json, "rows");
	size_t i;

	if (columns < (question->step_ns != 0 ? 1 : 2) ||
	    json_array_size(rows) > question->limit)
		abort();
	json_array_foreach (rows, i, row)
		if (json_array_size(row) != columns ||
		    !json_is_string(json_array_get(row, 0)))
			abort();
	json_decref(json);
}

static int
read_files(const struct past_question *question, struct fuzz_bytes *bytes, char **text)
{
	char folder[FUZZ_FOLDER_BYTES];
	struct rm_error error;
	int r;

	fuzz_folder_make(folder);
	fuzz_folder_write(folder,
	    question->measurement->retention == HISTORY_RAW ? "rackmesh.lp"
							    : "incidents.lp",
	    bytes->at, bytes->left);
	r = past_answer_files(question, folder, text, &error);
	fuzz_folder_remove(folder);
	if (r < 0)
		abort(); /* torn lines are skipped */
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	struct past_question question = { .to = { INT64_MAX }, .limit = 3 };
	size_t count = 0;
	struct rm_error error;
	char *text = NULL;
	unsigned how;
	int r;

	while (history_measurements[count].name != NULL)
		count++;
	question.measurement = &history_measurements[fuzz_below(&bytes, count)];
	how = fuzz_u8(&bytes);
	if ((how & 4) != 0) {
		question.to.ns = INT64_C(10000000) * RM_NS_PER_S;
		question.step_ns = INT64_C(1000000) * RM_NS_PER_S;
	}
	if ((how & 4) != 0 && (how & 16) != 0)
		question.by = &question.measurement->columns[0]; /* a tag */
	if ((how & 8) != 0)
		strcpy(question.filter[PAST_REGION], "lab");
	if ((how & 1) != 0)
		r = read_files(&question, &bytes, &text);
	else
		r = ((how & 2) != 0 ? past_answer_victoria : past_answer_influx)(
		    &question, (const char *)bytes.at, bytes.left, &text, &error);
	if (r == 0)
		check(&question, text);
	free(text);
	return 0;
}
