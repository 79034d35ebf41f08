import type { Host, Screen } from './host.ts';
import { type Pen, penFor, screenLine, singleLine } from './text/style.ts';

/** Whether a program reads: it was told so, or the output is no terminal. */
export function wantsJson(host: Host, json: boolean | undefined): boolean {
  return json === true || host.out.isTTY !== true;
}

export function printJson({ out }: Host, value: unknown): void {
  out.write(`${jsonFor(out, value, 2)}\n`);
}

/** JSON; for a terminal with everything escaped that would act on it, which is the same JSON. */
export function jsonFor({ isTTY }: Pick<Screen, 'isTTY'>, value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return isTTY === true ? text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped) : text;
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Writes lines for a person. */
export function printLines(host: Host, lines: (pen: Pen) => readonly string[]): void {
  writeLines(host, host.out, lines);
}

/** Says something beside the answer, in one line. */
export function tell(host: Host, text: string): void {
  tellLines(host, () => [singleLine(text)]);
}

/** The same in lines. */
export function tellLines(host: Host, lines: (pen: Pen) => readonly string[]): void {
  writeLines(host, host.err, lines);
}

function writeLines(host: Host, screen: Screen, lines: (pen: Pen) => readonly string[]): void {
  screen.write(`${lines(penFor(screen, host)).map(screenLine).join('\n')}\n`);
}
