/** More was answered than is read. */
export class TooMuch extends Error {}

/**
 * The bytes of an answer, up to a limit: whoever answers may go on for ever.
 * @param {Response} response
 * @param {number} most
 * @throws {TooMuch}
 */
export async function boundedBytes({ body }, most) {
  /** @type {Uint8Array[]} */
  const parts = [];
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? { value: undefined };
    if (value === undefined) return joined(parts, length);
    length += value.length;
    if (length > most) {
      await reader?.cancel();
      throw new TooMuch('it answers with too much');
    }
    parts.push(value);
  }
}

/**
 * @param {readonly Uint8Array[]} parts
 * @param {number} length
 */
function joined(parts, length) {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
