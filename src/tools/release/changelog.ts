import { UsageError } from '../../platform/usage-error.ts';

export const CHANGELOG = 'CHANGELOG.md';
const UNRELEASED = '## [Unreleased]';

/** The text of a version below its heading, trimmed; null when the changelog has no such heading. */
export function findSection(changelog: string, version: string): string | null {
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`## [${version}]`));
  if (start === -1) return null;
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '));
  return lines
    .slice(start + 1, length === -1 ? undefined : start + 1 + length)
    .join('\n')
    .trim();
}

/**
 * The changelog with its unreleased changes under a heading of the version, and an empty heading above for what comes next.
 * @param date Day of the release in UTC, YYYY-MM-DD.
 * @throws UsageError when nothing is listed as unreleased, or the version has a section already.
 */
export function releaseSection(changelog: string, version: string, date: string): string {
  const unreleased = findSection(changelog, 'Unreleased');
  if (unreleased === null) throw new UsageError(CHANGELOG, `has no heading "${UNRELEASED}"`, 'Add it above the newest version.');
  if (!/^- /m.test(unreleased))
    throw new UsageError(CHANGELOG, 'lists no unreleased change', `Describe what users notice below "${UNRELEASED}".`);
  if (findSection(changelog, version) !== null)
    throw new UsageError(CHANGELOG, `has a section of ${version} already`, 'Correct its headings.');
  return changelog.replace(`${UNRELEASED}\n`, `${UNRELEASED}\n\n## [${version}] - ${date}\n`);
}
