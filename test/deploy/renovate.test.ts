import { globSync, readFileSync } from 'node:fs';
import { matchesGlob, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { deployText } from '../support/deploy/deploy-yaml.ts';
import { ROOT } from '../support/docs/documents.ts';

interface Rule {
  description?: string;
  groupName?: string;
  matchPackageNames?: string[];
  matchDepNames?: string[];
  matchFileNames?: string[];
}

const readJson = (path: string) => JSON.parse(readFileSync(resolve(ROOT, path), 'utf8'));
const settings = readJson('.github/renovate.json');
const rules: Rule[] = settings.packageRules;
const manifests = globSync('**/package.json', { cwd: ROOT, exclude: ['**/node_modules', 'dist'] });
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

/** Names that packages of the repository use, and those that stand behind an alias. */
const names = new Set([
  ...manifests
    .flatMap((path) => KINDS.flatMap((kind) => Object.entries<string>(readJson(path)[kind] ?? {})))
    .flatMap(([name, range]) => [name, ...(/^npm:(.+)@/.exec(range)?.slice(1) ?? [])]),
  ...(/"npm:(empty-npm-package)@/.exec(readFileSync(resolve(ROOT, 'package.json'), 'utf8'))?.slice(1) ?? []),
  ...[...deployText('kubernetes/overlays/example/kustomization.yaml').matchAll(/(?:name|newName): (.*oracle)$/gm)].map(([, name]) => name),
]);

it('has the packages of their own', () => {
  expect(manifests.toSorted()).toEqual([
    'bench/paid/package.json',
    ...['biome', 'openapi-typescript', 'packages/mcpb'].map((folder) => `bin/dev/${folder}/package.json`),
    ...['clients/typescript', 'contracts'].map((folder) => `${folder}/package.json`),
    ...['ai-sdk', 'clients', 'langchain'].map((folder) => `examples/${folder}/package.json`),
    'package.json',
    ...['test/conformance', 'test/deploy', 'test/packages'].map((folder) => `${folder}/package.json`),
  ]);
  // The recommended settings leave out folders named "test".
  expect(settings.ignorePresets).toContain(':ignoreModulesAndTests');
});

it.each(rules)(
  'has a rule for what there is: $description $groupName',
  ({ matchPackageNames = [], matchDepNames = [], matchFileNames = [] }) => {
    for (const pattern of [...matchPackageNames, ...matchDepNames].map((name) => name.replace(/^!/, ''))) {
      expect(
        [...names].some((name) => matchesGlob(name, pattern)),
        pattern,
      ).toBe(true);
    }
    for (const pattern of matchFileNames)
      expect(
        manifests.some((path) => matchesGlob(path, pattern)),
        pattern,
      ).toBe(true);
  },
);
