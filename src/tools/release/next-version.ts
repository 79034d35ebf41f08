import { UsageError } from '../../platform/usage-error.ts';
import type { ConventionalCommit } from './conventional-commit.ts';

export type ReleaseLevel = 'major' | 'minor' | 'patch';

/** A breaking change asks for a major version, before 1.0.0 too; a feature for a minor one; anything else for a patch. */
export function findReleaseLevel(commits: readonly ConventionalCommit[]): ReleaseLevel {
  if (commits.some(({ isBreaking }) => isBreaking)) return 'major';
  return commits.some(({ type }) => type === 'feat') ? 'minor' : 'patch';
}

/** @throws UsageError for a version that is not three numbers: there are no pre-releases. */
export function computeNextVersion(version: string, level: ReleaseLevel): string {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (parts === null) throw new UsageError('package.json', `the version ${version} is not of the form x.y.z`, 'Correct it.');
  const [major, minor, patch] = parts.slice(1).map(Number);
  if (level === 'major') return `${major + 1}.0.0`;
  return level === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}
