import { ResponseTooLargeError } from './bounded-body.ts';

/** More than any honest answer: a scorecard of ten years is a third of it. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * The JSON of an answer, read no further than a limit, so that whoever answers cannot fill the memory.
 * @throws AnswerTooLong when it is longer; Error when it breaks off, or is no JSON
 */
export async function readJson(response: Response, maxBytes = MAX_BYTES): Promise<unknown> {
  return (await readMeasuredJson(response, maxBytes)).value;
}

/** The same, with how long it was. */
export async function readMeasuredJson(response: Response, maxBytes: number): Promise<{ value: unknown; bytes: number }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) throw new ResponseTooLargeError(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return { value: JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))), bytes };
  } catch {
    throw new Error('the answer is no JSON');
  }
}
