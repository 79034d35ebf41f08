import { describe, expect, it } from 'vitest';
import { renderCheckTable, renderOutOfReach } from '../../../src/tools/docs-tables.ts';
import { documentText, unpadded } from '../../support/docs/documents.ts';
import { cli } from '../../support/service/cli.ts';

const text = documentText('docs/VERIFY.md');
const lines = [...text.matchAll(/^ {4}npx svc (.*)$/gm)].map(([, line]) => line.replace(/ +#.*$/, ''));

describe('the commands of docs/VERIFY.md', () => {
  it('are five', () => expect(lines).toHaveLength(5));

  it.each(lines)('svc %s is one that there is, with options that it has', async (line) => {
    const [name, ...words] = line.split(' ');
    const { code, out } = await cli([name, '--help']);
    expect(code).toBe(0);
    for (const option of words.filter((word) => word.startsWith('--'))) expect(out, option).toContain(`${option} `);
  });
});

it('docs/VERIFY.md has the catalogue of checks', () => {
  expect(unpadded(text), 'run npm run docs:tables').toContain(renderCheckTable());
  expect(unpadded(text)).toContain(renderOutOfReach());
});
