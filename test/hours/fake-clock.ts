import { globSync } from 'node:fs';
import { UsageError } from './usage-error.ts';

/** Where Debian, Ubuntu and a build from source put the library that fakes the clock of processes with several threads. */
const LIBRARY_GLOB = '/usr/{lib/*/faketime,lib/faketime,local/lib/faketime}/libfaketimeMT.so.1';

/** Path of the library. @throws UsageError when it is not installed. */
export function findFakeClock(): string {
  const [library] = globSync(LIBRARY_GLOB);
  if (library !== undefined) return library;
  throw new UsageError('faketime is not installed (Debian and Ubuntu: apt-get install faketime)');
}

/**
 * Environment in which a process and its children read `ms` (since 1970) now, and the clock runs on.
 * The monotonic clock is moved by the same offset: with it left alone, timed waits of the database's threads return at once and spin.
 */
export function fakeClockEnvironment(library: string, ms: number): NodeJS.ProcessEnv {
  // An offset, unlike a start time, is the same for a child that starts later.
  const offsetSeconds = Math.round((ms - Date.now()) / 1000);
  return {
    ...process.env,
    LD_PRELOAD: library,
    FAKETIME: `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}s`,
    // Hours of runs share the machine with other work, and a suite that waits for a core proves nothing about the clock.
    TEST_TIMEOUT_FACTOR: '5',
  };
}
