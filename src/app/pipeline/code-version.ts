import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const HASHED_FOLDER = 'src/forecast';

/** In the project's folder the digest equals `find src/forecast -name '*.ts' | LC_ALL=C sort | xargs sha256sum | sha256sum`. */
export function computeCodeVersion(version: string): string {
  return `${version}+sha256:${hashFiles(listSourceFiles())}`;
}

/** Paths as `find` prints them, in byte order. */
function listSourceFiles(): string[] {
  return readdirSync(join(ROOT, HASHED_FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${HASHED_FOLDER}/${path.split(sep).join('/')}`)
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function hashFiles(paths: readonly string[]): string {
  const list = createHash('sha256');
  for (const path of paths) {
    const content = readFileSync(join(ROOT, path));
    list.update(`${createHash('sha256').update(content).digest('hex')}  ${path}\n`);
  }
  return list.digest('hex');
}
