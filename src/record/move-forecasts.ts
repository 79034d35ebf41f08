import type { Collection } from 'mongodb';
import { OracleError } from '../errors.ts';
import type { Outboxed } from '../outbox.ts';
import type { ForecastChange, ForecastDoc } from './forecast.ts';
import { assertTransition, type ForecastState } from './state.ts';

/** A change of a forecast's state, what it writes, and what subscribers are told of it. */
export interface ForecastMove {
  /** Of the forecast. */
  id: string;
  from: ForecastState;
  to: ForecastState;
  set: Partial<ForecastDoc>;
  tell: Outboxed<ForecastChange>;
}

/**
 * Compare-and-set of each forecast's state; a change that another worker made first is found done.
 * @throws OracleError ILLEGAL_TRANSITION
 */
export async function moveForecasts(forecasts: Collection<ForecastDoc>, moves: readonly ForecastMove[]): Promise<void> {
  if (moves.length === 0) return;
  for (const { id, from, to } of moves) assertTransition(id, from, to);
  const writes = moves.map(({ id, from, to, set, tell }) => ({
    updateOne: { filter: { _id: id, state: from }, update: { $set: { ...set, state: to }, $push: { outbox: tell } } },
  }));
  const { matchedCount } = await forecasts.bulkWrite(writes, { ordered: false });
  if (matchedCount < moves.length) await requireDone(forecasts, moves);
}

async function requireDone(forecasts: Collection<ForecastDoc>, moves: readonly ForecastMove[]): Promise<void> {
  const docs = await forecasts.find({ _id: { $in: moves.map(({ id }) => id) } }).toArray();
  const states = new Map(docs.map(({ _id, state }) => [_id, state]));
  for (const { id, to } of moves) {
    if (states.get(id) !== to)
      throw new OracleError('ILLEGAL_TRANSITION', `Forecast ${id} is ${states.get(id) ?? 'missing'}: it cannot become ${to}`);
  }
}
