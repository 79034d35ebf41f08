import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'vitest';

const SHARED = resolve(import.meta.dirname, '../../../../shared');

/** Path of a file or folder of the private reference data beside the project. */
export function sharedPath(...parts: string[]): string {
  return resolve(SHARED, ...parts);
}

export const hasShared = existsSync(SHARED);

/** A suite that needs the private reference data: skipped, with the reason in its name, where that folder is missing. */
export const describeWithShared: (name: string, body: () => void) => void = hasShared
  ? (name, body) => describe(name, body)
  : // The body of a skipped suite runs too, at collection: it would look for the folder.
    (name) => describe.skip(name, () => it('needs the reference data at ../shared', () => {}));
