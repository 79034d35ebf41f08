import { HORIZON_NAMES, SIGNAL_HORIZONS } from '../horizon-input.ts';
import type { TrackRecordReply } from '../record/schemas/track-record.ts';
import type { McpBackend } from './backend.ts';

/** What a client may be offered at once, by the protocol. */
const MOST_OFFERED = 100;

type Entry = TrackRecordReply['entries'][number];

/** Horizons that a forecast can be asked for, the usual one first. */
export const FORECAST_HORIZONS = SIGNAL_HORIZONS.toReversed();

/** Horizons that the record has, the usual one first. */
export const SCORED_HORIZONS = HORIZON_NAMES.toReversed();

export function startingWith(choices: readonly string[], typed: string): string[] {
  return choices.filter((choice) => choice.startsWith(typed)).slice(0, MOST_OFFERED);
}

/** Forecasts of the usual horizon, newest first. */
export async function newestEntries(backend: McpBackend, pageSize = MOST_OFFERED, range: Range = {}): Promise<Entry[]> {
  const { output } = await backend.run('get_track_record', { horizon: '7d', pageSize, ...range });
  return (output as TrackRecordReply).entries;
}

/** Days with a forecast that begin like what was typed, newest first. */
export async function datesLike(backend: McpBackend, typed: string): Promise<string[]> {
  if (!/^[\d-]{0,10}$/.test(typed)) return [];
  const entries = await newestEntries(backend, MOST_OFFERED, monthOf(typed));
  return startingWith([...new Set(entries.map(({ date }) => date))], typed);
}

/** Uids of forecasts on chain that begin like what was typed, newest first. */
export async function uidsLike(backend: McpBackend, typed: string): Promise<string[]> {
  if (!/^(0(x[0-9a-fA-F]{0,64})?)?$/.test(typed)) return [];
  const entries = await newestEntries(backend);
  const uids = entries.flatMap(({ attestationUid }) => attestationUid ?? []);
  return startingWith(uids, typed.toLowerCase());
}

interface Range {
  from?: string;
  to?: string;
}

/** A month that is typed in full may lie further back than the newest forecasts. */
function monthOf(typed: string): Range {
  const month = /^\d{4}-(0[1-9]|1[0-2])/.exec(typed)?.[0];
  if (month === undefined) return {};
  const [year = 0, number = 0] = month.split('-').map(Number);
  const lastDay = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { from: `${month}-01`, to: `${month}-${lastDay}` };
}
