// GET requests to the analyzer's HTTP API (docs/api.md). The page never changes anything there.

const PATIENCE_MS = 8000;

// There is no usable answer. The message is a sentence for the operator. status: the HTTP status,
// undefined if there was no answer.
export class NoAnswer extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function answerTo(path, patience_ms, read) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience_ms);
  try {
    const answer = await fetch(path, { signal: stop.signal, cache: "no-store" });
    if (answer.ok) return await read(answer);
    const json = await answer.json().catch(() => null);
    throw new NoAnswer(json?.error ?? `the analyzer answered with HTTP status ${answer.status}`, answer.status);
  } catch (error) {
    if (stop.signal.aborted) throw new NoAnswer(`no answer within ${patience_ms / 1000} s`);
    if (error instanceof TypeError) throw new NoAnswer("the analyzer cannot be reached");
    if (error instanceof SyntaxError) throw new NoAnswer("the analyzer’s answer is not JSON");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

// Both throw NoAnswer, also if the body of the answer ends early or takes too long.
export const ask = (path, patience_ms = PATIENCE_MS) => answerTo(path, patience_ms, (answer) => answer.json());
export const askText = (path) => answerTo(path, PATIENCE_MS, (answer) => answer.text());
