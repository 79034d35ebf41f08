import { describe, expect, it } from 'vitest';
import {
  createLikelihood,
  minimize,
  studentTDensity,
  studentTQuantile,
  toParameters,
  toVariables,
} from '../../../../../src/forecast/baselines.ts';
import { createRandom } from '../../../../../src/forecast/bootstrap.ts';

const TRUE = { mu: 0.1, omega: 0.3, alpha: 0.12, beta: 0.85, degrees: 5 };

function simulateReturns(n: number): Float64Array {
  const random = createRandom(11);
  const unit = Math.sqrt((TRUE.degrees - 2) / TRUE.degrees);
  let variance = TRUE.omega / (1 - TRUE.alpha - TRUE.beta);
  return Float64Array.from({ length: n }, () => {
    const error = Math.sqrt(variance) * unit * studentTQuantile(0.0001 + 0.9998 * random(), TRUE.degrees);
    variance = TRUE.omega + TRUE.alpha * error ** 2 + TRUE.beta * variance;
    return TRUE.mu + error;
  });
}

describe('the likelihood of GARCH(1,1)-t', () => {
  it('is the density of each return by its variance', () => {
    const returns = Float64Array.of(1, -2, 0.5);
    let [variance, sum] = [4, 0];
    for (const one of returns) {
      const scale = Math.sqrt((variance * (TRUE.degrees - 2)) / TRUE.degrees);
      sum -= Math.log(studentTDensity((one - TRUE.mu) / scale, TRUE.degrees) / scale);
      variance = TRUE.omega + TRUE.alpha * (one - TRUE.mu) ** 2 + TRUE.beta * variance;
    }
    const value = createLikelihood(returns, 4)(Float64Array.from(toVariables(TRUE)), new Float64Array(5));
    expect(value).toBeCloseTo(sum / 3, 12);
  });

  it('has the gradient of its differences', () => {
    const likelihood = createLikelihood(simulateReturns(500), 10);
    const at = Float64Array.of(0.2, -1.5, 3, -1.8, 0.7);
    const gradient = new Float64Array(5);
    likelihood(at, gradient);
    for (let index = 0; index < 5; index++) {
      const shifted = (by: number) => likelihood(at.with(index, at[index]! + by), new Float64Array(5));
      expect(gradient[index]).toBeCloseTo((shifted(1e-5) - shifted(-1e-5)) / 2e-5, 6);
    }
  });

  it('finds the parameters of a long simulation', () => {
    const returns = simulateReturns(20_000);
    const { at } = minimize(createLikelihood(returns, 10), toVariables({ ...TRUE, mu: 0, omega: 1, degrees: 8 }), 1e-10);
    const found = toParameters(at);
    expect(found.mu).toBeCloseTo(TRUE.mu, 1);
    expect(found.omega).toBeGreaterThan(0.2);
    expect(found.omega).toBeLessThan(0.4);
    expect(found.alpha).toBeCloseTo(TRUE.alpha, 1);
    expect(found.beta).toBeCloseTo(TRUE.beta, 1);
    expect(found.degrees).toBeGreaterThan(4.3);
    expect(found.degrees).toBeLessThan(6);
  });
});

describe('minimize', () => {
  it('finds the minimum of Rosenbrock', () => {
    const { at, value } = minimize(
      ([x, y], gradient) => {
        gradient.set([-400 * x! * (y! - x! ** 2) - 2 * (1 - x!), 200 * (y! - x! ** 2)]);
        return 100 * (y! - x! ** 2) ** 2 + (1 - x!) ** 2;
      },
      [-1.2, 1],
      1e-16,
    );
    expect(value).toBeLessThan(1e-12);
    expect([...at].every((x) => Math.abs(x - 1) < 1e-5)).toBe(true);
  });

  it('stays at a start without slope', () => {
    expect(minimize(() => 3, [1, 2], 1e-9)).toEqual({ at: Float64Array.of(1, 2), value: 3 });
  });
});
