import { UsageError } from '../../platform/usage-error.ts';
import { CHANGELOG, findSection, releaseSection } from './changelog.ts';
import { type ConventionalCommit, parseCommit } from './conventional-commit.ts';
import { computeNextVersion, findReleaseLevel, type ReleaseLevel } from './next-version.ts';
import type { Repository } from './repository.ts';
import { replaceVersion, VERSION_FILES } from './version-files.ts';

export interface ReleasePlan {
  from: string;
  to: string;
  level: ReleaseLevel;
  /** Of the messages since `since`; null is the beginning of the history. */
  commits: ConventionalCommit[];
  since: string | null;
  /** Contents by path. */
  files: ReadonlyMap<string, string>;
  /** The section of the new version. */
  notes: string;
}

export interface PlanDeps {
  repository: Repository;
  readText(path: string): string;
  now(): Date;
}

/** Computes version and files of the next release; writes nothing. @throws UsageError when a release cannot be made from this state. */
export function planRelease({ repository, readText, now }: PlanDeps): ReleasePlan {
  requireReleasableTree(repository);
  const changelog = readText(CHANGELOG);
  const from: string = JSON.parse(readText('package.json')).version;
  const since = findTagOf(from, repository, changelog);
  const commits = repository.listMessagesSince(since).flatMap((message) => parseCommit(message) ?? []);
  const level = findReleaseLevel(commits);
  const to = computeNextVersion(from, level);
  if (repository.hasTag(toTag(to)))
    throw new UsageError(toTag(to), 'this tag exists already', 'Delete it, unless it is published; then correct package.json.');
  const released = releaseSection(changelog, to, now().toISOString().slice(0, 10));
  const versioned = VERSION_FILES.map((file) => [file.path, replaceVersion(file, readText(file.path), { from, to })] as const);
  return { from, to, level, commits, since, files: new Map([[CHANGELOG, released], ...versioned]), notes: findSection(released, to)! };
}

export const toTag = (version: string) => `v${version}`;

function requireReleasableTree(repository: Repository): void {
  if (repository.isShallow()) throw new UsageError('git', 'the history is incomplete', 'Run git fetch --unshallow --tags.');
  const [first, ...others] = repository.listChanges();
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw new UsageError('git', `uncommitted changes: ${first}${more}`, 'Commit or stash them.');
}

/** Before the first release there is no tag and no section of the version. */
function findTagOf(version: string, repository: Repository, changelog: string): string | null {
  const tag = toTag(version);
  if (repository.hasTag(tag)) return tag;
  if (findSection(changelog, version) === null) return null;
  throw new UsageError(
    tag,
    `${version} is in ${CHANGELOG} and package.json, and this tag does not exist`,
    'Tag its commit, or run git fetch --tags.',
  );
}
