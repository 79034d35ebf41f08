export const Z_95 = 1.959963984540054;

/** Standard normal distribution function: Zelen and Severo's approximation (Abramowitz and Stegun 26.2.17), error below 7.5e-8. */
export function normalCdf(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * poly;
  return z > 0 ? 1 - tail : tail;
}

const CENTRE = {
  above: [2.506628277459239, -30.66479806614716, 138.357751867269, -275.9285104469687, 220.9460984245205, -39.69683028665376],
  below: [1, -13.28068155288572, 66.80131188771972, -155.6989798598866, 161.5858368580409, -54.47609879822406],
};

const TAIL = {
  above: [2.938163982698783, 4.374664141464968, -2.549732539343734, -2.400758277161838, -0.3223964580411365, -0.007784894002430293],
  below: [1, 3.754408661907416, 2.445134137142996, 0.3224671290700398, 0.007784695709041462],
};

const TAIL_FROM = 0.02425;

/** Standard normal quantile of `p`, 0 < p < 1: Acklam's rational approximation, relative error below 1.2e-9. */
export function normalQuantile(p: number): number {
  if (p > 1 - TAIL_FROM) return -normalQuantile(1 - p);
  if (p < TAIL_FROM) {
    const x = Math.sqrt(-2 * Math.log(p));
    return polynomial(TAIL.above, x) / polynomial(TAIL.below, x);
  }
  const x = p - 0.5;
  return (x * polynomial(CENTRE.above, x * x)) / polynomial(CENTRE.below, x * x);
}

/** Coefficients from the constant term up. */
function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}
