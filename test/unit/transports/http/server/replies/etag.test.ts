import { describe, expect, it } from 'vitest';
import { buildWeakEtag, matchesEtag } from '../../../../../../src/transports/http/server/replies/etag.ts';

describe('weakEtag', () => {
  const body = {
    price: 1,
    timestamp: 'now',
    ageSeconds: 3,
    inputs: [
      { series: 'spot', ageSeconds: 3 },
      { ageDays: 1, stale: false },
    ],
  };

  it('is weak, and the same while only time passes', () => {
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

  it('is another one for anything else', () => {
    const others = [
      { ...body, price: 2 },
      { ...body, inputs: [{ series: 'spot' }, { stale: true }] },
      { ...body, observedAt: 'then' },
    ];
    expect(new Set([body, ...others].map(buildWeakEtag)).size).toBe(4);
  });
});

describe('namesEtag', () => {
  const tag = 'W/"abc"';

  it.each(['W/"abc"', '"abc"', '"x", W/"abc" ,"y"', '*', ' * '])('finds it in %s', (header) => {
    expect(matchesEtag(header, tag)).toBe(true);
  });

  it.each(['', '"abcd"', 'abc', 'W/"x"'])('does not find it in %s', (header) => {
    expect(matchesEtag(header, tag)).toBe(false);
  });
});
