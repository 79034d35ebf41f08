import { describe, expect, it } from 'vitest';
import { type BannerSource, bannerText } from '../../../src/local/banner.ts';
import { tryCommands } from '../../../src/try-commands.ts';

const source: BannerSource = {
  name: 'Oracle',
  version: '1.2.3',
  url: 'http://127.0.0.1:3000',
  source: 'simulated',
  reason: null,
  record: null,
  demo: null,
  demoPath: 'data/demo.json',
  commands: null,
  exampleUid: null,
};

describe('the banner', () => {
  it('has a line for a token, for events and for an agent where there are demonstration wallets', () => {
    const lines = bannerText({ ...source, commands: { token: 'a-token', watch: 'a-watch', agent: 'an-agent' } }).split('\n');
    expect(lines).toContain('  a-watch');
    expect(lines).toContain('  an-agent');
    expect(lines.filter((line) => line.startsWith('  TOKEN=$(a-token) && curl'))).toHaveLength(1);
  });

  it('has none of them elsewhere', () => {
    expect(bannerText(source)).not.toMatch(/TOKEN|watch|agent\b(?!-card)|null|undefined/);
  });
});

describe('the lines that try a demonstration service out', () => {
  it('name neither folder nor address where both are the usual ones', () => {
    expect(tryCommands({ DATA_DIR: './data' }, 'http://127.0.0.1:3000')).toEqual({
      token: 'npm run -s token -- premium',
      watch: 'node examples/receivers/watch.mjs 0',
      agent: 'npm run demo:agent',
    });
  });

  it('name both where they are others', () => {
    expect(tryCommands({ DATA_DIR: './mine' }, 'http://127.0.0.1:3107')).toEqual({
      token: 'DATA_DIR=./mine npm run -s token -- premium --url http://127.0.0.1:3107',
      watch: 'DATA_DIR=./mine SERVICE_URL=http://127.0.0.1:3107 node examples/receivers/watch.mjs 0',
      agent: 'DATA_DIR=./mine npm run demo:agent -- --url http://127.0.0.1:3107',
    });
  });
});
