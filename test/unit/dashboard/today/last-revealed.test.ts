import { expect, it } from 'vitest';
import type { ScorecardRow } from '../../../../src/dashboard/state/responses.ts';
import { findNewestRevealed } from '../../../../src/dashboard/today/last-revealed.js';
import { OPEN, ROW } from '../check/evidence.ts';

const row = (what: object): ScorecardRow => ({ ...ROW, attestationUid: '0x1', resolutionUid: '0x2', ...what });

it('the last opened call is the newest one that the chain has opened, and no open one that its reader is told', () => {
  const gated = row({ ...OPEN, resolutionUid: null });
  const toldToMe = row({ status: 'PENDING', resolutionUid: null });
  const isVoid = row({ ...OPEN, status: 'VOID', resolutionUid: null });
  const opened = row({ date: '2026-02-20' });
  expect(findNewestRevealed([toldToMe, gated, isVoid, opened, row({})])).toEqual({ row: opened, index: 3 });
  expect(findNewestRevealed([toldToMe, gated, isVoid])).toBeNull();
  expect(findNewestRevealed([])).toBeNull();
});
