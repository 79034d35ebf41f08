import { ResponseTooLargeError } from './bounded-body.ts';

/** Three times the scorecard of a record of ten years. */
const MAX_BYTES = 16 * 2 ** 20;

/** Bounded, so that a server cannot exhaust the memory. @throws ResponseTooLargeError; Error for a truncated response or invalid JSON */
export async function readJson(response: Response, maxBytes = MAX_BYTES): Promise<unknown> {
  return (await readMeasuredJson(response, maxBytes)).value;
}

export async function readMeasuredJson(response: Response, maxBytes: number): Promise<{ value: unknown; bytes: number }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > maxBytes) throw new ResponseTooLargeError(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return { value: JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))), bytes };
  } catch {
    throw new Error('the answer is no JSON');
  }
}
