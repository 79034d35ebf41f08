const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012,
  9.984369578019572e-6, 1.5056327351493116e-7,
];
const MAX_TERMS = 300;
const TINY = 1e-300;

/** Natural logarithm of the gamma function for x >= 0.5 (Lanczos, g = 7): relative error below 1e-14. */
export function logGamma(x: number): number {
  let sum = 0.9999999999998099;
  for (let index = 0; index < LANCZOS.length; index++) sum += LANCZOS[index] / (x + index);
  const t = x + LANCZOS.length - 1.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Quantile of Student's t at `p`, 0 < p < 1, by Newton's method within a bracket; `degrees` > 0. */
export function studentTQuantile(p: number, degrees: number): number {
  if (p === 0.5) return 0;
  if (p < 0.5) return -studentTQuantile(1 - p, degrees);
  let low = 0;
  let high = 1;
  while (studentTCdf(high, degrees) < p) high *= 2;
  let t = high / 2;
  for (let step = 0; step < MAX_TERMS && high - low > 1e-13 * high; step++) {
    const error = studentTCdf(t, degrees) - p;
    if (error > 0) high = t;
    else low = t;
    const next = t - error / studentTDensity(t, degrees);
    const moved = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(moved - t) < 1e-14 * t) return moved;
    t = moved;
  }
  return t;
}

export function studentTDensity(t: number, degrees: number): number {
  const log = logGamma((degrees + 1) / 2) - logGamma(degrees / 2 + 1) + Math.log(degrees / 2) - 0.5 * Math.log(degrees * Math.PI);
  return Math.exp(log - ((degrees + 1) / 2) * Math.log1p((t * t) / degrees));
}

export function studentTCdf(t: number, degrees: number): number {
  const tail = 0.5 * incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

/** Regularised incomplete beta function, by the continued fraction of DLMF 8.17.22. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const log = logGamma(a + b + 1) - Math.log(a + b) - logGamma(a + 1) - logGamma(b + 1) + Math.log(a) + Math.log(b);
  const front = Math.exp(log + a * Math.log(x) + b * Math.log1p(-x));
  if (x > (a + 1) / (a + b + 2)) return 1 - (front * continueFraction(1 - x, b, a)) / b;
  return (front * continueFraction(x, a, b)) / a;
}

/** Lentz's method. */
function continueFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m < MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return value;
}

function nonZero(x: number): number {
  return Math.abs(x) < TINY ? TINY : x;
}
