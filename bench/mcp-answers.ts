import { formatDay } from '../src/forecast/day.ts';
import { asTier } from '../test/support/auth/login.ts';
import { serve } from '../test/support/http/serve.ts';
import { MCP_CLIENTS, type McpClient } from '../test/support/mcp/mcp.ts';
import { callSummaries, countBytes, countWords, joinTexts, MAX_SUMMARY, type Summary } from '../test/support/mcp/summaries.ts';
import { fullService } from '../test/support/service/full-service.ts';
import { today } from '../test/support/service/service.ts';
import type { Benchmark, Comparison, FigureComparison } from './lib.ts';

const MAX_TOOLS_LIST_BYTES = 9_000;

/** What assistants put into the context of their model. */
export const MCP_ANSWERS: Benchmark = {
  name: 'mcp',
  what: 'words and bytes of the lists and answers over MCP, of a record of 20 days',
  async run({ report }): Promise<Comparison[]> {
    const service = await fullService();
    const { url, close } = await serve(service);
    try {
      const clients = [await MCP_CLIENTS['2026-07-28'](url, {}), await MCP_CLIENTS['2026-07-28'](url, await asTier(service, 'premium'))];
      const date = formatDay(today() - 1);
      const summaries = (await Promise.all(clients.map((client) => callSummaries(client, date)))).flat();
      for (const line of await listSizes(clients[1]!, summaries)) report(line);
      const toolsList = countBytes(JSON.stringify(await clients[0]!.listTools()));
      await Promise.all(clients.map((client) => client.close()));
      return [toFigure('bytes of tools/list', toolsList, MAX_TOOLS_LIST_BYTES), ...compareSummaries(summaries)];
    } finally {
      await close();
      await service.stop();
    }
  },
};

/** Of each tool: the largest summary, and the full answer to the same call. */
async function listSizes(client: McpClient, summaries: readonly Summary[]): Promise<string[]> {
  const byTool = Object.entries(Object.groupBy(summaries, ({ tool }) => tool)) as [string, Summary[]][];
  return Promise.all(
    byTool.map(async ([tool, all]) => {
      const { input, result } = all.toSorted((one, other) => sizeOf(other.result) - sizeOf(one.result))[0]!;
      const full = await client.callTool({ name: tool, arguments: { ...input, form: 'full' } });
      return `  ${tool}: at most ${sizeOf(result)} bytes in summary, ${sizeOf(full)} in full`;
    }),
  );
}

function sizeOf(result: Summary['result']): number {
  return countBytes(JSON.stringify(result));
}

function compareSummaries(summaries: readonly Summary[]): FigureComparison[] {
  const largest = (measure: (result: Summary['result']) => number) => Math.max(...summaries.map(({ result }) => measure(result)));
  const { words, textBytes, structuredBytes } = MAX_SUMMARY;
  return [
    toFigure(
      'words of a verdict',
      largest((result) => countWords(result.content[0].text)),
      words,
    ),
    toFigure(
      'bytes of text in a summary',
      largest((result) => countBytes(joinTexts(result))),
      textBytes,
    ),
    toFigure(
      'bytes of structured content in a summary',
      largest((result) => countBytes(JSON.stringify(result.structuredContent))),
      structuredBytes,
    ),
  ];
}

function toFigure(what: string, value: number, goal: number): FigureComparison {
  return { kind: 'figure', meaning: 'the largest of all calls that were made', what, ours: [value], goal, digits: 0 };
}
