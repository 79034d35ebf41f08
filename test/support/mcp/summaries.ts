import { SKILLS } from '../../../skills/index.ts';
import type { McpClient } from './mcp.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
type Answer = any;

/** Limits of an answer with `form: summary`. */
export const MAX_SUMMARY = { words: 120, textBytes: 2_000, structuredBytes: 4_000 };

export interface Summary {
  tool: string;
  input: Record<string, unknown>;
  result: Answer;
}

/** Answers of every tool to typical calls. @param date a forecast day, `YYYY-MM-DD` */
export async function callSummaries(client: Pick<McpClient, 'callTool'>, date: string): Promise<Summary[]> {
  const horizons = ['1d', '2d', '3d', '7d'];
  const calls: [string, Record<string, unknown>][] = [
    ...horizons.map((horizon): [string, Record<string, unknown>] => ['predict_btc_direction', { horizon }]),
    ...horizons.map((horizon): [string, Record<string, unknown>] => ['get_track_record', { horizon, pageSize: 100 }]),
    ['get_track_record', { regime: 'CHOP', from: '2016-01-01', to: date }],
    ['get_track_record', { status: 'LOSS' }],
    ...horizons.map((horizon): [string, Record<string, unknown>] => ['verify_prediction', { date, horizon }]),
    ...SKILLS.filter(({ errors }) => !errors.includes('NOT_FOUND')).flatMap(({ id, examples }) =>
      examples.map(({ input }): [string, Record<string, unknown>] => [id, input]),
    ),
  ];
  const summaries: Summary[] = [];
  for (const [tool, input] of calls) summaries.push({ tool, input, result: await client.callTool({ name: tool, arguments: input }) });
  return summaries;
}

export function joinTexts({ content }: Answer): string {
  return content.map(({ text }: { text: string }) => text).join('');
}

export function countWords(text: string): number {
  return text.split(/\s+/).length;
}

export function countBytes(text: string): number {
  return Buffer.byteLength(text);
}
