import type { PanelId } from '../panels.ts';

/** `page`: act now. `ticket`: act in working hours. `info`: nothing to do. */
export type Severity = 'page' | 'ticket' | 'info';

/** A case of the rule's unit test, in the notation of promtool with an interval of one minute. */
export interface AlertCase {
  /** When the rules are evaluated, from the first sample. */
  at: string;
  series: Readonly<Record<string, string>>;
  /** Labels of the alert that fires, beside its severity. Default: none. */
  labels?: Readonly<Record<string, string>>;
}

export interface Alert {
  id: `Oracle${string}`;
  /** PromQL over the metrics of all processes. */
  expr: string;
  for: string;
  severity: Severity;
  /** One line; `{{ $labels.<name> }}` stands for a label. */
  summary: string;
  panel: PanelId;
  fires: AlertCase;
  silent: AlertCase;
}

/** Texts are Markdown. */
export interface RunbookRow {
  /** Quotes of the log, of an answer or of a command. */
  seen: string;
  means: string;
  action: string;
  alerts: readonly Alert[];
  /** Alerts of other rows that show this one, too. */
  see?: readonly Alert['id'][];
  /** Why no metric shows it. */
  unmeasured?: string;
}

/** A start that ends with an error shows as a process that is not there. */
export const REFUSED_START = {
  alerts: [],
  see: ['OracleProcessDown', 'OracleWorkerAbsent', 'OracleApiAbsent'],
} as const satisfies Partial<RunbookRow>;
