import type { HorizonName } from '../../../forecast/model.ts';
import { HORIZON_VIEW_OPTION, JSON_OPTION, printResult, resolveServiceUrl, type ServiceValues, URL_OPTION } from '../command.ts';
import { EXIT, type SvcCommand } from '../context.ts';
import {
  type ExpectedRanges,
  findRange,
  formatMove,
  formatPriceRange,
  type HorizonRanges,
  MOVE_LEGEND,
  queryExpectedRanges,
} from '../horizons.ts';
import { formatErrorBar, formatMinute, formatRecords, formatUsdAmount, type RecordColumn, type TerminalWriter, wrapText } from '../text.ts';

const DRAWN_SHARE = 0.8;

export const rangeCommand: SvcCommand<ServiceValues & { horizon?: HorizonName }> = {
  example: 'svc range --json | jq .horizons[].ranges[1]',
  description: 'The central 50, 80 and 90 % ranges of the newest forecast. They are public, since they say nothing of its direction.',
  options: [HORIZON_VIEW_OPTION, URL_OPTION, JSON_OPTION],
  async run(context, { horizon, json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const { answer, body } = await queryExpectedRanges(url, horizon);
    printResult(context, json, body, (writer) => formatExpectedRanges(answer, writer));
    return EXIT.ok;
  },
};

function formatExpectedRanges(answer: ExpectedRanges, writer: TerminalWriter): string[] {
  const { btcPrice, timestamp, horizons, modelVersion, source, replayed } = answer;
  const title = `BTC/USD ${formatUsdAmount(btcPrice)} at ${formatMinute(timestamp)} UTC: where it is expected at the end of each horizon`;
  return [
    ...wrapText(title, writer.width).map((line) => writer.paint('bold', line)),
    '',
    ...formatRecords(listColumns(answer), horizons, writer, [
      ['Unit', 'US dollars'],
      ['Model', modelVersion],
      ['Data', `${source}${replayed ? ', replayed' : ''}`],
    ]),
  ];
}

function listColumns({ btcPrice, horizons }: ExpectedRanges): RecordColumn<HorizonRanges>[] {
  const get = ({ horizon }: HorizonRanges, share: number) => findRange(horizons, horizon, share);
  const drawn = horizons.flatMap((row) => get(row, DRAWN_SHARE) ?? []);
  const axis = { min: Math.min(...drawn.map(({ low }) => low)), max: Math.max(...drawn.map(({ high }) => high)) };
  const column = (share: number): RecordColumn<HorizonRanges> => ({
    ...{ title: `${share * 100} % range`, right: true },
    cell: (row) => formatPriceRange(get(row, share)),
  });
  return [
    { title: 'horizon', cell: ({ horizon }) => horizon },
    { title: 'move', spare: 0, cell: formatMove, legend: MOVE_LEGEND },
    { title: 'ends (UTC)', spare: 1, cell: ({ resolvesAt }) => formatMinute(resolvesAt) },
    column(0.5),
    column(DRAWN_SHARE),
    column(0.9),
    { title: '80 %', spare: 4, cell: (row) => formatErrorBar(btcPrice, get(row, DRAWN_SHARE), axis) },
  ];
}
