import { describe, expect, it } from 'vitest';
import { type BannerContent, buildDemoCommands, renderBanner } from '../../../src/app/startup.ts';

const source: BannerContent = {
  name: 'Oracle',
  version: '1.2.3',
  url: 'http://127.0.0.1:3000',
  pageUrl: 'http://127.0.0.1:3000/',
  source: 'simulated',
  reason: null,
  record: null,
  demo: null,
  demoPath: 'data/demo.json',
  demoCommands: null,
  exampleUid: null,
};

const COMMANDS = { token: 'a-token', look: 'a-look', check: 'a-check', watch: 'a-watch', agent: 'an-agent' };

describe('renderBanner', () => {
  const address = `0x${'1'.repeat(40)}` as const;
  const wallet = { address, privateKey: `0x${'2'.repeat(64)}` } as const;
  const contracts = { eas: address, schemaRegistry: address, gateToken: address, stablecoin: address, agentCommerce: null };
  const full: BannerContent = {
    ...source,
    reason: 'no provider could be reached',
    record: { from: 20_000, to: 20_119, replayedDays: 120 },
    demo: {
      rpcUrl: 'http://127.0.0.1:8545',
      chainId: 8453,
      contracts: { ...contracts, identityRegistry: address, reputationRegistry: address },
      wallets: { basic: wallet, premium: wallet, poor: wallet, buyer: wallet },
    },
    demoCommands: COMMANDS,
    exampleUid: `0x${'3'.repeat(64)}`,
  };

  it('begins with the page URL only if a page is served', () => {
    expect(renderBanner(source).trim().split('\n')[0]).toBe('Open http://127.0.0.1:3000/');
    expect(renderBanner({ ...source, pageUrl: null })).not.toContain('Open');
  });

  it('contains "is up: <url>", which programs wait for', () => {
    expect(/is up: (http:\S+)/.exec(renderBanner(full))![1]).toBe('http://127.0.0.1:3000');
  });

  it('fits one screen and has a line for each interface', () => {
    const text = renderBanner(full);
    expect(text.split('\n').length).toBeLessThanOrEqual(32);
    for (const path of ['/api/svc/open/signal', '/api/svc/oracle', '/oracle', 'a-watch', '/mcp', '/.well-known/agent-card.json', '/docs']) {
      expect(text.split('\n').filter((line) => line.startsWith('  ') && line.includes(path)).length, path).toBeGreaterThan(0);
    }
  });

  it('has commands for token, events and agent with demo wallets', () => {
    const lines = renderBanner({ ...source, demoCommands: COMMANDS }).split('\n');
    expect(lines).toContain('  a-watch');
    expect(lines).toContain('  an-agent');
    expect(lines.filter((line) => line.startsWith('  TOKEN=$(a-token) && curl'))).toHaveLength(1);
  });

  it('has a verify command once an attestation exists', () => {
    expect(renderBanner(full).split('\n')).toEqual(expect.arrayContaining(['  a-look', '  a-check']));
    const empty = renderBanner({ ...full, exampleUid: null });
    expect(empty).toContain('  a-look');
    expect(empty).not.toContain('a-check');
  });

  it('has no demo commands without demo wallets', () => {
    expect(renderBanner(source)).not.toMatch(/TOKEN|svc |watch|agent\b(?!-card)|null|undefined/);
  });
});

describe('buildDemoCommands', () => {
  it('omits DATA_DIR and URL when both are the defaults', () => {
    expect(buildDemoCommands({ DATA_DIR: './data' }, 'http://127.0.0.1:3000')).toEqual({
      token: 'npm run -s token -- premium',
      look: 'npx svc signal',
      check: 'npx svc verify latest',
      watch: 'node examples/receivers/watch.mjs 0',
      agent: 'npm run demo:agent',
    });
  });

  it('includes DATA_DIR and URL when they differ from the defaults', () => {
    expect(buildDemoCommands({ DATA_DIR: './mine' }, 'http://127.0.0.1:3107')).toEqual({
      token: 'DATA_DIR=./mine npm run -s token -- premium --url http://127.0.0.1:3107',
      look: 'npx svc signal --url http://127.0.0.1:3107',
      check: 'DATA_DIR=./mine npx svc verify latest --url http://127.0.0.1:3107',
      watch: 'DATA_DIR=./mine SERVICE_URL=http://127.0.0.1:3107 node examples/receivers/watch.mjs 0',
      agent: 'DATA_DIR=./mine npm run demo:agent -- --url http://127.0.0.1:3107',
    });
  });
});
