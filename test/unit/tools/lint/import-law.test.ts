import { describe, expect, it } from 'vitest';
import { findForbiddenImports } from '../../../../src/tools/lint/import-law.ts';
import { renderImportLaw } from '../../../../src/tools/lint/import-law-table.ts';

const find = (file: string, specifier: string) => findForbiddenImports(file, [{ specifier, line: 7 }]);

describe('the import law', () => {
  it.each([
    ['src/forecast/x.ts', '../market/feed.ts'],
    ['src/forecast/x.ts', 'node:fs'],
    ['src/forecast/deep/x.ts', '../../platform/mongo/mongo.ts'],
    ['src/forecast/x.ts', '../platform/concurrency/shared-reads.ts'],
    ['src/platform/x.ts', '../chain/rpc/client.ts'],
    ['src/platform/outbound/x.ts', '../../events/channels.ts'],
    ['src/market/x.ts', '../chain/eas/eas.ts'],
    ['src/chain/x.ts', '../record/forecasts.ts'],
    ['src/wager/x.ts', '../market/market.ts'],
    ['src/record/x.ts', '../pipeline/signal.ts'],
    ['src/record/x.ts', '../auth/access.ts'],
    ['src/pipeline/x.ts', '../events/log/publisher.ts'],
    ['src/pipeline/x.ts', '../dev/replay/replay.ts'],
    ['src/contest/x.ts', '../commerce/price-list.ts'],
    ['src/commerce/x.ts', '../contest/contest.ts'],
    ['src/transports/http/x.ts', '../../app/assemble-service.ts'],
    ['src/transports/http/x.ts', '../mcp/server.ts'],
    ['src/transports/mcp/x.ts', '../a2a/server.ts'],
    ['src/transports/http/x.ts', '../../dev/embedded-db/mongo-host.ts'],
    ['src/transports/http/x.ts', '../../cli/svc/host.ts'],
    ['src/transports/adapter.ts', '../record/views.ts'],
    ['src/audit/x.ts', '../record/forecasts.ts'],
    ['src/audit/x.ts', '../auth/caller.ts'],
    ['src/audit/x.ts', '../cli/svc/host.ts'],
    ['src/audit/x.ts', 'mongodb'],
    ['src/verify/x.ts', 'node:fs'],
    ['src/verify/x.ts', 'zod'],
    ['src/verify/x.ts', '../platform/outbound/evm-client.ts'],
    ['src/verify/x.ts', '../chain/eas/salt.ts'],
    ['src/forecast/x.ts', '../verify/findings.ts'],
    ['src/cli/svc/commands/x.ts', '../../../record/views.ts'],
    ['src/cli/svc/x.ts', '../../commerce/price-list.ts'],
    ['src/cli/svc/x.ts', '../commands/audit.ts'],
    ['src/cli/svc/x.ts', '../../main.ts'],
    ['src/dashboard/lib/x.ts', '../../platform/outbound/evm-client.ts'],
    ['src/dashboard/check/x.ts', '../../audit/command/open-chain.ts'],
    ['src/audit/chain/x.ts', 'node:fs'],
    ['src/audit/claims/x.ts', 'zod'],
    ['src/audit/audit.ts', '../platform/outbound/operator-fetch.ts'],
    ['src/audit/report/x.ts', '../prices/csv-prices.ts'],
    ['src/dashboard/lib/x.ts', 'node:fs'],
    ['src/dashboard/parts/x.ts', '../../record/schemas/signal.ts'],
    ['src/dashboard/state/responses.ts', '../../record/views.ts'],
    ['skills/x.ts', '../src/transports/http/app.ts'],
    ['agent-card/x.ts', '../src/events/event-names.ts'],
  ])('rejects %s importing %s', (file, specifier) => {
    expect(find(file, specifier)).toEqual([{ file, line: 7, message: expect.stringContaining('may not import') }]);
  });

  it.each([
    ['src/dashboard/parts/x.ts', '../lib/dom.ts'],
    ['src/dashboard/check/x.ts', '../../verify/checks.ts'],
    ['src/dashboard/check/x.ts', '../../audit/audit.ts'],
    ['src/audit/audit.ts', './chain/audit-chain.ts'],
    ['src/audit/chain/x.ts', 'viem/actions'],
    ['src/audit/chain/x.ts', '../../verify/findings.ts'],
    ['src/dashboard/check/x.ts', '@noble/hashes/sha3.js'],
    ['src/dashboard/state/responses.ts', '../../record/schemas/signal.ts'],
    ['src/forecast/deep/x.ts', '../day.ts'],
    ['src/forecast/x.ts', '../platform/errors.ts'],
    ['src/forecast/x.ts', 'zod'],
    ['src/market/x.ts', '../forecast/day.ts'],
    ['src/market/x.ts', 'node:fs'],
    ['src/record/x.ts', '../chain/eas/eas.ts'],
    ['src/record/x.ts', '../auth/caller.ts'],
    ['src/pipeline/x.ts', '../record/forecasts.ts'],
    ['src/transports/http/x.ts', '../../record/views.ts'],
    ['src/transports/http/x.ts', '../../contest/contest.ts'],
    ['src/transports/http/x.ts', '../adapter.ts'],
    ['src/transports/http/deep/x.ts', '../server/route.ts'],
    ['src/audit/x.ts', '../chain/eas/eas.ts'],
    ['src/verify/x.ts', 'viem'],
    ['src/verify/checks/x.ts', '../findings.ts'],
    ['src/verify/x.ts', '../chain/eas/attestation-schemas.ts'],
    ['src/record/x.ts', '../verify/summary.ts'],
    ['src/audit/command/x.ts', '../../platform/outbound/operator-fetch.ts'],
    ['src/audit/x.ts', './prices/audit-prices.ts'],
    ['src/dev/x.ts', '../pipeline/signal.ts'],
    ['src/platform/outbound/x.ts', '../errors.ts'],
    ['src/cli/svc/x.ts', '../../audit/audit.ts'],
    ['src/cli/svc/pay/x.ts', '../../../commerce/receipts/receipt.ts'],
    ['src/payer/x.ts', '../commerce/receipts/receipt.ts'],
    ['clients/typescript/src/x.ts', '../../../src/audit/claims/service-claims.ts'],
    ['src/cli/commands/x.ts', '../../app/process.ts'],
    ['src/main.ts', './app/assemble-service.ts'],
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

describe('renderImportLaw', () => {
  it('returns a row per layer', () => {
    const rows = renderImportLaw().split('\n');
    expect(rows[0]).toBe('| Code in | may import |');
    expect(rows).toContain('| `src/platform` | nothing |');
    expect(rows).toContain('| `src/wager` | src/platform, src/forecast |');
  });
});
