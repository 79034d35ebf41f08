import { expect, it } from 'vitest';
import type { ConfirmedAttestation } from '../../../src/chain/eas/eas.ts';
import { composeTrackRecord } from '../../../src/commerce/documents/track-record.ts';
import { hashDocument } from '../../../src/commerce/receipts.ts';
import type { Context } from '../../../src/context.ts';
import { OracleError } from '../../../src/errors.ts';
import { formatDay, parseDay } from '../../../src/forecast/day.ts';
import { RecordFigures } from '../../../src/record/figures.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import type { ModelStore } from '../../../src/record/model-card.ts';
import type { RecordProjection } from '../../../src/record/projection.ts';
import { buildTestForecast } from '../record/forecast-fixture.ts';

const FIRST = parseDay('2026-01-01');
const STATES = ['WIN', 'LOSS', 'HOLD'] as const;
const hash = (n: number) => `0x${n.toString(16).padStart(8, '0').repeat(8)}` as const;

/** As the chain would have them: a uid of its own each, one transaction for the four forecasts of a day, one for each day's reveals. */
function docsOf(horizonDays: number, days: number): ForecastDoc[] {
  return Array.from({ length: days }, (_, index) => {
    const doc = buildTestForecast({ date: formatDay(FIRST + index), horizonDays, state: STATES[index % 3] });
    const attested = (reference: ConfirmedAttestation | null, uid: number, tx: number) =>
      reference && { ...reference, uid: hash(uid), txHash: hash(tx) };
    return {
      ...doc,
      attestation: attested(doc.attestation, 10 * index + horizonDays, 100_000 + index),
      reveal: attested(doc.reveal, 1_000_000 + 10 * index + horizonDays, 200_000 + index + horizonDays),
    };
  });
}

const noModels = {
  get: async () => {
    throw new OracleError('NOT_FOUND', 'There is no model');
  },
};

const partsOf = (days: number) => {
  const record = {
    known: { revisions: { forecasts: 1 }, listByHorizon: (horizonDays: number) => docsOf(horizonDays, days), findScores: () => null },
  };
  return {
    record,
    viewFor: () => ({ caller: { tier: 'public' }, policy: 'resolution', now: new Date('2030-01-01T00:00:00Z'), saltSecret: 'of a test' }),
    saltSecret: 'of a test',
    figures: new RecordFigures(record.known as unknown as RecordProjection, noModels as unknown as ModelStore),
    market: { kind: 'live' },
    chain: { chainId: 84532, addresses: { eas: hash(1).slice(0, 42), schemaRegistry: hash(2).slice(0, 42) } },
    wallets: { attester: { address: hash(3).slice(0, 42) } },
  } as unknown as Context;
};

it.each([
  [400, 1_000_000],
  [800, 2_000_000],
])('the record of %i days fits into %i bytes', async (days, bytes) => {
  const document = await composeTrackRecord(partsOf(days));
  expect(JSON.stringify(document).length).toBeLessThan(bytes);
  expect((document as unknown as { horizons: { rows: unknown[] }[] }).horizons.flatMap(({ rows }) => rows)).toHaveLength(4 * days);
  expect(hashDocument(document)).toMatch(/^0x/);
});
