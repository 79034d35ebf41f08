import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/svc/commands.ts';
import { documentText } from '../../support/documents.ts';

const text = documentText('docs/VERIFY.md');
const lines = [...text.matchAll(/^ {4}npx svc (.*)$/gm)].map(([, line]) => line.replace(/ +#.*$/, ''));

describe('the commands of docs/VERIFY.md', () => {
  it('are four', () => expect(lines).toHaveLength(4));

  it.each(lines)('svc %s is one that there is, with options that it has', (line) => {
    const [name, ...words] = line.split(' ');
    const command = COMMANDS.find((one) => one.name === name);
    expect(command).toBeDefined();
    for (const option of words.filter((word) => word.startsWith('--'))) expect(command!.help, option).toContain(`${option} `);
  });
});
