import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage } from '../../errors.ts';
import { toDay, toInstantMs } from '../../forecast/day.ts';
import type { OutboundFetch, OutboundInit } from '../../platform/outbound/operator.ts';
import { median } from '../quorum.ts';
import { createEtfSources, SERIES_PLANS, STRIKE_SOURCES, VENUE_SOURCES } from '../sources/registry.ts';
import { PROVIDERS, type Provider, type ProviderId } from './provider.ts';

/** Replaces or wraps the requests of a provider. */
export type AnswerSource = (provider: Pick<Provider, 'id' | 'baseUrl'>, live: OutboundFetch) => OutboundFetch;

const KEPT_HEADERS = ['content-type', 'date', 'age', 'retry-after'];
const CLOCK_FILE = 'recorded-at.json';

/** Writes each answer into a folder, with the instant for which it was asked. Keys are in headers of requests, which are not kept. */
export async function recordAnswers(folder: string, nowMs: number): Promise<AnswerSource> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, CLOCK_FILE), JSON.stringify({ nowMs }));
  return (provider, live) => async (url, init) => {
    const response = await live(url, init);
    const headers = Object.fromEntries([...response.headers].filter(([name]) => KEPT_HEADERS.includes(name)));
    const request = toRequestText(provider, url, init);
    const answer = { request, status: response.status, headers, body: await response.text() };
    await mkdir(join(folder, provider.id), { recursive: true });
    await writeFile(toFile(folder, provider.id, request), JSON.stringify(answer, null, 2));
    return new Response(answer.body, answer);
  };
}

/** The answers of a recording, and nothing else: a request that it lacks fails with ENOENT. */
export async function replayAnswers(folder: string): Promise<{ answers: AnswerSource; nowMs: number }> {
  const { nowMs } = JSON.parse(await readFile(join(folder, CLOCK_FILE), 'utf8'));
  const answers: AnswerSource = (provider) => async (url, init) => {
    const answer = JSON.parse(await readFile(toFile(folder, provider.id, toRequestText(provider, url, init)), 'utf8'));
    return new Response(answer.body, answer);
  };
  return { answers, nowMs };
}

/** Without the address, so that the answers of a mirror are those of the provider. */
function toRequestText(
  { baseUrl }: Pick<Provider, 'baseUrl'>,
  url: string | URL,
  { method = 'GET', body = '' }: OutboundInit = {},
): string {
  return `${method} ${String(url).slice(baseUrl.length)} ${body}`.trim();
}

function toFile(folder: string, provider: ProviderId, request: string): string {
  return join(folder, provider, `${createHash('sha256').update(request).digest('hex').slice(0, 24)}.json`);
}

/** What a provider said of a series, or why not. `differs`: from the median of those asked for the same, a fraction. */
export interface FeedReading extends Partial<Record<'value' | 'ageMs' | 'differs', number>> {
  what: string;
  provider: ProviderId;
  problem?: string;
  terms: string;
}

/** Long enough for a monthly series. */
const LOOK_BACK_DAYS = 45;

/** Asks every source once. */
export async function askProviders(
  providers: Record<ProviderId, Provider>,
  { nowMs, sosovalueKey }: { nowMs: number; sosovalueKey: string | undefined },
): Promise<FeedReading[]> {
  const to = toDay(nowMs);
  const reach = (days: number) => ({ from: to - Math.min(days, LOOK_BACK_DAYS) + 1, to });
  const ask = (what: string, provider: ProviderId, read: (provider: Provider) => Promise<[value: number, atMs: number]>) => {
    const common = { what, provider, terms: PROVIDERS[provider].licence };
    return read(providers[provider]).then(
      ([value, atMs]): FeedReading => ({ ...common, value, ageMs: nowMs - atMs }),
      (error: unknown): FeedReading => ({ ...common, problem: getErrorMessage(error) }),
    );
  };
  const venues = VENUE_SOURCES.map((venue) =>
    ask('price', venue.provider, async (provider) => {
      const { priceUsd, providerAtMs } = await venue.fetchTicker(provider);
      return [priceUsd, providerAtMs ?? nowMs];
    }),
  );
  const series = Object.entries(SERIES_PLANS).flatMap(([what, { sources }]) =>
    sources.map((source) =>
      ask(what, source.provider, async (provider) => findNewest(await source.fetch(provider, reach(source.pageDays)))),
    ),
  );
  const flows = createEtfSources(sosovalueKey).map((source) =>
    ask('etfFlow', source.provider, async (provider) => {
      const days = await source.fetch(provider, reach(LOOK_BACK_DAYS));
      return findNewest(days.map(({ day, totalMusd: value }) => ({ day, value })));
    }),
  );
  const asked = await Promise.all([...venues, ...series, ...flows]);
  const valuesOf = (wanted: string) => asked.flatMap(({ what, value }) => (what === wanted && value !== undefined ? [value] : []));
  const strikes = STRIKE_SOURCES.map((source) =>
    ask('strikes near the price', source.providers[0]!, async () => {
      const found = await source.fetch(providers, { spotUsd: median(valuesOf('price')), atMs: nowMs });
      return [found.length, Math.max(...found.map(({ receivedAtMs }) => receivedAtMs))];
    }),
  );
  for (const one of asked)
    if (valuesOf(one.what).length > 1 && one.value !== undefined) one.differs = one.value / median(valuesOf(one.what)) - 1;
  return [...asked, ...(await Promise.all(strikes))];
}

function findNewest(values: readonly { day: number; value: number }[]): [value: number, atMs: number] {
  const [newest] = values.toSorted((a, b) => b.day - a.day);
  if (newest === undefined) throw new Error(`nothing of the last ${LOOK_BACK_DAYS} days`);
  return [newest.value, toInstantMs(newest.day)];
}
