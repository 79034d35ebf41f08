import { HORIZON_NAMES, SIGNAL_HORIZONS } from '../../forecast/horizon-input.ts';
import type { TrackRecordReply } from '../../record/schemas/track-record.ts';
import type { McpBackend } from './backends/backend.ts';

/** Limit of the protocol for `completion/complete`. */
const MAX_COMPLETIONS = 100;

type Entry = TrackRecordReply['entries'][number];

/** Horizons of forecasts, default first. */
export const FORECAST_HORIZONS = SIGNAL_HORIZONS.toReversed();

/** Horizons of the record, default first. */
export const SCORED_HORIZONS = HORIZON_NAMES.toReversed();

export function filterByPrefix(choices: readonly string[], typed: string): string[] {
  return choices.filter((choice) => choice.startsWith(typed)).slice(0, MAX_COMPLETIONS);
}

/** Forecasts of the default horizon, newest first. */
export async function listNewestEntries(backend: McpBackend, pageSize = MAX_COMPLETIONS, range: DateRange = {}): Promise<Entry[]> {
  const { output } = await backend.run('get_track_record', { horizon: '7d', pageSize, ...range });
  return (output as TrackRecordReply).entries;
}

/** Days with a forecast, newest first. */
export async function completeDate(backend: McpBackend, typed: string): Promise<string[]> {
  if (!/^[\d-]{0,10}$/.test(typed)) return [];
  const entries = await listNewestEntries(backend, MAX_COMPLETIONS, toMonthRange(typed));
  return filterByPrefix([...new Set(entries.map(({ date }) => date))], typed);
}

/** Uids of attested forecasts, newest first. */
export async function completeUid(backend: McpBackend, typed: string): Promise<string[]> {
  if (!/^(0(x[0-9a-fA-F]{0,64})?)?$/.test(typed)) return [];
  const entries = await listNewestEntries(backend);
  const uids = entries.flatMap(({ attestationUid }) => attestationUid ?? []);
  return filterByPrefix(uids, typed.toLowerCase());
}

interface DateRange {
  from?: string;
  to?: string;
}

/** A complete month may lie before the newest entries, so it is queried by range. */
function toMonthRange(typed: string): DateRange {
  const month = /^\d{4}-(0[1-9]|1[0-2])/.exec(typed)?.[0];
  if (month === undefined) return {};
  const [year = 0, number = 0] = month.split('-').map(Number);
  const lastDay = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { from: `${month}-01`, to: `${month}-${lastDay}` };
}
