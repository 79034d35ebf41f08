import { z } from 'zod';
import { toInstantMs } from '../../forecast/day.ts';
import { AttemptError, type ProviderRequest } from '../live/provider.ts';
import { createHttpVenue, parseAnswer, price } from './source.ts';

const PAIR = 'XXBTZUSD';
/** `error` holds warnings too, which come with a whole answer. */
const WARNING = 'W';
const TRANSIENT_ERRORS = /^(EService:|EDatabase:|EAPI:Rate limit|EGeneral:(Internal error|Temporary lockout|Too many))/;

const candle = z.array(z.unknown()).transform(([opensAt, ...rest]): unknown => [Number(opensAt) * 1_000, ...rest]);

export const kraken = createHttpVenue({
  provider: 'kraken',
  // Kraken always returns the last 720 candles, the running one included.
  history: { days: 719 },
  pageDays: 720,
  // `since` is exclusive.
  candlesRequest: ({ from }) => ({
    path: '/0/public/OHLC',
    query: { pair: PAIR, interval: 1_440, since: toInstantMs(from - 1) / 1_000 },
  }),
  candles: z.object({ result: z.object({ [PAIR]: z.array(candle.catch(null)) }) }).transform(({ result }) => result[PAIR]),
  tickerRequest: { path: '/0/public/Ticker', query: { pair: PAIR } },
  ticker: z
    .object({ result: z.object({ [PAIR]: z.object({ c: z.tuple([price], z.unknown()) }) }) })
    // The ticker has no time, and its opening price is that of the UTC day.
    .transform(({ result }) => ({ priceUsd: result[PAIR].c[0], providerAtMs: null, change24hPct: null })),
  requireAccepted(body: unknown, { path }: ProviderRequest, title: string) {
    const { error: messages } = parseAnswer(z.object({ error: z.array(z.string()) }), body, title);
    const error = messages.find((message) => !message.startsWith(WARNING));
    if (error !== undefined) throw new AttemptError(`${path} answered with an error`, { retryable: TRANSIENT_ERRORS.test(error) });
  },
});
