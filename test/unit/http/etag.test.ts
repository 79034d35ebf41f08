import { describe, expect, it } from 'vitest';
import { namesEtag, weakEtag } from '../../../src/http/etag.ts';

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
    expect(weakEtag(body)).toMatch(/^W\/"[\w-]{43}"$/);
    expect(weakEtag(later)).toBe(weakEtag(body));
  });

  it('is another one for anything else', () => {
    const others = [
      { ...body, price: 2 },
      { ...body, inputs: [{ series: 'spot' }, { stale: true }] },
      { ...body, observedAt: 'then' },
    ];
    expect(new Set([body, ...others].map(weakEtag)).size).toBe(4);
  });
});

describe('namesEtag', () => {
  const tag = 'W/"abc"';

  it.each(['W/"abc"', '"abc"', '"x", W/"abc" ,"y"', '*', ' * '])('finds it in %s', (header) => {
    expect(namesEtag(header, tag)).toBe(true);
  });

  it.each([undefined, '', '"abcd"', 'abc', 'W/"x"'])('does not find it in %s', (header) => {
    expect(namesEtag(header, tag)).toBe(false);
  });
});
