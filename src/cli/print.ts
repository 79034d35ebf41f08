import type { Host } from './host.ts';
import { type Pen, penFor } from './text/style.ts';

/** Whether a program reads: it was told so, or the output is no terminal. */
export function wantsJson(host: Host, json: boolean | undefined): boolean {
  return json === true || host.out.isTTY !== true;
}

export function printJson({ out }: Host, value: unknown): void {
  out.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Writes lines for a person. */
export function printLines(host: Host, lines: (pen: Pen) => readonly string[]): void {
  host.out.write(`${lines(penFor(host.out, host)).join('\n')}\n`);
}

/** Says something beside the answer. */
export function tell({ err }: Host, text: string): void {
  err.write(`${text}\n`);
}
