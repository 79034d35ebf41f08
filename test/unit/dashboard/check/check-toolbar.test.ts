import { expect, it } from 'vitest';
import { formatTally } from '../../../../src/dashboard/check/check-toolbar.ts';
import type { Finding } from '../../../../src/dashboard/check/evidence/evidence.ts';

const finding = (stage: Finding['stage'], ...isDue: boolean[]): Finding => ({
  ...{ verdict: 'verified', stage, summary: '', checks: [] },
  open: isDue.map((due) => ({ what: 'the metadata', why: '', isDue: due })),
});

it('separates unresolved, void and incomplete findings in the tally', () => {
  expect(formatTally([finding('over')])).toBe('1 verified, 0 do not match, 0 could not be checked.');
  const all = [finding('over', false), finding('open', true, true), finding('open', true, false), finding('void', false)];
  const others = (['mismatch', 'unchecked', 'unchecked'] as const).map((verdict) => ({ ...finding('open', true), verdict }));
  expect(formatTally([...all, ...others])).toBe(
    '4 verified (2 so far, the rest once revealed; 1 as void, which never count; ' +
      '2 without the metadata, which was unavailable: see the rows), 1 do not match, 2 could not be checked.',
  );
});
