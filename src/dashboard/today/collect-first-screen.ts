import {
  type AccessData,
  type CallData,
  type FirstScreenData,
  type InitialData,
  toRecordData,
} from '../../views/first-screen/first-screen-data.ts';
import { isPartial } from '../state/full-scorecard.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses, ScorecardRow } from '../state/responses.ts';

type CollectedPage = Pick<Page, 'store' | 'session' | 'horizon'>;

/** What the first screen shows of the answers that are there by now. */
export function collectFirstScreen(page: CollectedPage, initial: InitialData | null, isStarting: boolean): FirstScreenData {
  const { store, horizon } = page;
  const horizonDays = horizon.value;
  const { answer: scorecard } = store.get('scorecard');
  const range = store.get('range').answer;
  const call = store.get('signal').answer ?? findInitialCall(page, initial);
  return {
    horizonDays,
    call,
    waiting: explainWaiting(page, initial, isStarting),
    range,
    price: store.get('price').answer,
    record:
      scorecard === null ? (initial?.records[`${horizonDays}d`] ?? null) : toRecordData(scorecard.summary, scorecard.statistics.calls),
    missedDate: scorecard === null ? (initial?.missedDate ?? null) : findMissedDate(scorecard.predictions[0]),
    access: collectAccess(page, call),
  };
}

/** Bridges the time until the call of another horizon is loaded, while it is of the day that is shown. */
function findInitialCall({ store, session, horizon }: CollectedPage, initial: InitialData | null): CallData | null {
  const call = initial?.signals[`${horizon.value}d`];
  const date = store.get('range').answer?.date;
  const isUsable = session.current === null && store.get('signal').problem === null;
  return call !== undefined && date !== undefined && isUsable && call.predictionId.startsWith(date) ? call : null;
}

function explainWaiting({ store }: CollectedPage, initial: InitialData | null, isStarting: boolean): FirstScreenData['waiting'] {
  if (isStarting) return 'starting';
  const isEmpty = store.get('signal').problem?.code === 'STEP_WAITING' || (initial !== null && initial.range === null);
  return isEmpty ? 'none' : 'loading';
}

function findMissedDate(newest: ScorecardRow | undefined): string | null {
  return newest?.missed ? newest.date : null;
}

function collectAccess({ store, session, horizon }: CollectedPage, call: CallData | null): AccessData {
  const { answer: info } = store.get('info');
  const { answer: scorecard } = store.get('scorecard');
  const { problem } = store.get('signal');
  const fit = info?.model.fitted?.horizons.find((one) => one.horizon === `${horizon.value}d`);
  const rows = scorecard?.predictions ?? [];
  return {
    tier: session.current?.tier ?? null,
    hasEnded: session.hasEnded,
    needed: info?.tiers.find(({ tier }) => tier === 'basic')?.requirement ?? 'gate tokens',
    usual: fit === undefined ? null : { up: fit.baseRate, days: fit.trainingDays },
    own: rows.find(({ predictionId }) => predictionId === call?.predictionId)?.band80 ?? null,
    sellNote: info === null ? null : formatSellNote(info, scorecard === null || isPartial(scorecard) ? null : rows),
    problem: problem === null || problem.code === 'STEP_WAITING' ? null : `${problem.message}.`,
  };
}

/** What the model card says of SELL calls, and what became of those of this record. @param rows all of it; null while they are not known */
export function formatSellNote({ model }: Pick<ApiResponses['info'], 'model'>, rows: readonly ScorecardRow[] | null): string {
  const known = model.knownFailures.find((line) => line.startsWith('SELL: ')) ?? '';
  const sentence = /^[^.]*\./.exec(known)?.[0] ?? 'SELL:';
  if (rows === null) return sentence;
  const sells = rows.filter(({ signal, status }) => signal === 'SELL' && (status === 'WIN' || status === 'LOSS'));
  const wins = sells.filter(({ status }) => status === 'WIN').length;
  return `${sentence} Here ${wins} of ${sells.length} were right.`;
}
