import { describe, expect, it } from 'vitest';
import { buildWeakEtag, matchesEtag } from '../../../../../../src/http/replies.ts';

describe('buildWeakEtag', () => {
  const body = {
    price: 1,
    timestamp: 'now',
    ageSeconds: 3,
    inputs: [
      { series: 'spot', ageSeconds: 3 },
      { ageDays: 1, stale: false },
    ],
  };

  it('is weak, and ignores volatile members', () => {
    const later = {
      price: 1,
      timestamp: 'later',
      ageSeconds: 9,
      inputs: [
        { series: 'spot', ageSeconds: 9 },
        { ageDays: 2, stale: false },
      ],
    };
    expect(buildWeakEtag(body)).toMatch(/^W\/"[\w-]{43}"$/);
    expect(buildWeakEtag(later)).toBe(buildWeakEtag(body));
  });

  it('changes with any other member', () => {
    const others = [
      { ...body, price: 2 },
      { ...body, inputs: [{ series: 'spot' }, { stale: true }] },
      { ...body, observedAt: 'then' },
    ];
    expect(new Set([body, ...others].map(buildWeakEtag)).size).toBe(4);
  });
});

describe('matchesEtag', () => {
  const tag = 'W/"abc"';

  it.each(['W/"abc"', '"abc"', '"x", W/"abc" ,"y"', '*', ' * '])('matches %s', (header) => {
    expect(matchesEtag(header, tag)).toBe(true);
  });

  it.each(['', '"abcd"', 'abc', 'W/"x"'])('does not match %s', (header) => {
    expect(matchesEtag(header, tag)).toBe(false);
  });
});
