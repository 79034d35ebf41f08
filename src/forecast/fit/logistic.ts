export interface LogisticProblem {
  /** Row-major, `width` numbers a row. */
  design: Float64Array;
  width: number;
  /** 1 or 0 a row. */
  labels: Float64Array;
  weights: Float64Array;
  /** Fixed part of the log odds of each row; none means 0. */
  offset?: Float64Array;
  /** Rows from (inclusive) and to (exclusive). */
  from: number;
  to: number;
  /** Inverse variance of each coefficient's prior; 0 leaves it free. */
  precision: readonly number[];
  priorMean: readonly number[];
}

const TOLERANCE = 1e-10;
const MAX_STEPS = 100;

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

export function logit(p: number): number {
  return Math.log(p / (1 - p));
}

/** Coefficients of highest posterior density, by Newton's method (IRLS) from zero until no step exceeds 1e-10. */
export function fitLogistic(problem: LogisticProblem): number[] {
  const beta = new Array<number>(problem.width).fill(0);
  for (let iteration = 0; iteration < MAX_STEPS; iteration++) {
    const { gradient, hessian } = computeDerivatives(problem, beta);
    const step = solvePositiveDefinite(hessian, gradient);
    // A free intercept diverges when all labels agree, until no curvature is left; the slopes have converged by then.
    if (step === undefined) return beta;
    for (let i = 0; i < beta.length; i++) beta[i] += step[i];
    if (step.every((change) => Math.abs(change) < TOLERANCE)) return beta;
  }
  return beta;
}

/** Gradient of the log posterior and the negative of its Hessian (row-major, lower triangle filled). */
function computeDerivatives(problem: LogisticProblem, beta: readonly number[]) {
  const { design, width, labels, weights, offset, precision, priorMean } = problem;
  const gradient = new Float64Array(width);
  const hessian = new Float64Array(width * width);
  for (let row = problem.from; row < problem.to; row++) {
    const base = row * width;
    let odds = offset === undefined ? 0 : offset[row];
    for (let i = 0; i < width; i++) odds += beta[i] * design[base + i];
    const p = sigmoid(odds);
    const residual = weights[row] * (labels[row] - p);
    const curvature = weights[row] * p * (1 - p);
    for (let i = 0; i < width; i++) {
      const x = design[base + i];
      const curved = curvature * x;
      gradient[i] += residual * x;
      for (let j = 0; j <= i; j++) hessian[i * width + j] += curved * design[base + j];
    }
  }
  for (let i = 0; i < width; i++) {
    gradient[i] -= precision[i] * (beta[i] - priorMean[i]);
    hessian[i * width + i] += precision[i];
  }
  return { gradient, hessian };
}

/** Solves `matrix` x = `vector` by Cholesky, in place; undefined when the matrix is not positive definite. */
function solvePositiveDefinite(matrix: Float64Array, vector: Float64Array): Float64Array | undefined {
  const n = vector.length;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j];
      for (let k = 0; k < j; k++) sum -= matrix[i * n + k] * matrix[j * n + k];
      if (j < i) matrix[i * n + j] = sum / matrix[j * n + j];
      else if (sum > 0) matrix[i * n + i] = Math.sqrt(sum);
      else return undefined;
    }
    for (let k = 0; k < i; k++) vector[i] -= matrix[i * n + k] * vector[k];
    vector[i] /= matrix[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) vector[i] -= matrix[k * n + i] * vector[k];
    vector[i] /= matrix[i * n + i];
  }
  return vector;
}
