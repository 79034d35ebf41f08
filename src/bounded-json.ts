/** More than any honest answer: a scorecard of ten years is a third of it. */
const MOST_BYTES = 16 * 2 ** 20;

/**
 * The JSON of an answer, read no further than a limit, so that whoever answers cannot fill the memory.
 * @throws Error when it is longer, breaks off, or is no JSON
 */
export async function boundedJson(response: Response, mostBytes = MOST_BYTES): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop ends the connection.
    if (bytes > mostBytes) throw new Error(`the answer is longer than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
  } catch {
    throw new Error('the answer is no JSON');
  }
}
