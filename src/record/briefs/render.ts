import type { Brief, BriefOutcome, BriefScore } from './brief.ts';

interface Section {
  title: string;
  lines: string[];
}

/** A brief as plain text. */
export function briefAsText(brief: Brief): string {
  const title = titleOf(brief);
  const sections = sectionsOf(brief).map(({ title, lines }) => `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  return [`${title}\n${'='.repeat(title.length)}\n`, ...sections].join('\n');
}

/** A brief as Markdown. What comes from outside has been made plain, so that no line has markup of its own. */
export function briefAsMarkdown(brief: Brief): string {
  const sections = sectionsOf(brief).map(({ title, lines }) => `## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`);
  return [`# ${titleOf(brief)}\n`, ...sections].join('\n');
}

function titleOf({ date }: Brief): string {
  return `Bitcoin Signal Oracle: brief of ${date}`;
}

function sectionsOf(brief: Brief): Section[] {
  const sections = [
    { title: 'About', lines: aboutLines(brief) },
    { title: 'Market', lines: marketLines(brief) },
    { title: 'Resolved in the last 24 hours', lines: brief.resolved.map(outcomeLine) },
    { title: 'Record so far', lines: brief.scorecard.map(scoreLine) },
    { title: 'Open forecasts', lines: openLines(brief) },
    { title: 'The crowd', lines: crowdLines(brief) },
    { title: 'Next', lines: brief.next.map(({ event, at }) => `${minuteOf(at)} ${event}`) },
    { title: 'Data', lines: dataLines(brief) },
    { title: 'Notes', lines: brief.notes },
  ];
  return sections.map(({ title, lines }) => ({ title, lines: lines.length === 0 ? ['none'] : lines }));
}

function aboutLines({ asOf, generatedAt, late, source, replayedDays }: Brief): string[] {
  return [
    `As of ${minuteOf(asOf)}, made at ${minuteOf(generatedAt)}${late ? ', late' : ''}`,
    `Market data: ${source}`,
    ...(replayedDays > 0 ? [`${replayedDays} days of the record were replayed by the demo`] : []),
  ];
}

function marketLines({ market, regime }: Brief): string[] {
  const { btcPrice, change24h, fearGreed, fearGreedLabel, etfFlows7d, etfFlows30d, etfFlowLastDay } = market;
  return [
    `BTC/USD ${btcPrice === null ? 'unknown' : usd(btcPrice, 2)}${change24h === null ? '' : `, ${signed(change24h, 2)} % in 24 hours`}`,
    regime === null ? 'Regime unknown' : `Regime ${regime.regime}, risk ${regime.riskLevel}, as of the forecast of ${regime.date}`,
    fearGreed === null ? 'Fear & Greed unknown' : `Fear & Greed ${fearGreed} (${fearGreedLabel})`,
    `ETF net flows: last day ${flow(etfFlowLastDay)}, 7 days ${flow(etfFlows7d)}, 30 days ${flow(etfFlows30d)}`,
  ];
}

function outcomeLine({ predictionId, signal, direction, confidence, outcome, returnBps }: BriefOutcome): string {
  return `${predictionId}: ${signal} ${direction} at ${confidence.toFixed(4)}, ${outcome}, return ${signed(returnBps / 100, 2)} %`;
}

function scoreLine({ horizon, verdict, brier, pending, voids }: BriefScore): string {
  const score =
    brier === null ? '' : `; Brier ${brier.model.toFixed(4)} against ${brier.climatology.toFixed(4)} of the base rate, ${brier.n} resolved`;
  return `${horizon}: ${verdict}${score}; ${pending} open, ${voids} void`;
}

function openLines({ open }: Brief): string[] {
  return open.map(({ predictionId, signal, resolvesAt }) => `${predictionId}: ${signal} until ${minuteOf(resolvesAt)}`);
}

function crowdLines({ crowd }: Brief): string[] {
  if (crowd === null) return [];
  const { venue, quotesAreOurs, question, strike, expiresAt, marketProbability } = crowd;
  return [
    `${venue}${quotesAreOurs ? ' (quotes made by this service)' : ''}: ${(100 * marketProbability).toFixed(1)} % above ${usd(strike, 0)} at ${minuteOf(expiresAt)}`,
    `In the words of the venue: ${question}`,
  ];
}

function dataLines({ data }: Brief): string[] {
  return data.map(
    ({ series, source, lastObserved, stale }) => `${series}: ${lastObserved ?? 'nothing'} from ${source}${stale ? ', stale' : ''}`,
  );
}

/** `2026-08-01 03:00 UTC`. */
function minuteOf(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

function usd(value: number, digits: number): string {
  const amount = Math.abs(value).toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${value < 0 ? '-' : ''}$${amount}`;
}

function flow(value: number | null): string {
  return value === null ? 'unknown' : usd(value, 0);
}

function signed(value: number, digits: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(digits)}`;
}
