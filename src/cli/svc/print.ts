import type { CliContext, TerminalOutput } from './context.ts';
import { createTerminalWriter, sanitizeLine, type TerminalWriter, toSingleLine } from './text/style.ts';

/** JSON is printed on request and whenever the output is not a terminal. */
export function wantsJson({ out }: CliContext, json: boolean | undefined): boolean {
  return json === true || out.isTTY !== true;
}

export function printResult(
  context: CliContext,
  json: boolean | undefined,
  value: unknown,
  lines: (writer: TerminalWriter) => readonly string[],
): void {
  if (wantsJson(context, json)) printJson(context, value);
  else writeLines(context, context.out, lines);
}

export function printJson({ out }: CliContext, value: unknown): void {
  out.write(`${formatJson(out, value, 2)}\n`);
}

/** Escapes control characters for a terminal, which leaves the JSON value unchanged. */
export function formatJson({ isTTY }: Pick<TerminalOutput, 'isTTY'>, value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return isTTY === true ? text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

export function printNotice(context: NoticeContext, text: string): void {
  printNoticeLines(context, () => [toSingleLine(text)]);
}

type NoticeContext = Pick<CliContext, 'err' | 'environment' | 'json'>;

/** With `--json` a JSON document in one line, like errors. */
export function printNoticeLines(context: NoticeContext, lines: (writer: TerminalWriter) => readonly string[]): void {
  if (context.json === true) {
    const text = lines({ width: Number.POSITIVE_INFINITY, paint: (_, part) => part });
    context.err.write(`${formatJson(context.err, { notice: text.map((line) => line.trim()).join('\n') })}\n`);
  } else writeLines(context, context.err, lines);
}

function writeLines(
  context: Pick<CliContext, 'environment'>,
  output: TerminalOutput,
  lines: (writer: TerminalWriter) => readonly string[],
): void {
  output.write(`${lines(createTerminalWriter(output, context)).map(sanitizeLine).join('\n')}\n`);
}
