export class BodyTooLargeError extends Error {}

/** Reads a body up to a limit, since an endpoint may send without end. @throws {BodyTooLargeError} */
export async function readBoundedBytes({ body }: Response, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? { value: undefined };
    if (value === undefined) return concatChunks(chunks, length);
    length += value.length;
    if (length > maxBytes) {
      await reader?.cancel();
      throw new BodyTooLargeError('its response is too large');
    }
    chunks.push(value);
  }
}

function concatChunks(chunks: readonly Uint8Array[], length: number) {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of chunks) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
