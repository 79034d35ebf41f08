import { execFileSync } from 'node:child_process';
import { filterChildEnvironment } from '../../platform/child-process/child-environment.ts';

/** What a release asks of git. */
export interface Repository {
  /** Paths with uncommitted changes, untracked files included. */
  listChanges(): string[];
  /** Without its history, the commits of a release are unknown. */
  isShallow(): boolean;
  hasTag(tag: string): boolean;
  /** Messages from the newest commit on, merges left out; of the whole history without a tag. */
  listMessagesSince(tag: string | null): string[];
}

export function openRepository(folder: string): Repository {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: folder, env: filterChildEnvironment(), encoding: 'utf8', maxBuffer: 64e6 });
  const split = (text: string, separator: string) => text.split(separator).filter((part) => part !== '');
  return {
    listChanges: () => split(git('status', '--porcelain'), '\n').map((line) => line.slice(3)),
    isShallow: () => git('rev-parse', '--is-shallow-repository').trim() === 'true',
    hasTag: (tag) => git('tag', '--list', tag) !== '',
    listMessagesSince: (tag) => split(git('log', '-z', '--no-merges', '--format=%B', tag === null ? 'HEAD' : `${tag}..HEAD`), '\0'),
  };
}
