import { expect, it } from 'vitest';
import { formatTally, type RowFinding } from '../../../../src/page/browser/check.ts';
import { type CheckId, createFindings, NO_SUBJECT } from '../../../../src/verify/findings.ts';

/** @param open ids of checks that are left open */
function finding(stage: RowFinding['stage'], ...open: CheckId[]): RowFinding {
  const { list, leave } = createFindings();
  for (const check of open) leave(check, NO_SUBJECT, 'it is silent', false);
  return { verdict: 'pass', stage, summary: '', findings: list };
}

it('separates unresolved, void and incomplete findings in the tally', () => {
  expect(formatTally([finding('over')])).toBe('1 verified, 0 do not match, 0 could not be checked.');
  const all = [
    finding('over', 'metadata'),
    finding('open', 'revealed', 'opening'),
    finding('open', 'revealed', 'metadata'),
    finding('void', 'metadata'),
  ];
  const others = (['fail', 'unknown', 'unknown'] as const).map((verdict) => ({ ...finding('open', 'revealed'), verdict }));
  expect(formatTally([...all, ...others])).toBe(
    '4 verified (2 so far, the rest once revealed; 1 as void, which never count; ' +
      '2 without metadata, which was unavailable: see the rows), 1 do not match, 2 could not be checked.',
  );
});
