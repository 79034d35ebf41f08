import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isOracleError } from '../../platform/errors.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { CHANGELOG, findSection } from './changelog.ts';
import { formatNextSteps, formatPlan } from './format-plan.ts';
import { planRelease } from './plan-release.ts';
import { openRepository } from './repository.ts';

const OPTIONS = { 'dry-run': { type: 'boolean' }, notes: { type: 'boolean' } } as const;

/** `npm run release`: prepares a release in a folder. Ends the process with 1, and changes nothing, when none can be made. */
export function main(args: readonly string[], folder: string): void {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.notes) print(readNotes(folder));
    else prepareRelease(folder, values['dry-run'] ?? false);
  } catch (error) {
    if (!isOracleError(error) && !isArgumentError(error)) throw error;
    console.error(isOracleError(error) ? `${error.message}. ${error.suggestedAction ?? ''}` : `${error.message}. Try --help.`);
    process.exitCode = 1;
  }
}

function prepareRelease(folder: string, isDryRun: boolean): void {
  const readText = (path: string) => readFileSync(resolve(folder, path), 'utf8');
  const plan = planRelease({ repository: openRepository(folder), readText, now: () => new Date() });
  print(formatPlan(plan));
  if (isDryRun) {
    print('Nothing was written (--dry-run).');
    return;
  }
  for (const [path, text] of plan.files) writeFileSync(resolve(folder, path), text);
  print(formatNextSteps(plan));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The changes of the version that package.json states. */
function readNotes(folder: string): string {
  const { version } = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8'));
  const notes = findSection(readFileSync(resolve(folder, CHANGELOG), 'utf8'), version);
  if (notes === null) throw new UsageError(CHANGELOG, `has no section of ${version}`, 'Run npm run release first.');
  return notes;
}

function isArgumentError(error: unknown): error is Error {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_');
}
