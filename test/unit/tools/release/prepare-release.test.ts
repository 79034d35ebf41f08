import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatNextSteps, formatPlan } from '../../../../src/tools/release/format-plan.ts';
import { planRelease } from '../../../../src/tools/release/plan-release.ts';
import { openRepository } from '../../../../src/tools/release/repository.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

const AUTHOR = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false', '-c', 'tag.gpgsign=false'];
const KUSTOMIZATION = 'deploy/kubernetes/overlays/example/kustomization.yaml';
const PYPROJECT = 'clients/python/pyproject.toml';
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A skill.\n';

let folder: string;
const git = (...words: string[]) =>
  execFileSync('git', [...AUTHOR, ...words], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
const commit = (message: string) => {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', message);
};
const plan = () => planRelease({ repository: openRepository(folder), readText: read, now: () => new Date('2026-11-28T23:59:59Z') });
const writePlan = () => {
  for (const [path, text] of plan().files) write(path, text);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-'));
  git('init', '--quiet', '--initial-branch=main');
  write('package.json', '{\n  "name": "x",\n  "version": "0.1.0"\n}\n');
  write('package-lock.json', '{\n  "version": "0.1.0",\n  "packages": {\n    "": {\n      "version": "0.1.0"\n    }\n  }\n}\n');
  write(KUSTOMIZATION, 'images:\n  - name: x\n    newTag: 0.1.0\n');
  write('server.json', '{\n  "version": "0.1.0",\n  "packages": [\n    {\n      "version": "0.1.0"\n    }\n  ]\n}\n');
  write(PYPROJECT, '[project]\nversion = "0.1.0"\nrequires-python = ">=3.9"\n');
  write('CHANGELOG.md', CHANGELOG);
  commit('feat: a skill');
  commit('wip');
  commit('feat(config)!: no defaults');
});
afterAll(() => removeFolder(folder));

it('prepares the first release from the whole history, then one from the commits since its tag', () => {
  const first = plan();
  expect(formatPlan(first).split('\n')).toEqual([
    '0.1.0 -> 1.0.0 (major), from 2 conventional commits since the beginning',
    '  feat(config)!: no defaults',
    'CHANGELOG.md: 1 changes under 1.0.0',
    `Version 1.0.0 in: package.json, package-lock.json, ${KUSTOMIZATION}, server.json, ${PYPROJECT}`,
  ]);
  expect(formatNextSteps(first)).toContain('git push --atomic origin HEAD v1.0.0');
  writePlan();
  expect(read('CHANGELOG.md')).toBe('# Changelog\n\n## [Unreleased]\n\n## [1.0.0] - 2026-11-28\n\n### Added\n\n- A skill.\n');
  expect(read('package-lock.json').match(/1\.0\.0/g)).toHaveLength(2);
  expect(read('server.json').match(/1\.0\.0/g)).toHaveLength(2);
  expect(read(KUSTOMIZATION)).toContain('newTag: 1.0.0');
  expect(read(PYPROJECT)).toContain('\nversion = "1.0.0"\n');

  expect(plan).toThrow('git: uncommitted changes: CHANGELOG.md and 5 more');
  commit('chore(release): 1.0.0');
  expect(plan).toThrow('v1.0.0: 1.0.0 is in CHANGELOG.md and package.json, and this tag does not exist');
  git('tag', '--annotate', 'v1.0.0', '--message', '1.0.0');
  expect(plan).toThrow('CHANGELOG.md: lists no unreleased change');

  write('CHANGELOG.md', read('CHANGELOG.md').replace('## [Unreleased]\n', '## [Unreleased]\n\n### Fixed\n\n- A fault.\n'));
  commit('fix: a fault');
  expect(plan()).toMatchObject({ from: '1.0.0', to: '1.0.1', level: 'patch', since: 'v1.0.0', notes: '### Fixed\n\n- A fault.' });
  commit('feat: another skill');
  expect(formatPlan(plan())).toContain('1.0.0 -> 1.1.0 (minor), from 2 conventional commits since v1.0.0\n  feat: another skill\n');
  git('tag', 'v1.1.0');
  expect(plan).toThrow('v1.1.0: this tag exists already');
});

it('rejects a clone without its history', async () => {
  const clone = await mkdtemp(join(tmpdir(), 'release-shallow-'));
  try {
    git('clone', '--quiet', '--depth', '1', `file://${folder}`, clone);
    const repository = openRepository(clone);
    expect(() => planRelease({ repository, readText: read, now: () => new Date(0) })).toThrow('git: the history is incomplete');
  } finally {
    await removeFolder(clone);
  }
});
