import { expect, it } from 'vitest';
import { UsageError } from '../../../../src/platform/usage-error.ts';
import { computeNextVersion, findReleaseLevel } from '../../../../src/tools/release/next-version.ts';

const commit = (type: string, isBreaking = false) => ({ type, isBreaking, header: `${type}: x` });

it.each([
  ['major', [commit('feat'), commit('fix', true)]],
  ['minor', [commit('fix'), commit('feat'), commit('docs')]],
  ['patch', [commit('fix'), commit('perf')]],
  ['patch', [commit('build')]],
  ['patch', []],
] as const)('asks for a %s version', (level, commits) => {
  expect(findReleaseLevel(commits)).toBe(level);
});

it.each([
  ['0.1.0', 'major', '1.0.0'],
  ['1.9.3', 'major', '2.0.0'],
  ['1.9.3', 'minor', '1.10.0'],
  ['1.9.9', 'patch', '1.9.10'],
] as const)('follows %s by a %s version: %s', (version, level, next) => {
  expect(computeNextVersion(version, level)).toBe(next);
});

it.each(['1.0', '1.0.0-rc.1', 'v1.0.0', ''])('rejects the version %j', (version) => {
  expect(() => computeNextVersion(version, 'patch')).toThrow(UsageError);
});
