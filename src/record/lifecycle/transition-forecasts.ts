import type { Collection } from 'mongodb';
import { OracleError } from '../../platform/errors.ts';
import type { OutboxEntry } from '../../platform/outbox.ts';
import type { ForecastChange, ForecastDoc } from '../forecast-doc.ts';
import { type ForecastState, requireTransition } from './forecast-state.ts';

export interface ForecastTransition {
  id: string;
  from: ForecastState;
  to: ForecastState;
  set: Partial<ForecastDoc>;
  outboxEntry: OutboxEntry<ForecastChange>;
}

/** A transition that another worker made counts as done. @throws OracleError ILLEGAL_TRANSITION */
export async function transitionForecasts(forecasts: Collection<ForecastDoc>, transitions: readonly ForecastTransition[]): Promise<void> {
  if (transitions.length === 0) return;
  for (const { id, from, to } of transitions) requireTransition(id, from, to);
  const writes = transitions.map(({ id, from, to, set, outboxEntry }) => ({
    updateOne: { filter: { _id: id, state: from }, update: { $set: { ...set, state: to }, $push: { outbox: outboxEntry } } },
  }));
  const { matchedCount } = await forecasts.bulkWrite(writes, { ordered: false });
  if (matchedCount < transitions.length) await requireTransitioned(forecasts, transitions);
}

async function requireTransitioned(forecasts: Collection<ForecastDoc>, transitions: readonly ForecastTransition[]): Promise<void> {
  const docs = await forecasts.find({ _id: { $in: transitions.map(({ id }) => id) } }).toArray();
  const states = new Map(docs.map(({ _id, state }) => [_id, state]));
  for (const { id, to } of transitions) {
    if (states.get(id) === to) continue;
    throw new OracleError('ILLEGAL_TRANSITION', `Forecast ${id} is ${states.get(id) ?? 'missing'}: it cannot become ${to}`);
  }
}
