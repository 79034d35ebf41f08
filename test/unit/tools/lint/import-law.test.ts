import { describe, expect, it } from 'vitest';
import { findForbiddenImports, readImports, renderImportLaw } from '../../../../src/tools/lint.ts';

const find = (file: string, specifier: string) => findForbiddenImports(file, [{ specifier, line: 7 }]);

describe('the import law', () => {
  it.each([
    ['src/forecast/x.ts', '../market/feed.ts'],
    ['src/forecast/x.ts', 'node:fs'],
    ['src/forecast/deep/x.ts', '../../platform/mongo.ts'],
    ['src/forecast/x.ts', '../platform/concurrency.ts'],
    ['src/forecast/x.ts', '../verify/findings.ts'],
    ['src/errors.ts', './config.ts'],
    ['src/platform/x.ts', '../chain/client.ts'],
    ['src/platform/outbound/x.ts', '../../events/events.ts'],
    ['src/market/x.ts', '../chain/eas/eas.ts'],
    ['src/chain/x.ts', '../record/forecasts.ts'],
    ['src/wager/x.ts', '../market/market.ts'],
    ['src/record/x.ts', '../pipeline/steps/signal.ts'],
    ['src/record/x.ts', '../auth/tiers.ts'],
    ['src/record/x.ts', '../audit/audit.ts'],
    ['src/pipeline/x.ts', '../events/log.ts'],
    ['src/pipeline/x.ts', '../dev/replay.ts'],
    ['src/contest.ts', './commerce/offerings.ts'],
    ['src/commerce/x.ts', '../contest.ts'],
    ['src/http/x.ts', '../app/app.ts'],
    ['src/http/x.ts', '../mcp/server.ts'],
    ['src/mcp/x.ts', '../a2a/server.ts'],
    ['src/http/x.ts', '../dev/mongo-host.ts'],
    ['src/http/x.ts', '../cli/script.ts'],
    ['src/adapter.ts', './http/server.ts'],
    ['src/audit/x.ts', '../record/forecasts.ts'],
    ['src/audit/x.ts', '../auth/caller.ts'],
    ['src/audit/x.ts', '../cli/script.ts'],
    ['src/audit/x.ts', 'mongodb'],
    ['src/audit/x.ts', 'node:fs'],
    ['src/audit/x.ts', 'zod'],
    ['src/audit/x.ts', '../platform/outbound/operator.ts'],
    ['src/verify/x.ts', 'node:fs'],
    ['src/verify/x.ts', 'zod'],
    ['src/verify/x.ts', '../platform/outbound/operator.ts'],
    ['src/verify/x.ts', '../chain/eas/eas.ts'],
    ['src/cli/svc/x.ts', '../script.ts'],
    ['src/cli/svc/x.ts', '../../main.ts'],
    ['src/payer.ts', './commerce/offerings.ts'],
    ['src/payer.ts', 'node:crypto'],
    ['src/page/x.ts', '../record/schemas/signal.ts'],
    ['src/page/x.ts', 'zod'],
    ['src/page/browser/x.ts', '../../app/app.ts'],
    ['skills/x.ts', '../src/http/server.ts'],
    ['agent-card/x.ts', '../src/http/server.ts'],
    ['clients/typescript/src/x.ts', '../../../src/app/app.ts'],
    ['clients/typescript/src/x.ts', '../../../src/record/scorecard.ts'],
    ['clients/typescript/src/x.ts', 'node:fs'],
    ['src/cli/svc/commands/x.ts', '../../../record/forecasts.ts'],
    ['src/cli/svc/x.ts', '../../commerce/offerings.ts'],
    ['src/adapter.ts', './record/forecasts.ts'],
    ['src/page/browser/x.ts', '../../platform/outbound/operator.ts'],
    ['src/page/browser/x.ts', '../../cli/svc/audit-options.ts'],
    ['src/page/browser/x.ts', 'node:fs'],
    ['src/page/browser/parts/x.ts', '../../../record/schemas/signal.ts'],
    ['src/page/browser/responses.ts', '../../app/app.ts'],
    ['skills/x.ts', '../src/contest.ts'],
    ['agent-card/x.ts', '../src/events/events.ts'],
    ['src/http/x.ts', '../pipeline/pipeline.ts'],
  ])('rejects %s importing %s', (file, specifier) => {
    expect(find(file, specifier)).toEqual([{ file, line: 7, message: expect.stringContaining('may not import') }]);
  });

  it.each([
    ['src/page/browser/parts/x.ts', '../dom.ts'],
    ['src/page/browser/x.ts', '../first-screen.ts'],
    ['src/page/browser/x.ts', '../../verify/findings.ts'],
    ['src/page/browser/x.ts', '../../audit/audit.ts'],
    ['src/page/browser/x.ts', '@noble/hashes/sha3.js'],
    ['src/page/browser/responses.ts', '../../record/schemas/signal.ts'],
    ['src/page/x.ts', '../forecast/day.ts'],
    ['src/audit/audit.ts', './chain-record.ts'],
    ['src/audit/x.ts', 'viem/actions'],
    ['src/audit/x.ts', '../verify/findings.ts'],
    ['src/audit/x.ts', '../chain/eas/schemas.ts'],
    ['src/forecast/deep/x.ts', '../day.ts'],
    ['src/forecast/x.ts', '../errors.ts'],
    ['src/forecast/x.ts', 'zod'],
    ['src/market/x.ts', '../forecast/day.ts'],
    ['src/market/x.ts', 'node:fs'],
    ['src/record/x.ts', '../chain/eas/eas.ts'],
    ['src/record/x.ts', '../auth/caller.ts'],
    ['src/record/x.ts', '../verify/summary.ts'],
    ['src/pipeline/x.ts', '../record/forecasts.ts'],
    ['src/platform/outbound/x.ts', '../../errors.ts'],
    ['src/platform/x.ts', '../config.ts'],
    ['src/http/x.ts', '../record/prediction.ts'],
    ['src/http/x.ts', '../contest.ts'],
    ['src/http/x.ts', '../adapter.ts'],
    ['src/http/routes/x.ts', '../route.ts'],
    ['src/verify/x.ts', 'viem'],
    ['src/verify/checks/x.ts', '../findings.ts'],
    ['src/verify/x.ts', '../chain/eas/schemas.ts'],
    ['src/dev/x.ts', '../pipeline/pipeline.ts'],
    ['src/dev/x.ts', '../tools/bundler.ts'],
    ['src/cli/svc/x.ts', '../../audit/audit.ts'],
    ['src/cli/svc/commands/pay.ts', '../../../commerce/receipts.ts'],
    ['src/payer.ts', './commerce/receipts.ts'],
    ['clients/typescript/src/x.ts', '../../../src/audit/service-claims.ts'],
    ['src/cli/x.ts', '../app/app.ts'],
    ['src/main.ts', './app/app.ts'],
    ['src/market/x.ts', '../../package.json'],
    ['test/unit/x.ts', '../../src/main.ts'],
  ])('lets %s import %s', (file, specifier) => {
    expect(find(file, specifier)).toEqual([]);
  });

  it('names layer, target and line', () => {
    const [{ line, message }] = find('src/wager/x.ts', '../market/market.ts');
    expect(line).toBe(7);
    expect(message).toBe('src/wager may not import src/market/market.ts (docs/ARCHITECTURE.md, "The import law")');
  });
});

it('is written as a list of at most a dozen lines', () => {
  const rows = renderImportLaw().split('\n');
  expect(rows[0]).toBe('1. `src/errors.ts`, `src/forecast`');
  expect(rows.length).toBeLessThanOrEqual(12);
});

it('reads specifiers of every kind of import, and of nothing else', () => {
  const source = `import type { A } from './a.ts';\nimport './b.ts';\nexport { c } from './c.ts';\nconst d = await import('./d.ts');\nconst from = './e.ts'; // from './f.ts'`;
  expect(readImports(source).map(({ specifier, line }) => [specifier, line])).toEqual([
    ['./a.ts', 1],
    ['./b.ts', 2],
    ['./c.ts', 3],
    ['./d.ts', 4],
  ]);
});
