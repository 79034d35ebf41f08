/** `2 * eachSide + 1` round strikes around a price in USD, ascending, about `distance` (a share of the price) apart. */
export function buildStrikesAround(spotUsd: number, distance: number, eachSide: number): number[] {
  const step = chooseRoundStep(distance * spotUsd);
  const nearest = Math.round(spotUsd / step);
  // toPrecision removes the rounding error of the product.
  return Array.from({ length: 2 * eachSide + 1 }, (_, index) => Number(((nearest + index - eachSide) * step).toPrecision(6)));
}

/** 1, 2 or 5 times a power of ten, near the wanted distance. */
export function chooseRoundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const digits = wanted / power;
  if (digits < 1.5) return power;
  return (digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10) * power;
}
