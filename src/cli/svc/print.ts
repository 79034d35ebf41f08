import type { CliContext, TerminalOutput } from './context.ts';
import { createTerminalWriter, sanitizeLine, type TerminalWriter, toSingleLine } from './text/style.ts';

/** Whether a program reads: it was told so, or the output is no terminal. */
export function wantsJson(context: CliContext, json: boolean | undefined): boolean {
  return json === true || context.out.isTTY !== true;
}

export function printJson({ out }: CliContext, value: unknown): void {
  out.write(`${formatJson(out, value, 2)}\n`);
}

/** JSON; for a terminal with everything escaped that would act on it, which is the same JSON. */
export function formatJson({ isTTY }: Pick<TerminalOutput, 'isTTY'>, value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return isTTY === true ? text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Writes lines for a person. */
export function printLines(context: CliContext, lines: (writer: TerminalWriter) => readonly string[]): void {
  writeLines(context, context.out, lines);
}

/** Says something beside the answer, in one line. */
export function printNotice(context: CliContext, text: string): void {
  printNoticeLines(context, () => [toSingleLine(text)]);
}

/** The same in lines. */
export function printNoticeLines(context: CliContext, lines: (writer: TerminalWriter) => readonly string[]): void {
  writeLines(context, context.err, lines);
}

function writeLines(context: CliContext, screen: TerminalOutput, lines: (writer: TerminalWriter) => readonly string[]): void {
  screen.write(`${lines(createTerminalWriter(screen, context)).map(sanitizeLine).join('\n')}\n`);
}
