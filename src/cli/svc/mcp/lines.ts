import type { Readable } from 'node:stream';

/** Lines of UTF-8 text, empty ones left out. Only LF ends a line: `readline` also splits at U+2028, which JSON strings may contain. */
export async function* readLines(input: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of input.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line.trim() !== '');
  }
  if (rest.trim() !== '') yield rest;
}
