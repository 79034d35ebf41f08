import { readFileSync } from 'node:fs';

/** The content of a file without its last newline. @throws Error whose message ends a sentence about the file, without its content */
export function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new Error(`cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  if (text === '') throw new Error('is empty');
  return text;
}
