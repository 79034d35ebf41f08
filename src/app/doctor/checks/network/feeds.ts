import { toDay } from '../../../../forecast/day.ts';
import { createProviders } from '../../../../market/live/providers/create-providers.ts';
import { parseProviderUrls } from '../../../../market/live/providers/provider-urls.ts';
import { PROVIDERS, type ProviderId } from '../../../../market/live/providers/providers.ts';
import { createEtfSources, SERIES_PLANS, VENUE_SOURCES } from '../../../../market/live/sources/registry.ts';
import { getErrorMessage } from '../../../../platform/errors.ts';
import type { Check, DoctorDeps } from '../../check.ts';
import { type Finding, fail, ok, warn } from '../../finding.ts';

/** Venues whose closes settle an outcome. */
const QUORUM = 3;
const RANGE_DAYS = 45;
const MAX_SKEW_MS = 60_000;
/** One attempt each: the report is of now. */
const ONCE = { attempts: 1, attemptTimeoutMs: 8_000 };

type Providers = ReturnType<typeof createProviders>;

/** Each provider of live data asked once: shape and age of the answer, and its terms. */
export const feedsCheck: Check = {
  id: 'feeds',
  title: 'Market data',
  needs: ['FEEDS', 'PROVIDER_URLS'],
  needsTarget: false,
  async run(deps) {
    const { config } = deps;
    // A wrong setting is named although nothing reads it now.
    const urls = parseProviderUrls(config.PROVIDER_URLS ?? '');
    const isLive = config.FEEDS === 'live' || (config.FEEDS === 'auto' && config.chainMode === 'real');
    if (!isLive) return [ok(`FEEDS=${config.FEEDS}: no provider is asked`)];
    const providers = createProviders({ urls, log: deps.log, timing: ONCE });
    const [venues, series] = await Promise.all([checkVenues(providers), checkSeries(providers, deps)]);
    return [...venues, ...series, ...compareClocks(providers)];
  },
};

async function checkVenues(providers: Providers): Promise<Finding[]> {
  const asked = await Promise.all(
    VENUE_SOURCES.map((source) =>
      ask(providers, source.provider, async (provider) => `BTC at ${(await source.fetchTicker(provider)).priceUsd} USD`),
    ),
  );
  const answering = asked.filter(({ level }) => level === 'ok').length;
  if (answering >= QUORUM) return asked;
  const detail = `${answering} of ${VENUE_SOURCES.length} venues answer: without ${QUORUM} no outcome is settled`;
  return [...asked, fail(detail, { action: 'Let HTTPS to the venues out, or set PROVIDER_URLS.' })];
}

async function checkSeries(providers: Providers, { config, now }: DoctorDeps): Promise<Finding[]> {
  const today = toDay(now().getTime());
  const range = { from: today - RANGE_DAYS, to: today };
  const plans = Object.entries(SERIES_PLANS).flatMap(([series, { sources }]) => sources.map((source) => ({ series, source })));
  const etf = createEtfSources(config.SOSOVALUE_API_KEY);
  return Promise.all([
    ...plans.map(({ series, source }) =>
      ask(providers, source.provider, async (provider) => {
        const newest = Math.max(...(await source.fetch(provider, range)).map(({ day }) => day));
        if (newest === Number.NEGATIVE_INFINITY) throw new Error(`no ${series} within ${RANGE_DAYS} days`);
        return `${series}, ${today - newest} days old`;
      }),
    ),
    ...etf.map((source) =>
      ask(providers, source.provider, async (provider) => `${(await source.fetch(provider, range)).length} days of ETF flows`),
    ),
  ]);
}

async function ask(providers: Providers, id: ProviderId, read: (provider: Providers[ProviderId]) => Promise<string>): Promise<Finding> {
  const { title, licence } = PROVIDERS[id];
  try {
    return ok(`${title}: ${await read(providers[id])}; terms: ${licence}`);
  } catch (error) {
    return warn(`${title}: ${getErrorMessage(error)}`, 'Where another provider has the data it takes its place; see docs/DATA.md.');
  }
}

/** The providers' `Date` headers. */
function compareClocks(providers: Providers): Finding[] {
  const skews = Object.values(providers).flatMap((provider) => provider.health().clockSkewMs ?? []);
  if (skews.length === 0) return [];
  const median = skews.toSorted((a, b) => a - b)[Math.floor(skews.length / 2)]!;
  const detail = `the clocks of ${skews.length} providers are ${Math.round(median / 1_000)} s from this machine's in the median`;
  return [Math.abs(median) <= MAX_SKEW_MS ? ok(detail) : fail(detail, { action: 'Repair NTP on this machine.', isPermanent: true })];
}
