import fc from 'fast-check';

const STEPS = 1_000_000;

/** A number of a range, mostly an even draw: the doubles that fast-check draws from a range with a zero in it are nearly all next to zero. */
export function between(least: number, most: number): fc.Arbitrary<number> {
  const even = fc.nat(STEPS).map((step) => Math.min(most, least + ((most - least) * step) / STEPS));
  return fc.oneof({ weight: 3, arbitrary: even }, { weight: 1, arbitrary: fc.double({ min: least, max: most, noNaN: true }) });
}
