import { expect, it } from 'vitest';
import { parseCommit } from '../../../../src/tools/release/conventional-commit.ts';

it.each([
  ['feat: a skill', { type: 'feat', isBreaking: false, header: 'feat: a skill' }],
  ['fix(record): one\n\nA body: with a colon.', { type: 'fix', isBreaking: false, header: 'fix(record): one' }],
  ['Feat(market): two', { type: 'feat', isBreaking: false, header: 'Feat(market): two' }],
  ['feat(config)!: three', { type: 'feat', isBreaking: true, header: 'feat(config)!: three' }],
  ['refactor!: four', { type: 'refactor', isBreaking: true, header: 'refactor!: four' }],
  ['fix: five\n\nBREAKING CHANGE: a setting is gone', { type: 'fix', isBreaking: true, header: 'fix: five' }],
  ['fix: six\n\nCauses.\n\nBREAKING-CHANGE: another', { type: 'fix', isBreaking: true, header: 'fix: six' }],
])('reads %j', (message, commit) => {
  expect(parseCommit(message)).toEqual(commit);
});

it('takes a breaking change for one only as a footer', () => {
  expect(parseCommit('docs: what BREAKING CHANGE: means\n\nThe text BREAKING CHANGE: within a line.')?.isBreaking).toBe(false);
});

it.each(['Merge branch main', 'wip', 'feat : a space', 'feat:no space', 'feat(): no scope', ''])('returns null for %j', (message) => {
  expect(parseCommit(message)).toBeNull();
});
