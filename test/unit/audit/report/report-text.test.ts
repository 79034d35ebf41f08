import { expect, it } from 'vitest';
import { buildAuditReport, reportText } from '../../../../src/audit/audit.ts';
import type { AuditPrices } from '../../../../src/audit/chain-record.ts';
import { createFindings } from '../../../../src/verify/findings.ts';

const ADDRESS = `0x${'1'.repeat(40)}` as const;
const PRICES: AuditPrices = { source: 'test', toleranceBps: 0, endsOn: null, closes: async () => new Map(), history: async () => null };

function textWith(notes: readonly string[]): string {
  const findings = createFindings();
  notes.forEach(findings.note);
  const where = { chainId: 1, attester: ADDRESS, eas: ADDRESS, fromBlock: 0, throughBlock: 1, service: null };
  return reportText(
    buildAuditReport({
      ...{ where, prices: PRICES, now: new Date(0) },
      ...{ rows: [], recomputed: [], missingCloses: [], challenges: [], findings, record: { predictions: [], resolutions: [] } },
    }),
  );
}

it('shows the first and the last of many notes', () => {
  const notes = Array.from({ length: 500 }, (_, index) => `note ${index};`);
  const text = textWith(notes);
  for (const shown of [...notes.slice(0, 17), ...notes.slice(497)]) expect(text).toContain(shown);
  for (const hidden of notes.slice(17, 497)) expect(text).not.toContain(hidden);
  expect(text).toContain('... and 480 more (all of them with --json)');
});
