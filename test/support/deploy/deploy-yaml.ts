import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { ROOT } from '../docs/documents.ts';

type Tag = string | { format?: string };

interface Yaml {
  // biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
  parse(text: string, options?: { merge?: boolean }): any;
  // biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
  parseAllDocuments(text: string, options: { customTags(tags: readonly Tag[]): Tag[] }): { toJS(): any }[];
  stringify(value: unknown): string;
}

/** Packages of `test/deploy`, which `npm run test:deploy` installs. */
export const requireForDeploy = createRequire(resolve(ROOT, 'test/deploy/package.json'));

export const yaml = () => requireForDeploy('yaml') as Yaml;

export const DEPLOY = resolve(ROOT, 'deploy');

export const deployText = (path: string) => readFileSync(resolve(DEPLOY, path), 'utf8');

/** A file of `deploy/`, its merge keys resolved. */
// biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
export const deployYaml = (path: string): any => yaml().parse(deployText(path), { merge: true });
