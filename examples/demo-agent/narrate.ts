import { formatUnits } from 'viem';

/** A step that did not go as it should, with what to do about it. */
export class StepFailed extends Error {
  readonly hint: string;

  constructor(problem: string, hint: string) {
    super(problem);
    this.hint = hint;
  }
}

// The reader of the output has closed it, as `| head` does.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

let steps = 0;

export function beginStep(title: string): void {
  steps += 1;
  print(`\n${steps}. ${title}`);
}

/** Prints an action or its result. */
export function narrate(text: string): void {
  print(`   ${text}`);
}

/** Something that was checked and holds; otherwise the step has failed. */
export function check(holds: boolean, what: string, hint = 'What the service says does not hold. Do not rely on it.'): asserts holds {
  if (!holds) throw new StepFailed(`This does not hold: ${what}`, hint);
  print(`   ✓ ${what}`);
}

/** Units of a stablecoin with six decimals, as dollars. */
export function usd(units: bigint | string): string {
  return `${formatUnits(BigInt(units), 6)} USD`;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
