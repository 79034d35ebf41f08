import type { Brief, BriefOutcome, BriefScore } from './compose.ts';

export function renderBriefText(brief: Brief): string {
  const title = formatTitle(brief);
  const sections = buildSections(brief).map(({ title, lines }) => `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  return [`${title}\n${'='.repeat(title.length)}\n`, ...sections].join('\n');
}

/** External text was sanitized when it was composed, so that no line contains markup. */
export function renderBriefMarkdown(brief: Brief): string {
  const sections = buildSections(brief).map(({ title, lines }) => `## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`);
  return [`# ${formatTitle(brief)}\n`, ...sections].join('\n');
}

function formatTitle({ date }: Brief): string {
  return `Bitcoin Signal Oracle: brief of ${date}`;
}

function buildSections(brief: Brief) {
  const sections = [
    { title: 'About', lines: formatAbout(brief) },
    { title: 'Market', lines: formatMarket(brief) },
    { title: 'Resolved in the last 24 hours', lines: brief.resolved.map(formatOutcome) },
    { title: 'Record so far', lines: brief.scorecard.map(formatScore) },
    { title: 'Open forecasts', lines: formatOpenForecasts(brief) },
    { title: 'The crowd', lines: formatCrowd(brief) },
    { title: 'Next', lines: brief.next.map(({ event, at }) => `${formatMinute(at)} ${event}`) },
    { title: 'Data', lines: formatData(brief) },
    { title: 'Notes', lines: brief.notes },
  ];
  return sections.map(({ title, lines }) => ({ title, lines: lines.length === 0 ? ['none'] : lines }));
}

function formatAbout({ asOf, generatedAt, late, source, replayedDays }: Brief): string[] {
  return [
    `As of ${formatMinute(asOf)}, made at ${formatMinute(generatedAt)}${late ? ', late' : ''}`,
    `Market data: ${source}`,
    ...(replayedDays > 0 ? [`${replayedDays} days of the record were replayed by the demo`] : []),
  ];
}

function formatMarket({ market, regime }: Brief): string[] {
  const { btcPrice, change24h, fearGreed, fearGreedLabel, etfFlows7d, etfFlows30d, etfFlowLastDay } = market;
  return [
    `BTC/USD ${btcPrice === null ? 'unknown' : formatUsd(btcPrice, 2)}${change24h === null ? '' : `, ${formatSigned(change24h, 2)} % in 24 hours`}`,
    regime === null ? 'Regime unknown' : `Regime ${regime.regime}, risk ${regime.riskLevel}, as of the forecast of ${regime.date}`,
    fearGreed === null ? 'Fear & Greed unknown' : `Fear & Greed ${fearGreed} (${fearGreedLabel})`,
    `ETF net flows: last day ${formatFlow(etfFlowLastDay)}, 7 days ${formatFlow(etfFlows7d)}, 30 days ${formatFlow(etfFlows30d)}`,
  ];
}

function formatOutcome({ predictionId, signal, direction, confidence, outcome, returnBps }: BriefOutcome): string {
  return `${predictionId}: ${signal} ${direction} at ${confidence.toFixed(4)}, ${outcome}, return ${formatSigned(returnBps / 100, 2)} %`;
}

function formatScore({ horizon, verdict, brier, pending, voids }: BriefScore): string {
  const score =
    brier === null ? '' : `; Brier ${brier.model.toFixed(4)} against ${brier.climatology.toFixed(4)} of the base rate, ${brier.n} resolved`;
  return `${horizon}: ${verdict}${score}; ${pending} open, ${voids} void`;
}

function formatOpenForecasts({ open }: Brief): string[] {
  return open.map(({ predictionId, signal, resolvesAt }) => `${predictionId}: ${signal} until ${formatMinute(resolvesAt)}`);
}

function formatCrowd({ crowd }: Brief): string[] {
  if (crowd === null) return [];
  const { venue, quotesAreOurs, question, strike, expiresAt, marketProbability } = crowd;
  return [
    `${venue}${quotesAreOurs ? ' (quotes made by this service)' : ''}: ${(100 * marketProbability).toFixed(1)} % above ${formatUsd(strike, 0)} at ${formatMinute(expiresAt)}`,
    `Question of the venue: ${question}`,
  ];
}

function formatData({ data }: Brief): string[] {
  return data.map(
    ({ series, source, lastObserved, stale }) => `${series}: ${lastObserved ?? 'nothing'} from ${source}${stale ? ', stale' : ''}`,
  );
}

function formatMinute(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

function formatUsd(value: number, digits: number): string {
  const amount = Math.abs(value).toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${value < 0 ? '-' : ''}$${amount}`;
}

function formatFlow(value: number | null): string {
  return value === null ? 'unknown' : formatUsd(value, 0);
}

function formatSigned(value: number, digits: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(digits)}`;
}
