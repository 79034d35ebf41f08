/** Value of a function of several variables; writes its gradient. */
export type Objective = (at: Float64Array, gradient: Float64Array) => number;

const MAX_STEPS = 100;
const MAX_HALVINGS = 30;
/** Longest step of a variable, so that a poor first curvature cannot leave the region of the start. */
const MAX_STEP = 1;
/** Share of the decrease that the slope promises (Armijo). */
const SUFFICIENT = 1e-4;

/** Local minimum by BFGS with a backtracking line search; the same input gives the same result. */
export function minimize(objective: Objective, start: ArrayLike<number>, tolerance: number): { at: Float64Array; value: number } {
  const at = Float64Array.from(start);
  const size = at.length;
  const state = { at, gradient: new Float64Array(size), value: 0, inverse: identity(size) };
  state.value = objective(at, state.gradient);
  for (let step = 0; step < MAX_STEPS; step++) {
    const direction = descend(state.inverse, state.gradient);
    const slope = dot(direction, state.gradient);
    const found = slope < 0 ? searchLine(objective, state, direction, slope) : null;
    if (found === null) break;
    const decrease = state.value - found.value;
    const moved = found.at.map((value, index) => value - state.at[index]);
    const change = found.gradient.map((value, index) => value - state.gradient[index]);
    updateInverse(state.inverse, moved, change);
    Object.assign(state, found);
    if (decrease < tolerance) break;
  }
  return { at: state.at, value: state.value };
}

interface Point {
  at: Float64Array;
  gradient: Float64Array;
  value: number;
}

function searchLine(objective: Objective, from: Point, direction: Float64Array, slope: number): Point | null {
  let length = Math.min(1, MAX_STEP / Math.max(...direction.map(Math.abs)));
  const gradient = new Float64Array(direction.length);
  for (let halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
    const at = from.at.map((value, index) => value + length * direction[index]);
    const value = objective(at, gradient);
    if (value <= from.value + SUFFICIENT * length * slope) return { at, gradient, value };
  }
  return null;
}

/** BFGS update of the inverse Hessian, row-major; left out where the curvature is not positive. */
function updateInverse(inverse: Float64Array, moved: Float64Array, change: Float64Array): void {
  const curvature = dot(moved, change);
  if (!(curvature > 0)) return;
  const size = moved.length;
  const product = multiply(inverse, change);
  const factor = (1 + dot(change, product) / curvature) / curvature;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      inverse[i * size + j] += factor * moved[i] * moved[j] - (product[i] * moved[j] + moved[i] * product[j]) / curvature;
    }
  }
}

function descend(inverse: Float64Array, gradient: Float64Array): Float64Array {
  return multiply(inverse, gradient).map((value) => -value);
}

function multiply(matrix: Float64Array, vector: Float64Array): Float64Array {
  const size = vector.length;
  return vector.map((_, i) => dot(matrix.subarray(i * size, (i + 1) * size), vector));
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index] * b[index];
  return sum;
}

function identity(size: number): Float64Array {
  return Float64Array.from({ length: size * size }, (_, index) => (index % (size + 1) === 0 ? 1 : 0));
}
