export interface LogisticProblem {
  /** A column an input, aligned with `labels`. */
  design: readonly Float64Array[];
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
  const newton = new NewtonSteps(problem);
  const beta = new Array<number>(problem.design.length).fill(0);
  for (let iteration = 0; iteration < MAX_STEPS; iteration++) {
    const step = newton.computeStep(beta);
    // A free intercept diverges when all labels agree, until no curvature is left; the slopes have converged by then.
    if (step === undefined) return beta;
    for (let i = 0; i < beta.length; i++) beta[i] += step[i];
    if (step.every((change) => Math.abs(change) < TOLERANCE)) return beta;
  }
  return beta;
}

/** Newton steps of one fit; all steps work in the same arrays. */
class NewtonSteps {
  readonly #problem: LogisticProblem;
  readonly #columns: Float64Array[];
  readonly #labels: Float64Array;
  readonly #weights: Float64Array;
  readonly #odds: Float64Array;
  readonly #curvatures: Float64Array;
  readonly #factors: Float64Array;
  readonly #gradient: Float64Array;
  /** Negative Hessian of the log posterior, row-major, lower triangle filled. */
  readonly #hessian: Float64Array;

  constructor(problem: LogisticProblem) {
    const { design, labels, weights, from, to } = problem;
    this.#problem = problem;
    this.#columns = design.map((column) => column.subarray(from, to));
    this.#labels = labels.subarray(from, to);
    this.#weights = weights.subarray(from, to);
    this.#odds = new Float64Array(to - from);
    this.#curvatures = new Float64Array(to - from);
    this.#factors = new Float64Array(to - from);
    this.#gradient = new Float64Array(design.length);
    this.#hessian = new Float64Array(design.length ** 2);
  }

  /** The step from `beta`; undefined without curvature. */
  computeStep(beta: readonly number[]): Float64Array | undefined {
    const { precision, priorMean } = this.#problem;
    this.#computeOdds(beta);
    this.#computeResiduals();
    sumProducts(this.#factors, this.#columns, this.#gradient);
    this.#computeHessian();
    for (let i = 0; i < beta.length; i++) {
      this.#gradient[i] -= precision[i] * (beta[i] - priorMean[i]);
      this.#hessian[i * beta.length + i] += precision[i];
    }
    return solvePositiveDefinite(this.#hessian, this.#gradient);
  }

  #computeOdds(beta: readonly number[]): void {
    const { offset, from, to } = this.#problem;
    const odds = this.#odds;
    if (offset === undefined) odds.fill(0);
    else odds.set(offset.subarray(from, to));
    for (let i = 0; i < beta.length; i++) {
      const slope = beta[i];
      const column = this.#columns[i];
      for (let row = 0; row < odds.length; row++) odds[row] += slope * column[row];
    }
  }

  /** Weighted residuals into the factors, and the curvatures. */
  #computeResiduals(): void {
    const [odds, labels, weights, factors, curvatures] = [this.#odds, this.#labels, this.#weights, this.#factors, this.#curvatures];
    for (let row = 0; row < odds.length; row++) {
      const p = sigmoid(odds[row]);
      const weight = weights[row];
      factors[row] = weight * (labels[row] - p);
      curvatures[row] = weight * p * (1 - p);
    }
  }

  #computeHessian(): void {
    const width = this.#columns.length;
    const [factors, curvatures] = [this.#factors, this.#curvatures];
    for (let i = 0; i < width; i++) {
      const column = this.#columns[i];
      for (let row = 0; row < factors.length; row++) factors[row] = curvatures[row] * column[row];
      sumProducts(factors, this.#columns, this.#hessian.subarray(i * width, i * width + i + 1));
    }
  }
}

/** Sums of the factors times each of the first `sums.length` columns, three columns a pass. */
function sumProducts(factors: Float64Array, columns: readonly Float64Array[], sums: Float64Array): void {
  const last = sums.length - 1;
  for (let first = 0; first <= last; first += 3) {
    const [a, b, c] = [columns[first], columns[Math.min(first + 1, last)], columns[Math.min(first + 2, last)]];
    let [sumA, sumB, sumC] = [0, 0, 0];
    for (let row = 0; row < factors.length; row++) {
      const factor = factors[row];
      sumA += factor * a[row];
      sumB += factor * b[row];
      sumC += factor * c[row];
    }
    sums[first] = sumA;
    if (first + 1 <= last) sums[first + 1] = sumB;
    if (first + 2 <= last) sums[first + 2] = sumC;
  }
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
