import { expect, it } from 'vitest';
import type { ScorecardRow } from '../../../../src/page/browser/responses.ts';
import { findNewestRevealed } from '../../../../src/page/browser/today.ts';
import { OPEN, ROW } from '../check/evidence.ts';

const row = (what: object): ScorecardRow => ({ ...ROW, attestationUid: '0x1', resolutionUid: '0x2', ...what });

it('returns the newest call revealed on chain, not a committed one that its reader may see', () => {
  const gated = row({ ...OPEN, resolutionUid: null });
  const visible = row({ status: 'PENDING', resolutionUid: null });
  const isVoid = row({ ...OPEN, status: 'VOID', resolutionUid: null });
  const opened = row({ date: '2026-02-20' });
  expect(findNewestRevealed([visible, gated, isVoid, opened, row({})])).toEqual({ row: opened, index: 3 });
  expect(findNewestRevealed([visible, gated, isVoid])).toBeNull();
  expect(findNewestRevealed([])).toBeNull();
});
