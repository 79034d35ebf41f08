/** A stream in blocks of one size; the last may be shorter, and is empty for an empty stream. */
export async function* splitIntoBlocks(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<{ block: Buffer; isLast: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const part of source) {
    parts.push(part);
    length += part.length;
    // A full block is kept until another byte shows that it is not the last.
    if (length <= size) continue;
    let all = Buffer.concat(parts);
    for (; all.length > size; all = all.subarray(size)) yield { block: all.subarray(0, size), isLast: false };
    [parts, length] = [[all], all.length];
  }
  yield { block: Buffer.concat(parts), isLast: true };
}
