import type { HorizonName } from '../../forecast/model.ts';
import type { Regime } from '../../forecast/regime/regime.ts';

/** What became of the forecasts of one horizon in a week. Shares 0 to 1, returns in basis points. */
export interface WeeklyHorizon {
  horizon: HorizonName;
  made: number;
  missed: number;
  void: number;
  /** Wins, losses and holds. */
  over: number;
  wins: number;
  losses: number;
  holds: number;
  hitRate: number | null;
  alwaysUpRate: number | null;
  meanReturnBps: number | null;
  meanCalledReturnBps: number | null;
  brier: { n: number; model: number; climatology: number } | null;
  openAtEnd: number;
}

/** Stakes of one venue that were told in a week. Amounts in millionths of the asset. */
export interface WeeklyWagers {
  venue: string;
  asset: string;
  quotesAreOurs: boolean;
  settled: number;
  wins: number;
  losses: number;
  stakedMicros: number;
  payoutMicros: number;
  pnlMicros: number;
}

export const INCIDENTS = ['late', 'missed', 'void', 'uncommitted', 'waiting'] as const;

export interface WeeklyIncident {
  date: string;
  kind: (typeof INCIDENTS)[number];
  detail: string;
}

/** The report on an ISO week, as it is kept and served; written once. Times in ISO 8601. */
export interface WeeklyReport {
  weekId: string;
  /** Monday and Sunday of the week. */
  from: string;
  to: string;
  /** Monday 00:30 UTC after the week: what became known later is not in it, whenever the report was made. */
  asOf: string;
  generatedAt: string;
  late: boolean;
  source: string;
  days: { recorded: number; forecast: number; missed: number; late: number; replayed: number };
  replayed: boolean;
  market: { openUsd: number | null; closeUsd: number | null; changePct: number | null };
  regimes: { regime: Regime; days: number }[];
  horizons: WeeklyHorizon[];
  wagers: WeeklyWagers[];
  attestations: { predictions: number; resolutions: number; transactions: number; gasWei: string };
  incidents: WeeklyIncident[];
}
