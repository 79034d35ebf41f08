import { type Hex, zeroHash } from 'viem';
import { CHECKS, type CheckName, createFindings, type Difference, type Findings, NOTHING, nameOf } from '../../audit/findings.ts';
import { iso } from '../../audit/iso.ts';
import type { AuditPrices } from '../../audit/prices.ts';
import type { Prediction, Revelation } from '../../audit/read-record.ts';
import { auditRow, matchRevelations } from '../../audit/resolutions.ts';
import { type AuditedRow, closeDays } from '../../audit/rows.ts';
import { checkPlace, subjectOf } from '../../audit/sequence.ts';
import { type Asked, nameOfAsked } from './asked.ts';
import { committedFor, locatePrediction, locateRevelations, readPrediction, type Search } from './locate.ts';
import { newestForecast } from './newest.ts';

interface VerifyOptions extends Omit<Search, 'findings'> {
  asked: Asked;
  /** Independent closes; null: those on chain are taken as they are. */
  prices: AuditPrices | null;
  now: Date;
}

/** One thing that was checked. */
export interface CheckedThing {
  check: 'found' | 'inTime' | CheckName;
  /** What must hold, in words. */
  what: string;
  ok: boolean;
}

export type VerifyVerdict = 'verified' | 'differs' | 'incomplete';

/** What a forecast on chain is worth, by nobody's word. */
export interface Verification {
  verdict: VerifyVerdict;
  /** The verdict in one sentence. */
  words: string;
  row: AuditedRow | null;
  checks: CheckedThing[];
  differences: readonly Difference[];
  notes: readonly string[];
  /** What keeps it from being complete. */
  incomplete: readonly string[];
  /** What no check is about, so that nobody takes it for checked. */
  unchecked: string[];
}

/**
 * Reads a forecast from the chain and checks everything about it that the chain tells, with the checks of the audit.
 * @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function verifyForecast({ asked, prices, now, ...where }: VerifyOptions): Promise<Verification> {
  const findings = createFindings();
  const search = { ...where, findings };
  const prediction = await find(search, asked);
  if (prediction === null) return notFound(asked, findings);
  await checkOnce(search, prediction);
  await checkBefore(search, prediction);
  const revelation = await revelationOf(search, prediction, now);
  const closes = prices === null || revelation === null ? new Map() : await prices.closes(Object.values(closeDays(prediction)));
  const row = auditRow(prediction, revelation, { prices: prices ?? NO_PRICES, closes, now, findings });
  if (prices !== null && revelation !== null && closes.size < 2)
    findings.incomplete(`${prices.source} has no price for a day that decides it`);
  return verificationOf(row, { findings, prices, now });
}

const NO_PRICES: AuditPrices = {
  source: 'the prices that were named (none: --prices)',
  toleranceBps: 0,
  endsOn: null,
  closes: async () => new Map(),
  history: async () => null,
};

function notFound(asked: Asked, { differences }: Findings): Verification {
  const found = { check: 'found', what: 'the chain has it, from this attester', ok: false } as const;
  const words = `DIFFERS: the chain has no ${nameOfAsked(asked)} of this attester that can be read.`;
  return { verdict: 'differs', words, row: null, checks: [found], differences, notes: [], incomplete: [], unchecked: [] };
}

async function find(search: Search, asked: Asked): Promise<Prediction | null> {
  if (!('newestOf' in asked)) return locatePrediction(search, asked);
  const uid = await newestForecast(search, asked.newestOf);
  return uid === null ? null : locatePrediction(search, { uid });
}

/** Who commits to both ways and reveals the one that won has forecast nothing. */
async function checkOnce(search: Search, prediction: Prediction): Promise<void> {
  const all = await committedFor(search, prediction.data);
  const uids = [...new Set([prediction, ...all].map(({ uid }) => uid))];
  const because = `committed ${uids.length} times for one day and horizon, which leaves open which one counts: ${uids.join(', ')}`;
  const once = { field: 'commitments', expected: 1, found: uids.length, because };
  search.findings.compare('sequence', subjectOf(prediction), once);
}

/** The forecast that it refers to is that of the day before: what was dropped or written again later would show. */
async function checkBefore(search: Search, prediction: Prediction): Promise<void> {
  const { findings } = search;
  const { sequence, horizonDays } = prediction.data;
  if (sequence === 1 || prediction.refUid === zeroHash) {
    checkPlace(prediction, undefined, findings);
    if (sequence > 1) wrongLink(prediction, null, findings);
    return;
  }
  // What is wrong with that one is not a fault of this one, unless it is none.
  const before = await readPrediction({ ...search, findings: createFindings() }, prediction.refUid);
  const fits = before !== null && before.data.horizonDays === horizonDays && before.data.sequence === sequence - 1;
  checkPlace(prediction, fits ? before : undefined, findings);
  if (!fits) wrongLink(prediction, prediction.refUid, findings);
}

