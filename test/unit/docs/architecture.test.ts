import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderImportLaw } from '../../../src/tools/lint.ts';
import { documentText, ROOT, unpadded } from '../../support/docs/documents.ts';

const text = documentText('docs/ARCHITECTURE.md');
const section = (title: string) => text.split(`## ${title}\n`)[1].split('\n## ')[0];
const rows = (title: string) =>
  [...unpadded(section(title)).matchAll(/^\| (.*) \| (.*) \|$/gm)].map(([, first, second]) => [first, second]);

/** Folders of the project that hold code; what is made or fetched is none. */
function folders(): string[] {
  const within = (folder: string) =>
    readdirSync(resolve(ROOT, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() && !entry.name.startsWith('.') ? [`${entry.name}/`] : [],
    );
  const top = within('.').filter((name) => !['node_modules/', 'src/', 'docs/', 'dist/', 'data/', 'coverage/'].includes(name));
  return [...top, ...within('src').map((name) => `src/${name}`)].filter((name) => !name.startsWith('data'));
}

describe('docs/ARCHITECTURE.md', () => {
  it('is a page', () => expect(text.split('\n').length).toBeLessThanOrEqual(145));

  it('names each folder, and none that is not there', () => {
    const named = rows('Where things are').flatMap(([first]) => [...first.matchAll(/^`(.+\/)`$/g)].map(([, folder]) => folder));
    expect(named.toSorted()).toEqual(folders().toSorted());
  });

  it('names files and folders that are there', () => {
    const named = [...text.matchAll(/`((?:src|skills|test|agent-card)\/[\w./-]+|outbound\.biome\.json)`/g)].map(([, path]) => path);
    expect(named.length).toBeGreaterThan(40);
    for (const path of named) expect(existsSync(resolve(ROOT, path)), path).toBe(true);
  });

  it('names sub-folders that are in the folder of their row', () => {
    const pairs = rows('Where things are').flatMap(([folder, what]) => [...what.matchAll(/`([\w-]+\/)`/g)].map(([, sub]) => [folder, sub]));
    expect(pairs.length).toBeGreaterThan(10);
    for (const [folder, sub] of pairs) expect(existsSync(resolve(ROOT, folder.replaceAll('`', ''), sub)), `${folder} ${sub}`).toBe(true);
  });

  it('has the import law of the linter', () => {
    expect(unpadded(text), 'run npm run docs:tables').toContain(`<!-- import-law -->\n${renderImportLaw()}\n<!-- /import-law -->`);
  });
});
