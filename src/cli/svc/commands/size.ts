import { z } from 'zod';
import { OracleError, UsageError } from '../../../errors.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { MAX_ACCOUNT_USD, MAX_RISK_PERCENT } from '../../../forecast/move.ts';
import { HORIZON_OPTION, JSON_OPTION, printResult, queryService, resolveServiceUrl, type ServiceValues, URL_OPTION } from '../command.ts';
import type { OptionSyntax } from '../command-line.ts';
import { EXIT, type SvcCommand } from '../context.ts';
import { formatFacts, formatMinute, formatPercentOrDash, formatUsdAmount, type TerminalWriter, wrapText } from '../text.ts';

const ANSWER = z.object({
  output: z.object({
    horizon: z.string(),
    btcPrice: z.number(),
    timestamp: z.string(),
    resolvesAt: z.string(),
    moveSize: z.string().nullable(),
    pBig: z.number().nullable(),
    replayed: z.boolean(),
    source: z.string(),
    sizing: z
      .object({
        riskPercent: z.number(),
        riskUsd: z.number(),
        stopPercentLong: z.number(),
        stopPercentShort: z.number(),
        positionUsdLong: z.number(),
        positionUsdShort: z.number(),
        positionBtcLong: z.number(),
        positionBtcShort: z.number(),
        leverageLong: z.number(),
        leverageShort: z.number(),
        exceedsAccount: z.boolean(),
        formula: z.string(),
      })
      .nullable(),
  }),
});

type Forecast = z.infer<typeof ANSWER>['output'];
type Sizing = NonNullable<Forecast['sizing']>;

const numberOption = (flags: string, description: string, pattern: RegExp, most: number): OptionSyntax => [
  flags,
  description,
  (name, value) => {
    const [, number] = pattern.exec(value) ?? [];
    if (number !== undefined && Number(number) > 0 && Number(number) <= most) return Number(number);
    throw new UsageError(name, `must be a number above 0 and at most ${most}`);
  },
];

interface SizeValues extends ServiceValues {
  risk?: number;
  account?: number;
  horizon?: HorizonName;
}

export const sizeCommand: SvcCommand<SizeValues> = {
  example: 'svc size --risk 1% --account 10000 --horizon 1d',
  description: 'From the width of the newest forecast alone, which says nothing of the direction. No advice to trade.',
  options: [
    numberOption('--risk <percent>', 'share of the account that is lost at the stop, e.g. 1%', /^(\d{1,3}(?:\.\d+)?)%?$/, MAX_RISK_PERCENT),
    numberOption('--account <usd>', 'US dollars of the account', /^(\d{1,13}(?:\.\d+)?)$/, MAX_ACCOUNT_USD),
    HORIZON_OPTION,
    URL_OPTION,
    JSON_OPTION,
  ],
  async run(context, { risk: riskPercent, account: accountUsd, horizon, json, ...options }) {
    if (riskPercent === undefined) throw new UsageError('--risk', 'is missing');
    if (accountUsd === undefined) throw new UsageError('--account', 'is missing');
    const url = await resolveServiceUrl(context, options.url);
    const { answer, body } = await queryService({
      url,
      path: '/api/svc/skills/predict_btc_direction',
      body: { detail: 'public', horizon, riskPercent, accountUsd },
      schema: ANSWER,
    });
    const { sizing, ...forecast } = answer.output;
    if (sizing === null) {
      const suggestedAction = 'Name another horizon, or wait for the next forecast.';
      throw new OracleError('NOT_FOUND', 'The newest forecast of this horizon has no width', { field: '--horizon', suggestedAction });
    }
    printResult(context, json, body, (writer) => formatSizing(forecast, sizing, writer));
    return EXIT.ok;
  },
};

function formatSizing(forecast: Omit<Forecast, 'sizing'>, sizing: Sizing, writer: TerminalWriter): string[] {
  const { horizon, btcPrice, timestamp, resolvesAt, moveSize, pBig, source, replayed } = forecast;
  const position = (usd: number, btc: number, leverage: number) =>
    `${formatUsdAmount(usd)} USD, ${btc.toFixed(8)} BTC, ${leverage.toFixed(2)} of the account`;
  const title = `BTC/USD ${formatUsdAmount(btcPrice)} at ${formatMinute(timestamp)} UTC: ${formatUsdAmount(sizing.riskUsd)} USD (${sizing.riskPercent} %) at risk`;
  return [
    ...wrapText(title, writer.width).map((line) => writer.paint('bold', line)),
    '',
    ...formatFacts(
      [
        ['Horizon', `${horizon}, to ${formatMinute(resolvesAt)} UTC`],
        ['Move', moveSize === null ? null : `${moveSize}, big with ${formatPercentOrDash(pBig)}`],
        ['Long', position(sizing.positionUsdLong, sizing.positionBtcLong, sizing.leverageLong)],
        ['Its stop', `${sizing.stopPercentLong.toFixed(2)} % below the entry`],
        ['Short', position(sizing.positionUsdShort, sizing.positionBtcShort, sizing.leverageShort)],
        ['Its stop', `${sizing.stopPercentShort.toFixed(2)} % above the entry`],
        ['Account', sizing.exceedsAccount ? 'smaller than a position: it needs borrowing' : null],
        ['Data', `${source}${replayed ? ', replayed' : ''}`],
      ],
      writer,
    ),
    '',
    ...wrapText(sizing.formula, writer.width),
  ];
}
