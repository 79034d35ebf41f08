import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe } from 'vitest';

const run = promisify(execFile);

/** Path of an installed program; null without one. */
export function findProgram(name: string): string | null {
  try {
    return execFileSync('/bin/sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${name}`], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

/** A suite that is skipped, and says so, where one of its programs is not installed. */
export function describeWithPrograms<Name extends string>(
  title: string,
  names: readonly Name[],
  suite: (paths: Record<Name, string>) => void,
): void {
  const found = names.map((name) => [name, findProgram(name)] as const);
  const missing = found.filter(([, path]) => path === null).map(([name]) => name);
  const paths = Object.fromEntries(found) as Record<Name, string>;
  if (missing.length > 0) describe.skip(`${title} (skipped: ${missing.join(', ')} not installed)`, () => suite(paths));
  else describe(title, () => suite(paths));
}

/** The standard output of a program; rejects with all that it has written unless it ends with 0. */
export async function runProgram(path: string, words: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await run(path, [...words], { cwd, maxBuffer: 64e6 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${words.join(' ')}: ${stdout}${stderr}`, { cause: error });
  }
}