function wrongLink(prediction: Prediction, found: Hex | null, findings: Findings): void {
  const { sequence, horizonDays } = prediction.data;
  const because = `it does not refer to a forecast with sequence ${sequence - 1} over ${horizonDays} days of this attester`;
  findings.wrong('link', subjectOf(prediction), { field: 'refUID', expected: `sequence ${sequence - 1}`, found, because });
}

async function revelationOf(search: Search, prediction: Prediction, now: Date): Promise<Revelation | null> {
  if (prediction.data.resolvesAt > now) return null;
  const { revelations, throughBlock, head } = await locateRevelations(search, prediction);
  const first = matchRevelations([prediction], revelations, search.findings).get(prediction.uid) ?? null;
  if (first === null && throughBlock < head) {
    search.findings.incomplete(`its resolution was looked for up to block ${throughBlock} only, of ${head}: svc audit looks at all`);
  }
  return first;
}

function verificationOf(
  row: AuditedRow,
  { findings, prices, now }: { findings: Findings; prices: AuditPrices | null; now: Date },
): Verification {
  const { differences, notes, gaps } = findings;
  const verdict = differences.length > 0 ? 'differs' : gaps.length > 0 ? 'incomplete' : 'verified';
  return {
    ...{ verdict, row, differences, notes, incomplete: gaps },
    words: wordsOf(row, verdict, { differences, gaps, now }),
    checks: checksOf(row, findings, now),
    unchecked: uncheckedOf(row, prices),
  };
}

function checksOf({ prediction, late, missed }: AuditedRow, { passed, differences }: Findings, now: Date): CheckedThing[] {
  const failed = (check: CheckName) => differences.some((difference) => difference.check === check);
  const before = `its block (${iso(prediction.at)}) is earlier than its outcome window (${iso(prediction.data.windowOpensAt)})`;
  const isOver = prediction.data.resolvesAt <= now;
  const isMade = (check: CheckName) => passed[check] > 0 && (check !== 'revealed' || isOver);
  const names = (Object.keys(CHECKS) as CheckName[]).filter((check) => isMade(check) || failed(check));
  return [
    { check: 'found', what: 'the chain has it, from this attester', ok: true },
    ...(missed ? [] : [{ check: 'inTime' as const, what: before, ok: !late }]),
    ...names.map((check) => ({ check, what: WORDS[check] ?? CHECKS[check], ok: !failed(check) })),
  ];
}

/** Checks of a whole record, as they are said of one forecast. */
const WORDS: Partial<Record<CheckName, string>> = {
  form: 'it is of our schema and of this attester, at the time of its block, and cannot be revoked or expire',
  sequence: 'it is the only one for its day and horizon, and its number is that of the day before, and one more',
  link: 'it refers to the forecast of the day before',
  resolution: 'it was resolved once, and not before its window was over',
};

function wordsOf(
  { prediction, late, missed, status, revelation }: AuditedRow,
  verdict: VerifyVerdict,
  { differences, gaps, now }: { differences: readonly Difference[]; gaps: readonly string[]; now: Date },
): string {
  const name = nameOf({ ...NOTHING, day: prediction.data.day, horizonDays: prediction.data.horizonDays });
  if (verdict === 'differs') return `DIFFERS: ${differences.length} of the above ${differences.length === 1 ? 'is' : 'are'} wrong.`;
  if (verdict === 'incomplete') return `INCOMPLETE: ${gaps.join('; ')}. Nothing that could be checked is wrong.`;
  if (missed) return `VERIFIED: ${name} is VOID: nothing was forecast, and it never counts.`;
  if (late) return `VERIFIED: ${name} is VOID: it came after its window had opened, and never counts.`;
  if (revelation !== null) return `VERIFIED: ${name} was fixed before its window opened, and what was revealed is that: ${status}.`;
  const over = prediction.data.resolvesAt <= now;
  const due = over ? 'its window is over, and it is yet to be revealed' : `its outcome is due at ${iso(prediction.data.resolvesAt)}`;
  return `VERIFIED so far: ${name} was fixed before its window opened; ${due}.`;
}

function uncheckedOf({ revelation, missed, late }: AuditedRow, prices: AuditPrices | null): string[] {
  if (missed || late) return [];
  const second =
    'whether it was committed again on other days, or resolved a second time much later, and the rest of the record: svc audit looks at all';
  if (revelation === null)
    return ['what was forecast: it opens with the resolution (callers of the Basic tier see salt and values before)'];
  return [...(prices === null ? ['the two closes, against prices from elsewhere: --prices live, or a CSV file'] : []), second];
}
