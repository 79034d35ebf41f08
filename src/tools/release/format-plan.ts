import { type ReleasePlan, toTag } from './plan-release.ts';

const LISTED_COMMITS = 5;

/** Version with its reasons, and the files of a release, as lines for a terminal. */
export function formatPlan({ from, to, level, commits, since, files, notes }: ReleasePlan): string {
  const deciding = commits.filter(({ isBreaking, type }) => (level === 'major' ? isBreaking : level === 'minor' && type === 'feat'));
  const rest = deciding.length - LISTED_COMMITS;
  return [
    `${from} -> ${to} (${level}), from ${commits.length} conventional commits since ${since ?? 'the beginning'}`,
    ...deciding.slice(0, LISTED_COMMITS).map(({ header }) => `  ${header}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    `CHANGELOG.md: ${notes.match(/^- /gm)?.length ?? 0} changes under ${to}`,
    `Version ${to} in: ${[...files.keys()].filter((path) => path !== 'CHANGELOG.md').join(', ')}`,
  ].join('\n');
}

/** What the maintainer does next. The push of the tag publishes. */
export function formatNextSteps({ to }: ReleasePlan): string {
  return [
    'Read the changes, then:',
    `  git commit --all --message 'chore(release): ${to}'`,
    `  git tag --annotate ${toTag(to)} --message ${to}`,
    `  git push --atomic origin HEAD ${toTag(to)}    # .github/workflows/release.yml publishes it`,
    'To undo it before the commit: git restore .',
  ].join('\n');
}
